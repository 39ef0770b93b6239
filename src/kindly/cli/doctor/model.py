"""`doctor`: does the configured embedder turn a text into a vector?"""

from contextlib import AsyncExitStack

from kindly.cli.doctor.finding import CheckResult
from kindly.errors import KindlyError
from kindly.net.tls import Tls
from kindly.settings import Settings

PROBE = "a text"


async def local_model(settings: Settings) -> list[CheckResult]:
    """Check an embedder that runs on this machine."""
    return [] if settings.embedder_spec.is_remote else [await _check(settings)]


async def remote_model(settings: Settings) -> list[CheckResult]:
    """Check an embedder that is a server, with one request."""
    return [await _check(settings)] if settings.embedder_spec.is_remote else []


async def _check(settings: Settings) -> CheckResult:
    from kindly.app.reader import build_embedder

    spec = settings.embedder_spec
    try:
        async with AsyncExitStack() as stack:
            context = await Tls(settings.ssl_cert_file).context() if spec.is_remote else None
            opened = build_embedder(settings, context)
            if opened.client is not None:
                await stack.enter_async_context(opened.client)
            vectors = await opened.embedder.embed([PROBE])
            detail = f"{opened.embedder.name} ({spec.label}) works, {vectors.shape[1]} dimensions"
    except KindlyError as error:
        return CheckResult("model", "problem", error.detail, spec.fix)
    return CheckResult("model", "ok", detail)

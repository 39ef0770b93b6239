"""What `doctor` finds out by asking others: proxy, names, each provider, the embedding server. May cost a little."""

import ipaddress
import time
from collections.abc import Iterable, Iterator
from functools import partial
from urllib.parse import urlsplit

import anyio

from kindly.budget import Deadline
from kindly.cli.doctor.finding import Check, CheckResult, State
from kindly.errors import (
    CertificateRefused,
    KindlyError,
    ProviderAuth,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
)
from kindly.fetch.guard.guard import Resolver, system_resolver
from kindly.models import Query
from kindly.search.provider import ProviderSpec
from kindly.settings import Settings, revealed

DIAL_S = 5.0
RESOLVE_S = 5.0
GRACE_S = 10.0
QUESTION = "Python programming language"
KNOWN_NAME = "example.com"
"""Looked up where no provider is set up."""
FIXES: tuple[tuple[type[KindlyError], str], ...] = (
    (ProviderAuth, "Copy {key} again from the vendor's site, or unset it."),
    (CertificateRefused, "Set SSL_CERT_FILE to your network's own authorities."),
    (ProviderUnreachable, "Check the network, HTTPS_PROXY and {address}."),
    (ProviderTimeout, "Check the network and HTTPS_PROXY; try again."),
    (ProviderRateLimited, "Wait, or take a larger plan; meanwhile the next provider is asked."),
    (ProviderRejected, "Check {key} and {address}."),
)


def cost(settings: Settings) -> CheckResult:
    """What asking will cost, told before."""
    asked = [spec.label for spec in settings.configured()]
    if settings.embedding_server_url is not None:
        asked.append("the embedding server")
    if not asked:
        return CheckResult("live check", "note", "nobody is set up to be asked")
    each = f"one call each to {', '.join(asked)}, which counts against your quota"
    return CheckResult("live check", "note", each, "Leave it out with --no-live.")


def live_checks(settings: Settings) -> tuple[Check, ...]:
    """All of them, in the order in which they are told."""
    limit_s = settings.search_timeout_s + GRACE_S
    return (
        Check("proxy", proxy),
        Check("names", names),
        *(
            Check(f"{spec.name} asked", partial(provider, spec=spec), limit_s)
            for spec in settings.configured()
        ),
        Check("model", embedding_server, 30.0),
    )


async def proxy(settings: Settings) -> list[CheckResult]:
    """Whether each proxy that is set takes connections."""
    set_ones = {"HTTPS_PROXY": settings.https_proxy, "HTTP_PROXY": settings.http_proxy}
    named = {name: address for name, secret in set_ones.items() if (address := revealed(secret))}
    return [await _dialled(name, address) for name, address in named.items()]


async def _dialled(name: str, address: str) -> CheckResult:
    parts = urlsplit(address)
    where = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    try:
        with anyio.fail_after(DIAL_S):
            host, _, port = where.rpartition(":")
            stream = await anyio.connect_tcp(host, int(port))
            await stream.aclose()
    except (OSError, TimeoutError):
        fix = f"Correct {name}, or unset it; NO_PROXY names hosts that need none."
        return CheckResult(f"{name} asked", "problem", f"nobody answers at {where}", fix)
    return CheckResult(f"{name} asked", "ok", f"{where} takes connections")


async def names(settings: Settings, resolve: Resolver = system_resolver) -> list[CheckResult]:
    """Whether the names that will be dialled have addresses."""
    hosts = tuple(dict.fromkeys(filter(_is_name, _hosts(settings)))) or (
        () if settings.configured() else (KNOWN_NAME,)
    )
    missing: list[str] = []

    async def look(host: str) -> None:
        try:
            with anyio.fail_after(RESOLVE_S):
                await resolve(host, 443)
        except (OSError, TimeoutError):
            missing.append(host)

    async with anyio.create_task_group() as tasks:
        for host in hosts:
            tasks.start_soon(look, host)
    if not missing:
        shown = ", ".join(hosts) or "only addresses are set, no names"
        return [CheckResult("names", "ok", f"found: {shown}" if hosts else shown)]
    proxied = settings.https_proxy is not None
    state: State = "note" if proxied else "problem"
    fix = "A proxy may know them all the same." if proxied else "Check the network and its DNS."
    return [CheckResult("names", state, f"no address for {', '.join(sorted(missing))}", fix)]


def _hosts(settings: Settings) -> Iterator[str]:
    """Whom the providers dial."""
    for spec in settings.configured():
        addresses = [settings.base_urls.get(spec.base_url_setting, spec.base_url)]
        addresses += [
            settings.needed[need.name].get_secret_value()
            for need in spec.needs
            if need.kind == "addresses"
        ]
        yield from _host_names(addresses)


def _host_names(addresses: Iterable[str]) -> Iterator[str]:
    for address in addresses:
        for part in address.split(","):
            if host := urlsplit(part.strip()).hostname:
                yield host


def _is_name(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False


async def provider(settings: Settings, spec: ProviderSpec) -> list[CheckResult]:
    """What one provider says to one search."""
    from kindly.app import open_app

    alone = settings.model_copy(
        update={"providers": (spec.name,), "fuse": 1, "search_cache_minutes": 0.0}
    )
    check = f"{spec.name} asked"
    finding = CheckResult(check, "problem", "it was not asked")
    began = time.monotonic()
    async with open_app(alone) as app:
        try:
            deadline = Deadline.after(settings.search_timeout_s)
            hits = await app.stages.searcher.search(Query(QUESTION, count=1), deadline)
        except KindlyError as error:
            finding = CheckResult(check, "problem", error.detail, _fix(error, spec))
        else:
            took = f"answered in {time.monotonic() - began:.1f} s"
            finding = (
                CheckResult(check, "ok", took)
                if hits.hits
                else CheckResult(
                    check, "note", f"{took}, but found nothing", "Try `kindly search`."
                )
            )
    return [finding]


def _fix(error: KindlyError, spec: ProviderSpec) -> str:
    text = next((fix for kind, fix in FIXES if isinstance(error, kind)), "See docs/providers.md.")
    return text.format(key=spec.key_setting, address=spec.address_setting)


async def embedding_server(settings: Settings) -> list[CheckResult]:
    """What the embedding server says to one text, where there is one."""
    if settings.embedding_server_url is None:
        return []
    import kindly
    from kindly.app.proxies import api_proxies
    from kindly.net.api_client import build_client
    from kindly.net.tls import Tls
    from kindly.read.embedders.openai import OpenAiEmbedder, Server

    fix = "Check EMBEDDING_SERVER_URL, EMBEDDING_MODEL_NAME and EMBEDDING_SERVER_API_KEY."
    try:
        client = build_client(
            timeout_s=20.0,
            user_agent=kindly.SERVER_NAME,
            context=await Tls(settings.ssl_cert_file).context(),
            proxies=api_proxies(settings),
        )
        server = Server(
            settings.embedding_server_url,
            settings.embedding_model_name,
            settings.embedding_server_api_key,
            batches=1,
            timeout_s=20.0,
        )
        async with client:
            rows = await OpenAiEmbedder(client, server).embed(["a text"])
    except KindlyError as error:
        return [CheckResult("model", "problem", error.detail, fix)]
    detail = f"{settings.embedding_model_name} answered, {rows.shape[1]} numbers a text"
    return [CheckResult("model", "ok", detail)]

"""What `doctor` looks at on this machine: certificates, folder, parser, browser, store, model, port. No network."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio

from kindly.cli.doctor.finding import Check, CheckResult, State
from kindly.errors import KindlyError, SettingsError
from kindly.extract import ExtractOptions
from kindly.models import Page
from kindly.net.tls import Tls
from kindly.settings import Settings

if TYPE_CHECKING:
    from kindly.app import App
    from kindly.fetch.browser.browser_pool import BrowserSettings
    from kindly.search.provider_stats import ProviderStatus

BROWSER_S = 45.0
UNREAD = "pages that need JavaScript are not read"
NOWHERE = "http://127.0.0.1:9"
"""The proxy of a browser that is to load nothing."""


async def folder(settings: Settings) -> list[CheckResult]:
    """Whether pages can be kept."""
    path = settings.data_path
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return [
            CheckResult(
                "pages kept",
                "problem",
                f"{path} cannot be written to ({error.strerror}): pages are kept in memory only",
                "Make it writable, or set DATA_DIR to a folder that is.",
            )
        ]
    return [CheckResult("pages kept", "ok", f"in {path}, at most {settings.cache_mb} MB")]


async def certificates(settings: Settings) -> list[CheckResult]:
    """Whether the authorities that are named can be used."""
    try:
        await Tls(settings.ssl_cert_file).context()
    except SettingsError as error:
        fix = "Correct SSL_CERT_FILE, or unset it."
        return [CheckResult("certificates", "problem", f"{error.detail} No https works.", fix)]
    named = settings.ssl_cert_file
    shown = f"the system's and those of {named}" if named else "the system's"
    return [CheckResult("certificates", "ok", shown)]


async def engine(settings: Settings) -> list[CheckResult]:
    """What only the running program can tell."""
    from kindly.app import open_app

    async with open_app(settings) as app:
        return [await _parser(app), *await _books(app)]
    raise AssertionError("unreachable")


async def _parser(app: "App") -> CheckResult:
    from datetime import UTC, datetime

    from kindly.budget import Deadline

    body = b"<!doctype html><title>Hello</title><main><h1>Hello</h1><p>It works.</p></main>"
    page = Page(
        "https://example.com/", "https://example.com/", 200, "text/html", body, datetime.now(UTC)
    )
    try:
        document = await app.stages.extractor.extract(page, ExtractOptions(), Deadline.after(20))
    except KindlyError as error:
        return CheckResult(
            "parser", "problem", error.detail, "Reinstall kindly-web-search-mcp-server."
        )
    return CheckResult("parser", "ok", f"read a page of {len(document.text)} characters")


async def _books(app: "App") -> list[CheckResult]:
    """How each provider has done so far, over all starts."""
    try:
        statuses = await app.providers()
    except KindlyError as error:
        return [CheckResult("search", "problem", error.detail, "See above.")]
    return [_book(status) for status in statuses if status.calls]


def _book(status: "ProviderStatus") -> CheckResult:
    failed = ", ".join(f"{count} {kind}" for kind, count in status.failures.items())
    facts = [
        f"{status.calls} calls",
        f"failed: {failed}" if failed else "none failed",
        f"p50 {status.p50_ms} ms, p95 {status.p95_ms} ms" if status.p50_ms is not None else "",
        f"quota left: {status.quota.left}" if status.quota else "",
    ]
    resting = status.health != "closed"
    return CheckResult(
        f"{status.name} so far",
        "note" if resting else "ok",
        "; ".join(filter(None, facts)),
        "It failed several times in a row and is left alone for half a minute." if resting else "",
    )


async def browser(settings: Settings) -> list[CheckResult]:
    """Whether there is a browser, and whether it starts."""
    from kindly.app import browser_settings
    from kindly.fetch.browser.browser_pool import chosen_driver
    from kindly.fetch.browser.executables import find, this_machine

    if settings.browser == "off":
        return [CheckResult("browser", "note", f"turned off: {UNREAD}")]
    wanted = browser_settings(settings, Tls(settings.ssl_cert_file))
    try:
        chosen_driver(wanted.driver)
    except SettingsError as error:
        state: State = "note" if wanted.driver == "auto" else "problem"
        return [CheckResult("browser", state, f"no driver is installed: {UNREAD}", error.detail)]
    try:
        path = find(this_machine(settings.child_environ), wanted.path).path
    except SettingsError as error:
        return [CheckResult("browser", "problem", f"none was found: {UNREAD}", error.detail)]
    if (failure := await _not_started(wanted, settings.child_environ)) is not None:
        fix = "Start it by hand to see why, or name another with KINDLY_BROWSER_PATH."
        return [CheckResult("browser", "problem", f"{path} did not start: {failure}", fix)]
    return [CheckResult("browser", "ok", f"{path} was found and started")]


async def _not_started(wanted: "BrowserSettings", environ: Mapping[str, str]) -> str | None:
    """Why the browser does not start; None if it does. It is ended again."""
    from kindly.fetch.browser.browser_pool import worker_launch
    from kindly.fetch.browser.browser_process import StartError

    failure: str | None = None
    async with anyio.create_task_group() as tasks:
        try:
            started = await worker_launch(wanted, environ)(NOWHERE, tasks)
            await started.aclose()
        except StartError as error:
            failure = (str(error).strip() or "it gave no reason").splitlines()[0][:200]
        tasks.cancel_scope.cancel()
    return failure


async def model(settings: Settings) -> list[CheckResult]:
    """Whether the model that comes with the install can be used; a server's is asked by `live`."""
    from kindly.read.embedders.local import LocalEmbedder

    if settings.embedding_server_url is not None:
        return []
    embedder = LocalEmbedder()
    try:
        rows = await embedder.embed(["a text"])
    except KindlyError as error:
        fix = "Reinstall kindly-web-search-mcp-server; until then passages are ranked by words."
        return [CheckResult("model", "problem", error.detail, fix)]
    return [
        CheckResult("model", "ok", f"{embedder.name} is loaded, {rows.shape[1]} numbers a text")
    ]


async def port(settings: Settings) -> list[CheckResult]:
    """Whether the HTTP transport could listen; only a note where it is not used."""
    from kindly.server.http.asgi import listen

    used = settings.transport == "http"
    try:
        listen(settings).close()
    except SettingsError as error:
        fix = "Stop the program that has it, or set KINDLY_PORT to another port."
        return [
            CheckResult("port", "problem" if used else "note", error.detail, fix if used else "")
        ]
    return [CheckResult("port", "ok", f"{settings.host}:{settings.port} is free")]


def local_checks() -> tuple[Check, ...]:
    """All of them, in the order in which they are told."""
    from kindly.cli.doctor.storage import store

    return (
        Check("pages kept", folder),
        Check("certificates", certificates),
        Check("parser", engine, 40.0),
        Check("browser", browser, BROWSER_S),
        Check("store", store),
        Check("model", model),
        Check("port", port),
    )

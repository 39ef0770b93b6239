"""`doctor`, checks on this machine: folder, certificates, parser, browser, recognition, store,
model, port. No network."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from kindly.cli.doctor.finding import Check, CheckResult, State
from kindly.cli.doctor.model import local_model
from kindly.clock import SYSTEM_CLOCK
from kindly.errors import KindlyError, SettingsError
from kindly.extract import ExtractOptions
from kindly.models import Page
from kindly.net.tls import Tls
from kindly.redact import Redactor
from kindly.settings import Settings

if TYPE_CHECKING:
    from kindly.app import App
    from kindly.fetch.browser.launch import BrowserSettings
    from kindly.search.provider_stats import ProviderStatus

BROWSER_S = 45.0
SHOWN_CHARACTERS = 200
"""Of what a browser says when it does not start."""
UNREAD = "pages that need JavaScript cannot be read"
RETRIED_SOON = "It failed several times in a row. It is tried again in half a minute."
DEAD_PROXY = "http://127.0.0.1:9"
"""A proxy address at which nothing listens: the browser must load nothing."""


async def folder(settings: Settings) -> list[CheckResult]:
    """Can the data folder be written?"""
    path = settings.data_path
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return [
            CheckResult(
                "data folder",
                "problem",
                f"{path} is not writable ({error.strerror}): pages are kept in memory only",
                "Make it writable, or set DATA_DIR to another folder.",
            )
        ]
    return [
        CheckResult("data folder", "ok", f"{path}, page cache of at most {settings.cache_mb} MB")
    ]


async def certificates(settings: Settings) -> list[CheckResult]:
    """Can the configured certificate authorities be loaded?"""
    try:
        await Tls(settings.ssl_cert_file).context()
    except SettingsError as error:
        fix = "Correct SSL_CERT_FILE, or unset it."
        return [CheckResult("certificates", "problem", f"{error.detail} HTTPS does not work.", fix)]
    named = settings.ssl_cert_file
    shown = f"of the system and of {named}" if named else "of the system"
    return [CheckResult("certificates", "ok", shown)]


async def engine(settings: Settings) -> list[CheckResult]:
    """Checks that need the running engine: the parser, and the statistics of providers."""
    from kindly.app import open_app

    async with open_app(settings) as app:
        return [await _parser(app), *await _statistics(app)]
    raise AssertionError("unreachable")


async def _parser(app: "App") -> CheckResult:

    from kindly.budget import Deadline

    body = b"<!doctype html><title>Hello</title><main><h1>Hello</h1><p>It works.</p></main>"
    page = Page(
        "https://example.com/", "https://example.com/", 200, "text/html", body, SYSTEM_CLOCK.now()
    )
    try:
        document = await app.stages.extractor.extract(page, ExtractOptions(), Deadline.after(20))
    except KindlyError as error:
        return CheckResult("parser", "problem", error.detail, "Reinstall Kindly.")
    return CheckResult("parser", "ok", f"parsed a page of {len(document.text)} characters")


async def _statistics(app: "App") -> list[CheckResult]:
    """Statistics of each provider, over all runs."""
    try:
        await app.open_search()
    except KindlyError as error:
        return [CheckResult("search", "problem", error.detail, "See the problems above.")]
    return [_statistic(status) for status in app.provider_status() if status.calls]


def _statistic(status: "ProviderStatus") -> CheckResult:
    failed = ", ".join(f"{count} {kind}" for kind, count in status.failures.items())
    facts = [
        f"{status.calls} calls",
        f"failed: {failed}" if failed else "none failed",
        f"p50 {status.p50_ms} ms, p95 {status.p95_ms} ms" if status.p50_ms is not None else "",
        f"quota left: {status.quota.left}" if status.quota else "",
    ]
    is_open = status.health != "closed"
    return CheckResult(
        f"{status.name} statistics",
        "note" if is_open else "ok",
        "; ".join(filter(None, facts)),
        RETRIED_SOON if is_open else "",
    )


async def browser(settings: Settings) -> list[CheckResult]:
    """Is there a browser, and does it start?"""
    from kindly.app.stage_settings import browser_settings
    from kindly.fetch.browser.executables import find, this_machine
    from kindly.fetch.browser.launch import chosen_driver, what_is_missing

    if settings.browser == "off":
        return [CheckResult("browser", "note", f"turned off: {UNREAD}")]
    chosen = browser_settings(settings, Tls(settings.ssl_cert_file))
    try:
        chosen_driver(chosen.driver)
    except SettingsError:
        state: State = "note" if chosen.driver == "auto" else "problem"
        fix = what_is_missing(chosen, settings.child_environ)
        return [CheckResult("browser", state, f"no driver is installed: {UNREAD}", fix)]
    try:
        path = find(this_machine(settings.child_environ), chosen.path).path
    except SettingsError as error:
        return [CheckResult("browser", "problem", f"not found: {UNREAD}", error.detail)]
    if (failure := await _start_error(chosen, settings.child_environ)) is not None:
        failure = Redactor.of(settings.secrets()).text(failure)[:SHOWN_CHARACTERS]
        fix = "Start it by hand to see the error, or set KINDLY_BROWSER_PATH to another browser."
        return [CheckResult("browser", "problem", f"{path} did not start: {failure}", fix)]
    return [CheckResult("browser", "ok", f"{path} starts")]


async def _start_error(chosen: "BrowserSettings", environ: Mapping[str, str]) -> str | None:
    """Start the browser and stop it; the error, or None."""
    from kindly.fetch.browser.browser_process import StartError
    from kindly.fetch.browser.launch import worker_launch

    failure: str | None = None
    async with anyio.create_task_group() as tasks:
        try:
            started = await worker_launch(chosen, environ)(DEAD_PROXY, tasks)
            await started.aclose()
        except StartError as error:
            failure = (str(error).strip() or "it gave no reason").splitlines()[0]
        tasks.cancel_scope.cancel()
    return failure


async def recognition(_settings: Settings) -> list[CheckResult]:
    """Can scans and pictures be read?"""
    from kindly.extract.formats.recognition import is_installed, model_paths
    from kindly.extract.formats.recognition_notes import HOW

    name = "character recognition"
    if not is_installed():
        unread = "not installed: scans and text in pictures cannot be read"
        return [CheckResult(name, "note", unread, f"{HOW[0].upper()}{HOW[1:]}.")]
    try:
        models = ", ".join(sorted(Path(path).stem for path in model_paths().values()))
    except FileNotFoundError as error:
        return [CheckResult(name, "problem", str(error), "Reinstall rapidocr.")]
    return [CheckResult(name, "ok", f"installed, with the models {models}")]


async def port(settings: Settings) -> list[CheckResult]:
    """Can the HTTP transport listen on its port? Only a note if the transport is stdio."""
    from kindly.server.http.listening import listen

    used = settings.transport == "http"
    try:
        listen(settings).close()
    except SettingsError as error:
        fix = "Stop the program that uses the port, or set KINDLY_PORT to another one."
        return [
            CheckResult("port", "problem" if used else "note", error.detail, fix if used else "")
        ]
    return [CheckResult("port", "ok", f"{settings.host}:{settings.port} is free")]


def local_checks() -> tuple[Check, ...]:
    """All local checks, in the order of the report."""
    from kindly.cli.doctor.storage import store

    return (
        Check("data folder", folder),
        Check("certificates", certificates),
        Check("parser", engine, 40.0),
        Check("browser", browser, BROWSER_S),
        Check("character recognition", recognition),
        Check("store", store),
        Check("model", local_model),
        Check("port", port),
    )

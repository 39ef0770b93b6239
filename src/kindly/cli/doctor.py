"""`doctor`: what is set, what works, and how to mend what does not. Shows no key and calls no provider."""

import json
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import anyio
import click
from pydantic import SecretStr

import kindly
from kindly.errors import KindlyError, SettingsError
from kindly.extract.options import ExtractOptions
from kindly.models import Page
from kindly.redact import Redactor
from kindly.search.providers import PROVIDERS
from kindly.settings import ENV_BY_FIELD, Settings

if TYPE_CHECKING:
    from kindly.app import App
    from kindly.search.ledger import ProviderStatus

State = Literal["ok", "note", "problem"]
MARKS: dict[State, str] = {"ok": "✓", "note": "·", "problem": "✗"}
COLOURS: dict[State, str] = {"ok": "green", "note": "yellow", "problem": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    state: State
    detail: str
    fix: str = ""


def examine(settings: Settings, *, as_json: bool) -> int:
    """Print every finding; 1 if there is a problem, else 0."""
    redactor = Redactor.of(settings.secrets())
    findings = [*_findings(settings)]
    if as_json:
        rows = [redactor.value(asdict(finding)) for finding in findings]
        click.echo(json.dumps({"version": kindly.__version__, "findings": rows}, indent=2))
    else:
        for finding in findings:
            _print(finding, redactor)
    return int(any(finding.state == "problem" for finding in findings))


def _print(finding: Finding, redactor: Redactor) -> None:
    mark = click.style(MARKS[finding.state], fg=COLOURS[finding.state])
    click.echo(f"{mark} {finding.check}: {redactor.text(finding.detail)}")
    if finding.fix:
        click.echo(f"  → {redactor.text(finding.fix)}")


def _findings(settings: Settings) -> Iterator[Finding]:
    yield Finding("kindly", "ok", f"{kindly.__version__} on Python {platform.python_version()}")
    yield from _set_values(settings)
    yield from _providers(settings)
    yield _hosting(settings)
    yield _data_dir(settings)
    yield from _network(settings)
    yield from anyio.run(_engine, settings)
    if settings.transport == "http":
        yield _port(settings)


def _set_values(settings: Settings) -> Iterator[Finding]:
    for field, env in ENV_BY_FIELD.items():
        origin = settings.origin(env.name)
        if origin == "default":
            continue
        value = getattr(settings, field)
        shown = "set (hidden)" if isinstance(value, SecretStr) else str(value)
        yield Finding(env.name, "ok", f"{shown}, from the {origin}")


def _providers(settings: Settings) -> Iterator[Finding]:
    asked = settings.configured()
    for spec in PROVIDERS:
        missing = [need.name for need in spec.needs if need.name not in settings.needed]
        fix = f"To use it, set {' and '.join(missing)}."
        if spec in asked:
            where = settings.base_urls.get(spec.base_url_setting, spec.base_url)
            place = f"asked as number {asked.index(spec) + 1}"
            yield Finding(
                spec.name, "ok", f"set up (keys hidden), {place}{where and f', at {where}'}"
            )
        elif not missing:
            yield Finding(spec.name, "note", "set up, but KINDLY_PROVIDERS leaves it out")
        elif len(missing) < len(spec.needs):
            yield Finding(spec.name, "problem", "only half set up: it is not asked", fix)
        else:
            yield Finding(spec.name, "note", "not set up", fix)
    if not asked:
        yield Finding(
            "search",
            "problem",
            "no provider is set up: web_search will fail; get_content works",
            f"Set {' or '.join(spec.key_setting for spec in PROVIDERS)}.",
        )


def _hosting(settings: Settings) -> Finding:
    host = settings.hosting
    return Finding(
        "answers",
        "ok",
        f"context {settings.context}: {settings.default_tokens:,} tokens, {host.deadline_s:.0f} s a call",
    )


def _data_dir(settings: Settings) -> Finding:
    path = settings.data_path
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return Finding(
            "pages kept",
            "problem",
            f"{path} cannot be written to ({error.strerror}): pages are kept in memory only",
            "Make it writable, or set DATA_DIR to a folder that is.",
        )
    return Finding("pages kept", "ok", f"in {path}, at most {settings.cache_mb} MB")


def _network(settings: Settings) -> Iterator[Finding]:
    proxied = [
        name
        for name, value in (
            ("HTTP_PROXY", settings.http_proxy),
            ("HTTPS_PROXY", settings.https_proxy),
        )
        if value is not None
    ]
    yield Finding("proxy", "ok", f"as set by {', '.join(proxied)}" if proxied else "none")
    cert = settings.ssl_cert_file
    if cert is None:
        yield Finding("certificates", "ok", "the system's")
    elif cert.is_file():
        yield Finding("certificates", "ok", str(cert))
    else:
        yield Finding(
            "certificates",
            "problem",
            f"SSL_CERT_FILE {cert} is not a file: no https page can be fetched",
            "Correct SSL_CERT_FILE, or unset it.",
        )


async def _engine(settings: Settings) -> list[Finding]:
    """What only the running program can tell."""
    from kindly.app import open_app

    async with open_app(settings) as app:
        return [await _parser(app), *await _books(app)]
    raise AssertionError("unreachable")


async def _books(app: "App") -> list[Finding]:
    """How each provider has done so far, over all starts."""
    try:
        statuses = await app.providers()
    except KindlyError as error:
        return [Finding("search", "problem", error.detail, "See above.")]
    return [_book(status) for status in statuses if status.calls]


def _book(status: "ProviderStatus") -> Finding:
    failed = ", ".join(f"{count} {kind}" for kind, count in status.failures.items())
    facts = [
        f"{status.calls} calls",
        f"failed: {failed}" if failed else "none failed",
        f"p50 {status.p50_ms} ms, p95 {status.p95_ms} ms" if status.p50_ms is not None else "",
        f"quota left: {status.quota.left}" if status.quota else "",
    ]
    resting = status.health != "closed"
    return Finding(
        f"{status.name} so far",
        "note" if resting else "ok",
        "; ".join(filter(None, facts)),
        "It failed several times in a row and is left alone for half a minute." if resting else "",
    )


async def _parser(app: "App") -> Finding:
    from datetime import UTC, datetime

    from kindly.budget import Deadline

    body = b"<!doctype html><title>Hello</title><main><h1>Hello</h1><p>It works.</p></main>"
    page = Page(
        "https://example.com/", "https://example.com/", 200, "text/html", body, datetime.now(UTC)
    )
    try:
        document = await app.stages.extractor.extract(page, ExtractOptions(), Deadline.after(20))
    except KindlyError as error:
        return Finding("parser", "problem", error.detail, "Reinstall kindly-web-search-mcp-server.")
    return Finding("parser", "ok", f"read a page of {len(document.text)} characters")


def _port(settings: Settings) -> Finding:
    from kindly.server.http import listen

    try:
        listen(settings).close()
    except SettingsError as error:
        return Finding("port", "problem", error.detail, "Set KINDLY_PORT to another port.")
    return Finding("port", "ok", f"{settings.host}:{settings.port} is free")

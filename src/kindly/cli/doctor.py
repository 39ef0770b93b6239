"""`doctor`: what is set, what works, and how to mend what does not. Shows no key and calls no provider."""

import json
import platform
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import anyio
import click
from pydantic import SecretStr

import kindly
from kindly.errors import KindlyError
from kindly.extract.options import ExtractOptions
from kindly.models import Page
from kindly.redact import Redactor
from kindly.search.providers import PROVIDERS
from kindly.settings import ENV_BY_FIELD, Settings

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
    yield anyio.run(_parser, settings)
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
    for spec in PROVIDERS:
        if spec.key_setting in settings.keys:
            where = settings.base_urls.get(spec.base_url_setting, spec.base_url)
            origin = settings.origin(spec.key_setting)
            yield Finding(spec.name, "ok", f"key set (hidden), from the {origin}; asks {where}")
        else:
            yield Finding(spec.name, "note", "no key", f"To use it, set {spec.key_setting}.")
    if not settings.keys:
        names = " or ".join(spec.key_setting for spec in PROVIDERS)
        yield Finding(
            "search",
            "problem",
            "no provider is configured: web_search will fail; get_content works",
            f"Set {names}.",
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


async def _parser(settings: Settings) -> Finding:
    from datetime import UTC, datetime

    from kindly.app import open_app
    from kindly.budget import Deadline

    body = b"<!doctype html><title>Hello</title><main><h1>Hello</h1><p>It works.</p></main>"
    page = Page(
        "https://example.com/", "https://example.com/", 200, "text/html", body, datetime.now(UTC)
    )
    try:
        async with open_app(settings) as app:
            document = await app.stages.extractor.extract(
                page, ExtractOptions(), Deadline.after(20)
            )
    except KindlyError as error:
        return Finding("parser", "problem", error.detail, "Reinstall kindly-web-search-mcp-server.")
    return Finding("parser", "ok", f"read a page of {len(document.text)} characters")


def _port(settings: Settings) -> Finding:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        return Finding(
            "port",
            "problem",
            f"{settings.host}:{settings.port} cannot be listened on ({error.strerror})",
            "Set KINDLY_PORT to another port.",
        )
    return Finding("port", "ok", f"{settings.host}:{settings.port} is free")

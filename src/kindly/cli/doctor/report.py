"""`doctor`: prints what is configured, what works, and how to fix what does not. Shows no key."""

import json
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import anyio
import click

import kindly
from kindly.cli.doctor.finding import CheckResult, State, run_checks
from kindly.cli.doctor.live import cost, live_checks
from kindly.cli.doctor.local import local_checks
from kindly.redact import HiddenText, Redactor, without_credentials
from kindly.search.providers import PROVIDERS
from kindly.settings import ENV_BY_FIELD, NEEDS, Settings
from kindly.settings.sources import config_path

MARKS: dict[State, str] = {"ok": "✓", "note": "·", "problem": "✗"}
COLOURS: dict[State, str] = {"ok": "green", "note": "yellow", "problem": "red"}
HIDDEN = "set (hidden)"


def examine(settings: Settings, *, as_json: bool, live: bool, config: Path | None = None) -> int:
    """Print every result; 1 if there is a problem, else 0."""
    redactor = Redactor.of(settings.secrets())
    findings: list[CheckResult] = []
    for finding in _results(settings, live=live, config=config):
        findings.append(finding)
        if not as_json:
            _print(finding, redactor)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "version": kindly.__version__,
                    "settings": redactor.value([*_settings(settings)]),
                    "findings": [redactor.value(asdict(finding)) for finding in findings],
                },
                indent=2,
            )
        )
    return int(any(finding.state == "problem" for finding in findings))


def _print(finding: CheckResult, redactor: Redactor) -> None:
    mark = click.style(MARKS[finding.state], fg=COLOURS[finding.state])
    click.echo(f"{mark} {finding.check}: {redactor.text(finding.detail)}")
    if finding.fix:
        click.echo(f"  → {redactor.text(finding.fix)}")


def _results(settings: Settings, *, live: bool, config: Path | None) -> Iterator[CheckResult]:
    yield CheckResult("kindly", "ok", f"{kindly.__version__} on Python {platform.python_version()}")
    yield _settings_file(settings, config)
    yield from _set_values(settings)
    yield from _providers(settings)
    yield _answer_limits(settings)
    yield _proxies(settings)
    yield from anyio.run(run_checks, local_checks(), settings)
    if live:
        yield cost(settings)
        yield from anyio.run(run_checks, live_checks(settings), settings)


def _settings_file(settings: Settings, config: Path | None) -> CheckResult:
    path = config or config_path(settings.child_environ)
    return CheckResult("settings file", "ok", str(path) if path else "none")


def _settings(settings: Settings) -> Iterator[dict[str, str]]:
    """Every setting with its value and its source."""
    for field, env in ENV_BY_FIELD.items():
        value = getattr(settings, field)
        shown = "" if value is None else HIDDEN if isinstance(value, HiddenText) else str(value)
        if "://" in shown:
            shown = without_credentials(shown)
        yield {"name": env.name, "value": shown, "origin": settings.origin(env.name)}
    for name, secret in {**settings.needed, **settings.tokens}.items():
        is_open = name in NEEDS and NEEDS[name].kind != "secret"
        shown = without_credentials(secret.get_secret_value()) if is_open else HIDDEN
        yield {"name": name, "value": shown, "origin": settings.origin(name)}
    for name, url in settings.base_urls.items():
        yield {"name": name, "value": without_credentials(url), "origin": settings.origin(name)}


def _set_values(settings: Settings) -> Iterable[CheckResult]:
    return (
        CheckResult(row["name"], "ok", f"{row['value']}, from the {row['origin']}")
        for row in _settings(settings)
        if row["origin"] != "default"
    )


def _providers(settings: Settings) -> Iterator[CheckResult]:
    configured, usable = settings.configured(), settings.usable_providers()
    for spec in PROVIDERS:
        missing = [need.name for need in spec.needs if need.name not in settings.needed]
        fix = f"To use it, set {' and '.join(missing)}."
        if spec in configured:
            where = without_credentials(
                settings.base_urls.get(spec.base_url_setting, spec.base_url)
            )
            place = f"number {configured.index(spec) + 1} in order"
            yield CheckResult(
                spec.name, "ok", f"configured (keys hidden), {place}{where and f', at {where}'}"
            )
        elif not missing:
            yield CheckResult(
                spec.name, "note", "configured, but not in use (KINDLY_PROVIDERS or the profile)"
            )
        elif spec not in usable:
            yield CheckResult(spec.name, "note", "not in use (KINDLY_PROVIDERS or the profile)")
        elif len(missing) < len(spec.needs):
            yield CheckResult(
                spec.name, "problem", "not in use: only some of its settings are set", fix
            )
        else:
            yield CheckResult(spec.name, "note", "not configured", fix)
    if not configured:
        yield CheckResult(
            "search",
            "problem",
            "no provider is configured: searches fail, pages can be read",
            f"Set {' or '.join(spec.key_setting for spec in usable)}.",
        )


def _answer_limits(settings: Settings) -> CheckResult:
    host = settings.hosting
    return CheckResult(
        "answers",
        "ok",
        f"context {settings.context}: {settings.default_tokens:,} tokens, {host.deadline_s:.0f} s a call",
    )


def _proxies(settings: Settings) -> CheckResult:
    proxied = [
        name
        for name, value in (
            ("HTTP_PROXY", settings.http_proxy),
            ("HTTPS_PROXY", settings.https_proxy),
        )
        if value is not None
    ]
    return CheckResult("proxy", "ok", f"as set by {', '.join(proxied)}" if proxied else "none")

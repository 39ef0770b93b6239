"""`doctor`, live checks: proxies, DNS, each provider, the embedding server. A call may count against a quota."""

import ipaddress
import time
from collections.abc import Iterable, Iterator
from functools import partial
from urllib.parse import urlsplit

import anyio

from kindly.budget import Deadline
from kindly.cli.doctor.finding import Check, CheckResult, State
from kindly.cli.doctor.model import remote_model
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

CONNECT_S = 5.0
RESOLVE_S = 5.0
GRACE_S = 10.0
QUESTION = "Python programming language"
KNOWN_NAME = "example.com"
"""Looked up if no provider is configured."""
FIXES: tuple[tuple[type[KindlyError], str], ...] = (
    (ProviderAuth, "Copy {key} again from the vendor's site, or unset it."),
    (CertificateRefused, "Set SSL_CERT_FILE to the certificate authorities of your network."),
    (ProviderUnreachable, "Check the network, HTTPS_PROXY and {address}."),
    (ProviderTimeout, "Check the network and HTTPS_PROXY; try again."),
    (ProviderRateLimited, "Wait, or use a larger plan. Until then searches use the next provider."),
    (ProviderRejected, "Check {key} and {address}."),
)


def cost(settings: Settings) -> CheckResult:
    """What the live checks cost, printed before they run."""
    called = [spec.label for spec in settings.configured()]
    if settings.embedder_spec.is_remote:
        called.append(settings.embedder_spec.label)
    if not called:
        return CheckResult("live check", "note", "no service is configured")
    detail = f"one call each to {', '.join(called)}, which counts against your quota"
    return CheckResult("live check", "note", detail, "Skip it with --no-live.")


def live_checks(settings: Settings) -> tuple[Check, ...]:
    """All live checks, in the order of the report."""
    limit_s = settings.search_timeout_s + GRACE_S
    return (
        Check("proxy", proxy),
        Check("DNS", dns),
        *(
            Check(f"{spec.name} live", partial(provider, spec=spec), limit_s)
            for spec in settings.configured()
        ),
        Check("model", remote_model, 30.0),
    )


async def proxy(settings: Settings) -> list[CheckResult]:
    """Does each configured proxy accept connections?"""
    proxies = {"HTTPS_PROXY": settings.https_proxy, "HTTP_PROXY": settings.http_proxy}
    named = {name: address for name, secret in proxies.items() if (address := revealed(secret))}
    return [await _connect(name, address) for name, address in named.items()]


async def _connect(name: str, address: str) -> CheckResult:
    parts = urlsplit(address)
    where = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    try:
        with anyio.fail_after(CONNECT_S):
            host, _, port = where.rpartition(":")
            stream = await anyio.connect_tcp(host, int(port))
            await stream.aclose()
    except (OSError, TimeoutError):
        fix = f"Correct {name}, or unset it. NO_PROXY lists hosts that need no proxy."
        return CheckResult(f"{name} live", "problem", f"{where} does not accept connections", fix)
    return CheckResult(f"{name} live", "ok", f"{where} accepts connections")


async def dns(settings: Settings, resolve: Resolver = system_resolver) -> list[CheckResult]:
    """Can DNS resolve the host names of the providers?"""
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
        shown = ", ".join(hosts) or "the providers are configured by IP address"
        return [CheckResult("DNS", "ok", f"resolved: {shown}" if hosts else shown)]
    proxied = settings.https_proxy is not None
    state: State = "note" if proxied else "problem"
    fix = "The proxy may still resolve them." if proxied else "Check the network and its DNS."
    return [CheckResult("DNS", state, f"DNS has no address for {', '.join(sorted(missing))}", fix)]


def _hosts(settings: Settings) -> Iterator[str]:
    """The host names that providers connect to."""
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
    """Run one search with one provider."""
    from kindly.app import open_app

    alone = settings.changed(providers=(spec.name,), fuse=1, search_cache_minutes=0.0)
    check = f"{spec.name} live"
    finding = CheckResult(check, "problem", "it was not called")
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
                    check, "note", f"{took}, but without results", "Try `kindly search`."
                )
            )
    return [finding]


def _fix(error: KindlyError, spec: ProviderSpec) -> str:
    text = next((fix for kind, fix in FIXES if isinstance(error, kind)), "See docs/providers.md.")
    return text.format(key=spec.key_setting, address=spec.address_setting)

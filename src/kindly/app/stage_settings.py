"""Settings → the value objects that the stages are built with. Pure."""

from typing import TYPE_CHECKING

from kindly.fetch.chain.types import FetchLimits, Logins
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import GuardPolicy
from kindly.fetch.loader_kit.loader import LoaderSettings
from kindly.net.api_client import Proxies
from kindly.net.tls import Tls
from kindly.settings import LOADER_URLS, Settings, revealed

if TYPE_CHECKING:
    from kindly.fetch.browser.launch import BrowserSettings


def guard_policy(settings: Settings) -> GuardPolicy:
    """The addresses and domains that the user allows or blocks."""
    return GuardPolicy(
        allow_private=settings.allow_private,
        blocked_domains=settings.blocked_domains,
        allowed_domains=settings.allowed_domains,
    )


def fetch_limits(settings: Settings) -> FetchLimits:
    """Limits of time, size and concurrency of a fetch, and the logins of hosts."""
    return FetchLimits(
        timeout_s=settings.request_timeout_ms / 1000,
        max_bytes=settings.max_page_bytes,
        max_file_bytes=settings.max_file_bytes,
        max_wire_bytes=settings.max_page_bytes,
        user_agent=settings.user_agent,
        concurrency=settings.concurrency,
        host_concurrency=settings.host_concurrency,
        respect_robots=settings.respect_robots_txt,
        logins=Logins(settings.login_headers),
        archive_url=settings.archive_url if settings.archive else None,
        cache_ttl_s=settings.cache_hours * 3600,
        cache_max_bytes=settings.cache_mb * 1_000_000,
    )


def egress(settings: Settings, tls: Tls) -> Egress:
    """The proxies and TLS settings of page requests."""
    return Egress(
        proxy=revealed(settings.https_proxy),
        http_proxy=revealed(settings.http_proxy),
        no_proxy=settings.no_proxy,
        tls=tls,
    )


def api_proxies(settings: Settings) -> Proxies:
    """The proxies of the API clients."""
    return Proxies(revealed(settings.https_proxy), revealed(settings.http_proxy), settings.no_proxy)


def loader_settings(settings: Settings) -> LoaderSettings:
    """API tokens and base addresses of loaders."""
    base_urls = {
        name: settings.base_urls[variable]
        for variable, (name, _) in LOADER_URLS.items()
        if variable in settings.base_urls
    }
    return LoaderSettings(settings.tokens, base_urls)


def browser_settings(settings: Settings, tls: Tls) -> "BrowserSettings":
    """The browser, the retries of its start, and the proxies of its traffic."""
    from kindly.fetch.browser.launch import BrowserSettings

    return BrowserSettings(
        driver="auto" if settings.browser == "off" else settings.browser,
        path=str(settings.browser_path) if settings.browser_path else None,
        sandbox=settings.browser_sandbox,
        attempts=settings.browser_attempts,
        backoff_s=settings.browser_backoff_s,
        user_agent=settings.user_agent,
        ca_file=str(settings.ssl_cert_file.absolute()) if settings.ssl_cert_file else None,
        egress=egress(settings, tls),
    )

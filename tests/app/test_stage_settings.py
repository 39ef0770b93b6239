"""Settings become the value objects of the stages."""

from pathlib import Path

from kindly.app.stage_settings import (
    browser_settings,
    egress,
    fetch_limits,
    guard_policy,
    loader_settings,
)
from kindly.net.tls import Tls
from kindly.settings import Settings


def test_the_guard_follows_the_lists_of_domains() -> None:
    policy = guard_policy(
        Settings.load({"KINDLY_BLOCKED_DOMAINS": "bad.example", "KINDLY_ALLOW_PRIVATE": ""})
    )
    assert policy.blocked_domains == ("bad.example",)
    assert not policy.allow_private


def test_the_limits_of_a_fetch_have_the_units_of_the_fetcher() -> None:
    limits = fetch_limits(
        Settings.load(
            {"REQUEST_TIMEOUT_MS": "2500", "KINDLY_CACHE_HOURS": "2", "KINDLY_CACHE_MB": "3"}
        )
    )
    assert (limits.timeout_s, limits.cache_ttl_s, limits.cache_max_bytes) == (2.5, 7200, 3_000_000)


def test_proxies_apply_to_page_requests() -> None:
    route = egress(
        Settings.load({"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "inner.example"}),
        Tls(),
    )
    assert (route.proxy, route.no_proxy) == ("http://proxy.example:3128", ("inner.example",))


def test_loaders_get_the_base_addresses_that_are_set() -> None:
    settings = loader_settings(Settings.load({"KINDLY_GITHUB_API_URL": "https://git.example/api"}))
    assert settings.base_urls == {"GITHUB_API_URL": "https://git.example/api"}


def test_the_browser_gets_absolute_paths(tmp_path: Path) -> None:
    settings = Settings.load({"KINDLY_BROWSER": "off", "SSL_CERT_FILE": str(tmp_path / "ca.pem")})
    browser = browser_settings(settings, Tls())
    assert (browser.driver, browser.ca_file) == ("auto", str(tmp_path / "ca.pem"))

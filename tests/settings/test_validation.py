"""Invalid values are reported in one line."""

import pytest

from kindly.errors import SettingsError
from kindly.settings import Settings


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"KINDLY_PORT": "many"}, "KINDLY_PORT"),
        ({"KINDLY_PORT": "70000"}, "KINDLY_PORT"),
        ({"KINDLY_CONTEXT": "emacs"}, "KINDLY_CONTEXT"),
        ({"REQUEST_TIMEOUT_MS": "0"}, "REQUEST_TIMEOUT_MS"),
        ({"RESPECT_ROBOTS_TXT": "perhaps"}, "RESPECT_ROBOTS_TXT"),
        ({"SERPER_BASE_URL": "ftp://x"}, "SERPER_BASE_URL"),
        ({"KINDLY_MAX_TOKENS": "10"}, "KINDLY_MAX_TOKENS"),
        ({"KINDLY_PROTOCOL": "x"}, "KINDLY_PROTOCOL"),
        ({"KINDLY_ALLOW_PRIVATE": "http://wiki.corp/"}, "KINDLY_ALLOW_PRIVATE"),
        ({"HTTPS_PROXY": "socks5://canary@proxy:1080"}, "HTTPS_PROXY"),
        ({"KINDLY_CONFIG": "/nowhere/kindly.toml"}, "/nowhere/kindly.toml"),
    ],
    ids=lambda value: "=".join(*value.items()) if isinstance(value, dict) else "",
)
def test_an_invalid_value_is_reported_in_one_line(environ: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load(environ)
    assert named in caught.value.detail
    assert "\n" not in caught.value.detail
    assert "canary" not in caught.value.detail


@pytest.mark.parametrize(
    ("value", "on"),
    [("1", True), ("true", True), ("YES", True), ("0", False), ("off", False)],
)
def test_a_flag_turns_a_provider_on(value: str, on: bool) -> None:
    providers = Settings.load({"KINDLY_SEARXNG_POOL": value}).configured()
    assert [spec.name for spec in providers] == (["searxng_pool"] if on else [])


def test_an_invalid_flag_is_reported() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_SEARXNG_POOL": "perhaps"})
    assert "KINDLY_SEARXNG_POOL" in caught.value.detail


def test_an_unknown_provider_is_reported() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_PROVIDERS": "serper,altavista"})
    assert "altavista" in caught.value.detail
    assert "tavily" in caught.value.detail

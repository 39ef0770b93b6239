"""The settings file and the environment."""

from pathlib import Path

import pytest

from kindly.errors import SettingsError
from kindly.settings import Settings


def test_empty_variables_count_as_not_set() -> None:
    settings = Settings.load({"SERPER_API_KEY": "", "KINDLY_PORT": ""})
    assert (dict(settings.needed), settings.port) == ({}, 8000)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("KINDLY_PROFIL", "Did you mean KINDLY_PROFILE?"),
        ("KINDLY_DATA_DIR", "Did you mean DATA_DIR?"),
        ("KINDLY_QQQQQQQQ", "See docs/settings.md for all settings."),
    ],
)
def test_an_unknown_variable_is_reported_with_a_suggestion(name: str, advice: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({name: "kindly"})
    assert caught.value.detail.endswith(advice)


@pytest.mark.parametrize(
    ("text", "named"),
    [("colour = 1", "colour"), ("port = ", "TOML"), ("port = 'x'", "KINDLY_PORT")],
    ids=["unknown", "not TOML", "wrong value"],
)
def test_an_invalid_file_is_reported_in_one_line(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "kindly.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        Settings.load({}, config=file)
    assert named in caught.value.detail
    assert "\n" not in caught.value.detail


def test_a_file_can_have_several_addresses(tmp_path: Path) -> None:
    file = tmp_path / "kindly.toml"
    file.write_text('searxng_base_url = ["http://a.corp", "http://b.corp"]', encoding="utf-8")
    needed = Settings.load({}, config=file).needed["SEARXNG_BASE_URL"]
    assert needed.get_secret_value() == "http://a.corp,http://b.corp"


def test_proxy_is_read_in_either_case() -> None:
    settings = Settings.load({"https_proxy": "http://user:pass@proxy:3128"})
    assert settings.https_proxy is not None
    assert settings.https_proxy.get_secret_value() == "http://user:pass@proxy:3128"

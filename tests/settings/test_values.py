"""How values are read from text and from a settings file."""

import json
from pathlib import Path

import pytest

from kindly.errors import SettingsError
from kindly.settings import Settings


def test_lists_are_separated_by_commas() -> None:
    settings = Settings.load({"KINDLY_ALLOW_PRIVATE": "127.0.0.1:8080, wiki.corp ,"})
    assert settings.allow_private == ("127.0.0.1:8080", "wiki.corp")


def test_a_proxy_needs_no_scheme() -> None:
    proxy = Settings.load({"HTTPS_PROXY": "proxy.corp:3128"}).https_proxy
    assert proxy is not None
    assert proxy.get_secret_value() == "http://proxy.corp:3128"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("KINDLY_PORT", "many", "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", "1_", "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", "1.5", "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", 2.5, "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", ["1"], "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", "9" * 5_000, "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", "-1", "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", "70000", "it must be a whole number from 0 to 65535"),
        ("KINDLY_PORT", float("inf"), "it must be a whole number from 0 to 65535"),
        ("KINDLY_DEADLINE_S", "0", "it must be a number above 0, at most 3600"),
        ("KINDLY_DEADLINE_S", "nan", "it must be a number above 0, at most 3600"),
        ("KINDLY_DEADLINE_S", "soon", "it must be a number above 0, at most 3600"),
        ("KINDLY_DEADLINE_S", "\uff11", "it must be a number above 0, at most 3600"),
        ("KINDLY_DEADLINE_S", ["1"], "it must be a number above 0, at most 3600"),
        ("KINDLY_DEADLINE_S", 10**400, "it must be a number above 0, at most 3600"),
        ("KINDLY_ARCHIVE", "perhaps", "it must be 1 or 0"),
        ("KINDLY_ARCHIVE", 2, "it must be 1 or 0"),
        ("KINDLY_ARCHIVE", 0.5, "it must be 1 or 0"),
        ("KINDLY_ARCHIVE", [1], "it must be 1 or 0"),
        ("KINDLY_TRANSPORT", "ws", "it must be stdio or http"),
        ("KINDLY_HOST", 1, "it must be text"),
        ("KINDLY_USER_AGENT", "m" * 501, "it must have at most 500 characters"),
        ("KINDLY_BLOCKED_DOMAINS", 1, "it must be names, separated by commas, or a list of names"),
        ("KINDLY_BLOCKED_DOMAINS", ["a", 1], "it must be names, separated by commas, or a list"),
        ("DATA_DIR", 1, "it must be a path"),
        ("KINDLY_ARCHIVE_URL", "ftp://x", "it must begin with http:// or https://"),
        ("KINDLY_STORE", "paper", "it must be sqlite, "),
    ],
)
def test_a_value_of_another_kind_is_refused_with_the_reason(
    name: str, value: object, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({name.lower(): value}))
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_CONFIG": str(file)})
    assert caught.value.detail.startswith(f"{name} from the settings file is not valid: {problem}")


@pytest.mark.parametrize(
    ("name", "field", "value", "read"),
    [
        ("KINDLY_PORT", "port", " 8_000.0 ", 8000),
        ("KINDLY_PORT", "port", 8000.0, 8000),
        ("KINDLY_DEADLINE_S", "deadline_s", "1e1", 10.0),
        ("KINDLY_DEADLINE_S", "deadline_s", None, None),
        ("KINDLY_ARCHIVE", "archive", "T", True),
        ("KINDLY_ARCHIVE", "archive", 0.0, False),
        ("DATA_DIR", "data_dir", "/d", Path("/d")),
        ("KINDLY_BLOCKED_DOMAINS", "blocked_domains", ["a", "b"], ("a", "b")),
    ],
)
def test_a_value_may_be_written_in_several_ways(
    name: str, field: str, value: object, read: object, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({name.lower(): value}))
    settings = Settings.load({"KINDLY_CONFIG": str(file)})
    assert getattr(settings, field) == read
    assert settings.is_set(field)


def test_settings_are_changed_only_in_a_copy() -> None:
    settings = Settings.load({"KINDLY_PORT": "1"})
    other = settings.changed(port=2, fuse=3)
    assert (settings.port, settings.fuse) == (1, 1)
    assert (other.port, other.fuse, other.origin("KINDLY_PORT")) == (2, 3, "environment")
    assert repr(other) == "Settings(port, fuse)"

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
        ("KINDLY_PORT", "many", "valid integer, unable to parse string as an integer"),
        ("KINDLY_PORT", "1_", "valid integer, unable to parse string as an integer"),
        ("KINDLY_PORT", "1.5", "valid integer, unable to parse string as an integer"),
        ("KINDLY_PORT", 1.5, "valid integer, got a number with a fractional part"),
        ("KINDLY_PORT", ["1"], "valid integer"),
        ("KINDLY_PORT", "9" * 5_000, "exceeded maximum size"),
        ("KINDLY_PORT", "-1", "greater than or equal to 0"),
        ("KINDLY_PORT", "70000", "less than or equal to 65535"),
        ("KINDLY_PORT", float("inf"), "finite number"),
        ("KINDLY_DEADLINE_S", "0", "greater than 0"),
        ("KINDLY_DEADLINE_S", "nan", "less than or equal to 3600"),
        ("KINDLY_DEADLINE_S", "soon", "valid number, unable to parse string as a number"),
        ("KINDLY_DEADLINE_S", "\uff11", "valid number, unable to parse string as a number"),
        ("KINDLY_DEADLINE_S", ["1"], "valid number"),
        ("KINDLY_ARCHIVE", "perhaps", "valid boolean, unable to interpret input"),
        ("KINDLY_ARCHIVE", 2, "valid boolean, unable to interpret input"),
        ("KINDLY_ARCHIVE", 0.5, "valid boolean"),
        ("KINDLY_TRANSPORT", "ws", "'stdio' or 'http'"),
        ("KINDLY_HOST", 1, "valid string"),
        ("KINDLY_USER_AGENT", "m" * 501, "at most 500 characters"),
        ("KINDLY_BLOCKED_DOMAINS", 1, "valid tuple"),
        ("KINDLY_BLOCKED_DOMAINS", ["a", 1], "valid string"),
        ("DATA_DIR", 1, "not a valid path"),
        ("KINDLY_ARCHIVE_URL", "ftp://x", "value error, must begin with http:// or https://"),
        ("KINDLY_STORE", "paper", "value error, must be sqlite, "),
    ],
)
def test_a_value_of_another_kind_is_refused_with_the_reason(
    name: str, value: object, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({name.lower(): value}))
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_CONFIG": str(file)})
    assert caught.value.detail.startswith(f"{name} from the settings file is not valid: ")
    assert problem in caught.value.detail


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

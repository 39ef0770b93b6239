"""The file of logins: its mode, its shape, its environment variables, and what of it is secret."""

from base64 import b64encode
from pathlib import Path

import pytest

from kindly.errors import SettingsError
from kindly.redact import Redactor
from kindly.settings import Settings
from kindly.settings.logins import read_logins, secrets_in

TOKEN = "canary-token-77ab"


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "logins.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_headers_and_cookies_of_hosts_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '[hosts."wiki.example.com"]\n'
        'headers = { Authorization = "Bearer ${WIKI_TOKEN}" }\n'
        'cookies = { session = "abc123", theme = "dark" }\n'
        '[hosts."Git.example.com:8443"]\nheaders = { "X-Key" = "k" }\n',
    )
    assert read_logins(path, {"WIKI_TOKEN": TOKEN}) == {
        "wiki.example.com": (
            ("Authorization", f"Bearer {TOKEN}"),
            ("Cookie", "session=abc123; theme=dark"),
        ),
        "git.example.com:8443": (("X-Key", "k"),),
    }


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path, '[hosts."a.example"]\nheaders = { X = "y" }\n', mode)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_logins(path, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hosts = 5", "tables"),
        (f'token = "{TOKEN}"', "tables"),
        (f'[hosts."a.example"]\nheaders = "{TOKEN}"', "table of texts"),
        (f'[hosts."a.example"]\npassword = "{TOKEN}"', "table of texts"),
        ('[hosts."a.example"]\n', "table of texts"),
        ('[hosts."*.example"]\nheaders = { X = "y" }', "is no host"),
        ('[hosts."https://a.example"]\nheaders = { X = "y" }', "is no host"),
        ('[hosts."a.example/wiki"]\nheaders = { X = "y" }', "is no host"),
        ('[hosts."a.example:443"]\nheaders = { X = "y" }', "is no host"),
        ('[hosts."user@a.example"]\nheaders = { X = "y" }', "is no host"),
        (f'[hosts."a.example"]\nheaders = {{ X = "{TOKEN}\\r\\nY: z" }}', "cannot be sent"),
        (f'[hosts."a.example"]\nheaders = {{ "X Y" = "{TOKEN}" }}', "cannot be sent"),
        (f'[hosts."a.example"]\nheaders = {{ Host = "{TOKEN}" }}', "cannot be sent"),
        (f'[hosts."a.example"]\nheaders = {{ X = "ü{TOKEN}" }}', "cannot be sent"),
        (f'[hosts."a.example"]\ncookies = {{ s = "{TOKEN}; admin=1" }}', "cannot be sent"),
        ('[hosts."a.example"]\nheaders = { X = 5 }', "must be a text"),
        ('[hosts."a.example"]\nheaders = { X = "${NOT_SET}" }', "NOT_SET"),
        (f'[hosts."a.example"\nheaders = "{TOKEN}"', "not valid TOML"),
    ],
)
def test_anything_else_is_refused_without_showing_a_value(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        read_logins(written(tmp_path, text), {})
    assert TOKEN not in caught.value.detail


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml"):
        read_logins(tmp_path / "none.toml", {})


def test_a_path_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(SettingsError, match="not the path"):
        read_logins(Path("a\0b"), {})


def test_every_part_of_a_login_is_masked() -> None:
    basic = b64encode(b"maria:opensesame").decode()
    logins = {
        "a.example": (
            ("Authorization", f"Bearer {TOKEN}"),
            ("Cookie", "session=abc123def; theme=dark"),
        ),
        "b.example": (("Authorization", f"Basic {basic}"),),
    }
    redactor = Redactor.of(secrets_in(logins))
    for secret in (f"Bearer {TOKEN}", TOKEN, "abc123def", basic, "opensesame"):
        assert secret not in redactor.text(f"It echoes {secret}!")


def test_settings_hold_the_logins_and_know_their_secrets(tmp_path: Path) -> None:
    path = written(tmp_path, f'[hosts."a.example"]\nheaders = {{ X = "{TOKEN}" }}\n')
    settings = Settings.load({"KINDLY_LOGINS": str(path)})
    assert settings.login_headers == {"a.example": (("X", TOKEN),)}
    assert TOKEN in settings.secrets()
    assert TOKEN not in repr(settings)

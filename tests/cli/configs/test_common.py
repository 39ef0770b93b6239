import pytest

from kindly.cli.configs.common import Malformed, at, is_secret, line_of, newline_of

TREE: dict[str, object] = {"servers": {"kindly": {"command": "uvx"}}, "list": [1]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), TREE),
        (("servers", "kindly", "command"), "uvx"),
        (("servers", "other"), None),
        (("servers", "other", "command"), None),
        (("list", "0"), None),
    ],
    ids=["root", "value", "missing", "below missing", "not a table"],
)
def test_a_value_is_found_by_its_path(path: tuple[str, ...], found: object) -> None:
    assert at(TREE, path) == found


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        (("servers", "kindly", "env", "LANG"), True),
        (("http_headers", "X"), True),
        (("API_KEY",), True),
        (("authToken",), True),
        (("password",), True),
        (("servers", "kindly", "command"), False),
        (("environment",), True),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_value_is_secret_by_the_names_in_its_path(path: tuple[str, ...], secret: bool) -> None:
    assert is_secret(path) is secret


def test_an_error_has_the_line_and_the_reason() -> None:
    error = Malformed(line_of("a\nb\nc", 4), "a comma is missing")
    assert (error.line, error.what) == (3, "a comma is missing")
    assert str(error) == "line 3: a comma is missing"


@pytest.mark.parametrize(("text", "newline"), [("a\r\nb", "\r\n"), ("a\nb", "\n"), ("", "\n")])
def test_the_line_ending_of_a_text_is_kept(text: str, newline: str) -> None:
    assert newline_of(text) == newline

"""Secrets are masked in plain, encoded and nested text."""

from dataclasses import dataclass

import pytest

from kindly.redact import MASK, Redactor, without_credentials


def test_every_secret_is_masked_even_if_one_begins_with_another() -> None:
    redactor = Redactor.of(["canary-key-1", "canary-key-12"])
    assert redactor.text("a canary-key-12 b canary-key-1") == f"a {MASK} b {MASK}"


def test_the_url_encoded_form_is_masked() -> None:
    assert Redactor.of(["pass/word+1"]).text("?key=pass%2Fword%2B1") == f"?key={MASK}"


def test_values_are_masked_at_every_depth() -> None:
    value = {"a": ["x canary-key", {"b": "canary-key"}], "n": 3, "t": ("canary-key",)}
    assert Redactor.of(["canary-key"]).value(value) == {
        "a": [f"x {MASK}", {"b": MASK}],
        "n": 3,
        "t": [MASK],
    }


def test_very_short_values_are_not_masked() -> None:
    assert Redactor.of(["", "abc"]).text("abc") == "abc"


def test_repr_shows_no_secret() -> None:
    assert "canary" not in repr(Redactor.of(["canary-key"]))


@dataclass(frozen=True)
class Record:
    """A value with text at several depths."""

    text: str
    parts: tuple["Record", ...] = ()
    facts: dict[str, object] | None = None
    number: float = 0.5


def test_records_are_masked_at_every_depth_and_keep_their_types() -> None:
    record = Record(
        "canary-key", (Record("a"), Record("canary-key b")), {"canary-key": ["canary-key"]}
    )
    assert Redactor.of(["canary-key"]).record(record) == Record(
        MASK, (Record("a"), Record(f"{MASK} b")), {MASK: [MASK]}
    )


def test_a_record_without_secrets_is_itself() -> None:
    record = Record("a", (Record("b"),), {"c": ["d"]})
    assert Redactor.of(["canary-key"]).record(record) is record
    assert Redactor.of([]).record(record) is record


@pytest.mark.parametrize(
    ("addresses", "shown"),
    [
        ("https://searx.example.org", "https://searx.example.org"),
        ("https://u:p@searx.example.org/x", f"https://{MASK}@searx.example.org/x"),
        ("u:p@host", f"{MASK}@host"),
        ("https://u:p@ss@host", f"https://{MASK}@host"),
        ("https://u:p/q@host", f"https://{MASK}@host"),
        ("https://u:p,q@host", f"https://{MASK}@host"),
        ("https://u:p@a, https://b,https://u:p@c", f"https://{MASK}@a, https://b,https://{MASK}@c"),
        ("", ""),
    ],
)
def test_addresses_are_shown_without_credentials(addresses: str, shown: str) -> None:
    assert without_credentials(addresses) == shown

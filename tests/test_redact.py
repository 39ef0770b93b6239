"""Secrets are masked in plain, encoded and nested text."""

from kindly.redact import MASK, Redactor


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

import re
from urllib.parse import unquote

import pytest

from kindly.read.text_fragment import text_fragment

URL = "https://example.com/page"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Bees see ultraviolet light.", ["Bees see ultraviolet light."]),
        (
            "A forager that found food tells the others by a waggle dance whose angle points the way.",
            ["A forager that found", "angle points the way."],
        ),
        ("## Winter at the hive", ["Winter at the hive"]),
        ("- **Bold** item with `code` in it", ["Bold item with code in it"]),
        ("1. See [the guide](https://example.com/a_(b)) now, please", None),
        ("> quoted words stand here", ["quoted words stand here"]),
        ("![alt](x.png)\n\nSome words below it.", ["Some words below it."]),
        ("| name | a long enough value |\n|---|---|", ["a long enough value"]),
        ("```\nlet x = 1; let y = 2\n```", ["let x = 1; let y = 2"]),
        ("Short\n\nA line that is long enough", ["A line that is long enough"]),
        ("Hi", ["Hi"]),
        (
            "黑豹队的防守只丢了308分，在联赛中排名第六，同时以24次拦截领先，还有四次职业碗入选。",
            None,
        ),
    ],
    ids=[
        "whole",
        "ends",
        "heading",
        "marks",
        "link",
        "quote",
        "image",
        "table",
        "code",
        "long line",
        "only word",
        "chinese",
    ],
)
def test_directive_has_words_that_a_reader_sees(text: str, words: list[str] | None) -> None:
    base, _, directive = text_fragment(URL, text).partition("#:~:text=")

    assert base == URL
    parts = [unquote(part) for part in directive.split(",")]
    if words is not None:
        assert parts == words
    plain = re.sub(r"[*`>|#\[\]]|\(https?[^)]*\)+", "", text)
    squeezed = "".join(plain.split())
    assert all("".join(part.split()).rstrip(")") in squeezed for part in parts)


@pytest.mark.parametrize("text", ["", "---", "```\n```"], ids=["empty", "rule", "fence"])
def test_text_without_words_gives_the_bare_address(text: str) -> None:
    assert text_fragment(f"{URL}#old", text) == URL


def test_characters_with_a_meaning_are_encoded() -> None:
    link = text_fragment(URL, "well-known, R&D = 50% off")

    assert link.endswith("#:~:text=well%2Dknown%2C%20R%26D%20%3D%2050%25%20off")

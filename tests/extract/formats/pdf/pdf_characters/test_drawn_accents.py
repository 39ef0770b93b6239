import pytest

from kindly.extract.formats.pdf.pdf_characters.drawn_accents import (
    GONE,
    REACH,
    CharacterBox,
    with_accents,
)


def drawn(text: str, places: dict[int, float], raised: dict[int, float] | None = None) -> str:
    """The text, each character 10 wide and at its own place; some are at the place of another, or higher."""

    def box(index: int) -> CharacterBox:
        left, up = 10.0 * places.get(index, index), (raised or {}).get(index, 0.0)
        return left, 12 + up, left + 10, up

    return with_accents(text, box)


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("a´c", {1: 0}, f"á{GONE}c"),
        ("´ac", {0: 1}, f"{GONE}ác"),
        ("Jan Min´ ", {7: 1}, f"Ján Min{GONE} "),
        ("c for his support. ˇ\r\n", {19: 0}, f"č for his support. {GONE}\r\n"),
        ("`ı", {0: 1}, f"{GONE}ì"),
        ("c¸a", {1: 0}, f"ç{GONE}a"),
        ("ˆe´", {0: 1, 2: 1}, f"{GONE}ế{GONE}"),
    ],
    ids=["after", "before", "far", "at the end", "over a dotless i", "under", "two on a letter"],
)
def test_accent_is_put_on_the_letter_at_its_place(
    text: str, at: dict[int, float], expected: str
) -> None:
    assert drawn(text, at) == expected


def test_accent_over_a_capital_is_higher() -> None:
    assert drawn("´E", {0: 1}, {0: 3.0}) == f"{GONE}É"


@pytest.mark.parametrize(
    ("text", "at", "raised"),
    [
        ("don´t", {}, {}),
        ("`code`", {}, {}),
        ("a´", {1: 0.6}, {}),
        ("a´", {1: 0}, {1: 14.0}),
        ("+ˆ", {1: 0}, {}),
        ("ξˆ", {1: 0}, {}),
        ("a" + " " * REACH + "´", {REACH + 1: 0}, {}),
    ],
    ids=["apostrophe", "ASCII", "beside", "line above", "no letter", "no such letter", "too far"],
)
def test_sign_that_is_no_accent_stays(
    text: str, at: dict[int, float], raised: dict[int, float]
) -> None:
    assert drawn(text, at, raised) == text

import pytest

from kindly.extract.visibility.colours import WHITE, Colour, parse, unreadable


@pytest.mark.parametrize(
    ("word", "colour"),
    [
        ("#fff", WHITE),
        ("#ffffff80", Colour(255, 255, 255, 128 / 255)),
        ("#0000", Colour(0, 0, 0, 0)),
        ("white", WHITE),
        ("rgb(255, 255, 255)", WHITE),
        ("rgb(100% 100% 100%)", WHITE),
        ("rgba(1,2,3,.5)", Colour(1, 2, 3, 0.5)),
        ("rgb(1 2 3 / 0)", Colour(1, 2, 3, 0)),
        ("hsl(0 0% 100%)", WHITE),
        ("hsla(0,0%,50%,0)", Colour(0, 0, 0, 0)),
        ("hsl(120 50% 50%)", None),
        ("hsl(1)", None),
        ("rgb(1,2)", None),
        ("rgb(1.2.3,1,1)", None),
        ("var(--ink)", None),
        ("#ggg", None),
    ],
)
def test_colour_words(word: str, colour: Colour | None) -> None:
    assert parse(word) == colour


@pytest.mark.parametrize(
    ("text", "background", "hidden"),
    [
        (WHITE, WHITE, True),
        (Colour(250, 250, 250), WHITE, True),
        (Colour(18, 18, 18), Colour(17, 17, 17), True),
        (Colour(0, 0, 0, 0), WHITE, True),
        (Colour(0, 0, 0), WHITE, False),
        (WHITE, Colour(17, 34, 51), False),
    ],
)
def test_text_is_unreadable_on_its_own_colour(
    text: Colour, background: Colour, hidden: bool
) -> None:
    assert unreadable(text, background) is hidden

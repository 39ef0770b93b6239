import pytest

from kindly.extract.visibility.layout.box_visibility import is_hidden
from kindly.extract.visibility.lengths import pixels


@pytest.mark.parametrize(
    "style",
    [
        {"display": "none"},
        {"content-visibility": "hidden"},
        {"opacity": "0"},
        {"opacity": "1%"},
        {"filter": "opacity(0)"},
        {"position": "absolute", "left": "-9999px"},
        {"text-indent": "-99em"},
        {"margin": "0 0 0 -9999px"},
        {"clip": "rect(0,0,0,0)"},
        {"clip-path": "inset(50%)"},
        {"clip-path": "inset(10% 60% 10% 40%)"},
        {"clip-path": "circle(0)"},
        {"clip-path": "polygon(0 0, 0 0)"},
        {"overflow": "hidden", "height": "0"},
        {"overflow-x": "clip", "max-width": "1px"},
        {"transform": "scale(0)"},
        {"transform": "rotatey(90deg)"},
        {"transform": "matrix(0,0,0,0,0,0)"},
        {"transform": "translatex(-9999px)"},
        {"translate": "-9999px"},
        {"scale": "0"},
        {"rotate": "x 90deg"},
        {"mask": "linear-gradient(transparent,transparent)"},
    ],
    ids=str,
)
def test_styles_that_hide_an_element(style: dict[str, str]) -> None:
    assert is_hidden(style)


@pytest.mark.parametrize(
    "style",
    [
        {},
        {"display": "block"},
        {"opacity": "0.5"},
        {"left": "-9999px"},
        {"position": "absolute", "left": "-20px"},
        {"clip": "rect(auto,auto,auto,auto)"},
        {"clip-path": "inset(10%)"},
        {"clip-path": "circle(0.5)"},
        {"height": "0"},
        {"overflow": "hidden", "height": "20px"},
        {"transform": "translate(-50%,-50%)"},
        {"mask": "linear-gradient(black,transparent)"},
        {"rotate": "45deg"},
    ],
    ids=str,
)
def test_styles_that_show_an_element(style: dict[str, str]) -> None:
    assert not is_hidden(style)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("10px", 10),
        ("2em", 32),
        ("-1.5rem", -24),
        (".5px", 0.5),
        ("7", 7),
        ("auto", None),
        (None, None),
    ],
    ids=str,
)
def test_lengths_in_pixels(length: str | None, expected: float | None) -> None:
    assert pixels(length) == expected

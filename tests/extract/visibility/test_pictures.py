import pytest

from kindly.extract.visibility.colours import WHITE, Colour
from kindly.extract.visibility.pictures import picture_colours
from tests.support.layout_rows import GIF, SVG, png


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (png(20, 30, 40), (Colour(20, 30, 40),)),
        (GIF, (WHITE,)),
        (SVG, (WHITE,)),
        ("data:image/svg+xml,<svg><rect fill='red'/><rect fill='blue'/></svg>", None),
        ("data:image/png;base64,AAAA", None),
        ("data:image/gif;base64,R0lGODlh", None),
        ("https://site.example/white.png", None),
    ],
    ids=["png", "gif", "svg", "two colours", "broken png", "broken gif", "elsewhere"],
)
def test_colour_of_a_picture_in_a_style(address: str, expected: tuple[Colour, ...] | None) -> None:
    assert picture_colours(f"color:#fff;background:url({address})") == expected

import pytest
from turbohtml import parse

from kindly.extract.visibility.revealed.fade_ins import fade_ins
from kindly.extract.visibility.style import Style

TRANSPARENT = {"opacity": "0"}


def faded(element: str, style: Style, count: int = 3) -> int:
    document = parse(f"<body>{element * count}", positions=False)
    waiting = [child for child in document.select("body > *") if child.attr("class") != "seen"]
    return len(fade_ins(dict.fromkeys(waiting, style)))


@pytest.mark.parametrize(
    "element",
    [
        "<p data-aos=fade-up>Bees</p>",
        "<p data-w-id=8f2>Bees</p>",
        "<p class='wow fadeInUp'>Bees</p>",
        "<p class='et_pb_blurb et_animated'>Bees</p>",
        "<p class='elementor-element elementor-invisible'>Bees</p>",
        "<p style='opacity:0;transform:translateY(30px)'>Bees</p>",
        "<rs-layer>Bees</rs-layer>",
    ],
)
def test_elements_that_wait_for_an_animation_fade_in(element: str) -> None:
    assert faded(element, TRANSPARENT) == 3
    assert faded(element, {"visibility": "hidden"}) == 3
    assert faded(element, TRANSPARENT, count=2) == 0


@pytest.mark.parametrize(
    ("element", "style"),
    [
        ("<p>Bees</p>", TRANSPARENT),
        ("<p class=x style='opacity:0'>Bees</p>", TRANSPARENT),
        ("<p class=facade>Bees</p>", TRANSPARENT),
        ("<p data-aos=fade-up></p>", TRANSPARENT),
        ("<p data-aos=fade-up>Bees</p>", {"display": "none"}),
        ("<p data-aos=fade-up>Bees</p>", {"opacity": "0", "display": "none"}),
        ("<p data-aos=fade-up>Bees</p>", {"opacity": "0", "clip-path": "inset(50%)"}),
        ("<p data-aos=fade-up>Bees</p>", {"color": "transparent"}),
    ],
)
def test_other_hidden_elements_do_not(element: str, style: Style) -> None:
    assert faded(element, style) == 0

import pytest
from turbohtml import parse

from kindly.extract.visibility.revealed.fade_ins import fade_ins
from kindly.extract.visibility.style import Style

TRANSPARENT = {"opacity": "0"}


def faded(element: str, style: Style, count: int = 3) -> int:
    """How many of the copies fade in; each has its number in place of `§`."""
    copies = "".join(element.replace("§", f"Bees {number}") for number in range(count))
    document = parse(f"<body>{copies}", positions=False)
    return len(fade_ins(dict.fromkeys(document.select("body > *"), style)))


@pytest.mark.parametrize(
    "element",
    [
        "<p data-aos=fade-up>§</p>",
        "<p data-w-id=8f2>§</p>",
        "<p class='wow fadeInUp'>§</p>",
        "<p class='et_pb_blurb et_animated'>§</p>",
        "<p class='elementor-element elementor-invisible'>§</p>",
        "<rs-layer>§</rs-layer>",
    ],
)
def test_elements_that_wait_for_an_animation_fade_in(element: str) -> None:
    assert faded(element, TRANSPARENT) == 3
    assert faded(element, {"visibility": "hidden"}) == 3
    assert faded(element, TRANSPARENT, count=2) == 0


@pytest.mark.parametrize(
    "start",
    [
        {"transform": "translatey(30px)"},
        {"transform": "translate3d(0, 10%, 0) scale3d(1, 1, 1)"},
        {"transform": "scale(.9)"},
        {"filter": "blur(10px)"},
    ],
)
def test_elements_fade_in_from_a_start_position_of_their_own(start: Style) -> None:
    element = "<p style='opacity:0'>§</p>"
    assert faded(element, {**TRANSPARENT, **start}) == 3
    assert faded(element, {**TRANSPARENT, **start}, count=2) == 0


@pytest.mark.parametrize(
    "start",
    [
        {},
        {"transform": "none"},
        {"transform": "translatex(0)"},
        {"transform": "translate(0px, 0%) scale(1)"},
        {"transform": "scale(0)"},
        {"transform": "translatex(-100%)"},
        {"transform": "translatex(-8px)", "visibility": "hidden"},
        {"filter": "blur(0px)"},
    ],
)
def test_a_style_without_a_start_position_says_nothing(start: Style) -> None:
    assert faded("<p style='opacity:0'>§</p>", {**TRANSPARENT, **start}) == 0


def test_copies_of_one_text_do_not_fade_in() -> None:
    assert faded("<p data-aos=fade-up>Bees</p>", TRANSPARENT) == 0


@pytest.mark.parametrize(
    ("element", "style"),
    [
        ("<p>§</p>", TRANSPARENT),
        ("<p class=facade>§</p>", TRANSPARENT),
        ("<p data-aos=fade-up></p>", TRANSPARENT),
        ("<p data-aos=fade-up>§</p>", {"display": "none"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "display": "none"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "clip-path": "inset(50%)"}),
        ("<p data-aos=fade-up>§</p>", {"color": "transparent"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "transform": "scale(0)"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "transform": "translatex(-100%)"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "zoom": "0"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "position": "absolute"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "z-index": "-1"}),
        ("<p data-aos=fade-up>§</p>", {"opacity": "0", "height": "0", "overflow": "hidden"}),
    ],
)
def test_other_hidden_elements_do_not(element: str, style: Style) -> None:
    assert faded(element, style) == 0

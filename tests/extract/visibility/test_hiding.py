import pytest

from kindly.extract.visibility.hiding import HidingColours, effects_of, families_of


@pytest.mark.parametrize(
    ("body", "family"),
    [
        ("display:none", "display"),
        ("color:red; display : none!important", "display"),
        ("visibility:collapse", "visibility"),
        ("content-visibility:hidden", "visibility"),
        ("opacity:.01", "opacity"),
        ("filter:blur(2px) opacity(0)", "opacity"),
        ("zoom:0", "zoom"),
        ("clip:rect(0,0,0,0)", "clip"),
        ("clip-path:inset(50%)", "clip"),
        ("left:-9999px", "offset"),
        ("top:-40em", "offset"),
        ("right:5000px", "offset"),
        ("bottom:400vw", "offset"),
        ("left:1000%", "offset"),
        ("text-indent:-99.5em", "offset"),
        ("margin:0 0 0 -5000px", "offset"),
        ("max-height:0", "size"),
        ("width:1px!important", "size"),
        ("transform:translatex(-500px)", "transform"),
        ("transform:translate(-100%,-900px)", "transform"),
        ("transform:rotatey(90deg)", "transform"),
        ("transform:scale(0)", "transform"),
        ("translate:-999px", "transform"),
        ("rotate:x 90deg", "transform"),
        ("scale:0", "transform"),
        ("mask:linear-gradient(transparent,transparent)", "mask"),
        ("font-size:1px", "font"),
        ("font:0/0 a", "font"),
        ("transform:" + "translate(" * 50_000, "transform"),
    ],
    ids=lambda text: text[:40],
)
def test_declarations_that_may_hide_have_a_family(body: str, family: str) -> None:
    assert families_of(body) == {family}


@pytest.mark.parametrize(
    "body",
    [
        "display:block",
        "opacity:0.5",
        "margin-left:-15px",
        "margin:0 -15px",
        "left:-50px;top:1000px",
        "line-height:1",
        "min-width:0",
        "background-clip:text",
        "transform:translatex(-100%)",
        "mask:none",
        "font-size:0.8em",
        "border-left:-9999px",
        "color:#fff",
        "",
    ],
)
def test_declarations_that_never_hide_have_no_family(body: str) -> None:
    assert families_of(body) == set()


@pytest.mark.parametrize(
    ("body", "external", "inline", "hides"),
    [
        ("color:#fff", False, False, True),
        ("color:#fff", True, False, False),
        ("color:#fff", True, True, True),
        ("color:transparent", True, False, True),
        ("color:#333", False, False, False),
    ],
    ids=["white", "external-sheet", "inline-style", "transparent", "dark"],
)
def test_text_colours_that_are_unreadable_on_white(
    body: str, external: bool, inline: bool, hides: bool
) -> None:
    effects = effects_of(body)
    assert (
        HidingColours([effects], external=external).hides_on_white(effects, inline=inline) is hides
    )


def test_text_colour_close_to_some_background_may_hide() -> None:
    black, near_black, red = map(effects_of, ("color:#000", "background:#010101", "background:red"))
    colours = HidingColours([black, near_black, red], external=False)
    assert colours.hides_on_background(black)
    assert colours.sets_background(near_black)
    assert not colours.sets_background(red)


@pytest.mark.parametrize(
    ("body", "colours"),
    [
        ("color:red;color : blue !important", ("red", "blue")),
        ("-webkit-text-fill-color:red", ("red",)),
        ("background-color:red;border-color:blue;xcolor:green", ()),
        ("color;color:", ()),
    ],
    ids=["twice", "fill", "other-colours", "no-value"],
)
def test_only_text_colours_are_read(body: str, colours: tuple[str, ...]) -> None:
    assert effects_of(body).colours == colours

"""Declarations that may hide something are told from those that never do."""

import pytest

from kindly.extract.visibility.hiding import families_of


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
def test_what_may_hide_is_suspect(body: str, family: str) -> None:
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
def test_what_never_hides_is_not_suspect(body: str) -> None:
    assert families_of(body) == set()

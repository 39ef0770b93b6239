import pytest
from turbohtml import parse

from kindly.extract.visibility.css import Cascade
from kindly.extract.visibility.text_visibility import TextStyles, may_hide_text


def hidden_text(markup: str, *, external: bool = False) -> list[str]:
    """The hidden text nodes below the first element of the body."""
    document = parse(f"<body>{markup}")
    element = document.select_one("body > *")
    assert element is not None
    styles = TextStyles(Cascade(document), external=external)
    return sorted(text.data for text in styles.hidden_text(element))


@pytest.mark.parametrize(
    ("markup", "hidden"),
    [
        ("<p style='color:#fff'>a</p>", ["a"]),
        ("<p style='color:#fff; background:#000'>a</p>", []),
        ("<div style='background:#000'><p style='color:#fff'>a</p></div>", []),
        ("<div style='color:#fff'>a<p style='color:#000'>b</p></div>", ["a"]),
        ("<div style='visibility:hidden'>a<b style='visibility:visible'>b</b><i>c</i></div>", ["a", "c"]),
        ("<div style='font-size:0'>a<b style='font-size:12px'>b</b><i style='font-size:2em'>c</i></div>", ["a", "c"]),
        ("<p><font color=white>a</font>b</p>", ["a"]),
        ("<p style='color:transparent; background-clip:text'>a</p>", []),
        ("<p style='color:#fff; background-image:url(x)'>a</p>", []),
        ("<p style='color:transparent'>a</p>", ["a"]),
    ],
    ids=[
        "white-on-white",
        "own-background",
        "inherited-background",
        "overridden-colour",
        "visibility",
        "font-size",
        "font-element",
        "background-clip",
        "background-image",
        "transparent",
    ],
)  # fmt: skip
def test_hidden_text_follows_inherited_styles(markup: str, hidden: list[str]) -> None:
    assert hidden_text(markup) == hidden


def test_external_stylesheet_makes_the_background_of_named_elements_unknown() -> None:
    markup = "<div class=box><p style='color:#fff'>a</p></div>"
    assert hidden_text(markup) == ["a"]
    assert hidden_text(markup, external=True) == []


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ({"visibility": "hidden"}, True),
        ({"font-size": "1px"}, True),
        ({"font": "0/0 a"}, True),
        ({"color": "#fff"}, True),
        ({"color": "var(--x)"}, False),
        ({"font-size": "12px"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_styles_that_may_hide_text(style: dict[str, str], expected: bool) -> None:
    assert may_hide_text(style) is expected

import pytest
from turbohtml import Document, parse

from kindly.extract.visibility.css import Cascade


def document_of(
    css: str, markup: str = "<p class=a id=b style='{}'>x</p>", style: str = ""
) -> Document:
    return parse(f"<style>{css}</style><body>{markup.format(style)}")


def display(css: str, style: str = "") -> str | None:
    document = document_of(css, style=style)
    element = document.select_one("p")
    assert element is not None
    return Cascade(document).of(element).get("display")


@pytest.mark.parametrize(
    ("css", "style", "expected"),
    [
        (".a{display:none}", "", "none"),
        (".a{display:none} p{display:block}", "", "none"),
        ("p{display:none} .a{display:block}", "", "block"),
        (".a{display:none} #b{display:block}", "", "block"),
        (".a{display:block} .a{display:none}", "", "none"),
        (".a{display:none!important} #b{display:block}", "", "none"),
        (".a{display:block}", "display:none", "none"),
        (".a{display:block!important}", "display:none", "block"),
        (".a:hover{display:none}", "", None),
        (".other{display:none}", "", None),
    ],
    ids=[
        "rule",
        "class-over-tag",
        "tag-under-class",
        "id-over-class",
        "later-rule",
        "important",
        "inline-over-rule",
        "important-over-inline",
        "state",
        "other-element",
    ],
)
def test_importance_specificity_and_order_decide(
    css: str, style: str, expected: str | None
) -> None:
    assert display(css, style) == expected


def test_elements_that_no_declaration_may_hide_have_no_style() -> None:
    document = document_of(".a{display:block; margin:0} p{color:#333}")
    assert list(Cascade(document)) == []


def test_iteration_is_in_document_order() -> None:
    document = document_of(
        ".x{display:none}", "<div class=x>1</div><p>2</p><div class=x>3</div><i class=x>4</i>"
    )
    assert [element.text for element in Cascade(document)] == ["1", "3", "4"]


def test_relatives_of_hidden_text_have_their_styles_too() -> None:
    """Visibility is inherited, so that a descendant can show itself again."""
    document = document_of(
        ".x{visibility:hidden} .y{visibility:visible}", "<div class=x>1<b class=y>2</b></div>"
    )
    cascade = Cascade(document)
    inner = document.select_one("b")
    assert inner is not None
    assert cascade.of(inner) == {"visibility": "visible"}


def test_hidden_attribute_makes_a_candidate_of_an_element() -> None:
    document = document_of(".x{display:block}", "<div class=x hidden>1</div>")
    element = document.select_one("div")
    assert element is not None
    assert Cascade(document).of(element) == {"display": "block"}

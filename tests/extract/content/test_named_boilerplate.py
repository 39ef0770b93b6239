import pytest

from kindly.extract.content.named_boilerplate import (
    NAMED,
    PROMOS,
    boilerplate_elements,
    names_boilerplate,
)
from tests.support.html_pages import blocks_of, read

STORY = "<p>A sentence of the story that goes on for a while and says something.</p>" * 20
NOTE = "<p>Something else that is said beside the story.</p>"


def found(markup: str) -> list[str]:
    """The names of the elements that are boilerplate."""
    blocks = blocks_of(markup)
    return [blocks.names[at] for at in boilerplate_elements(blocks)]


@pytest.mark.parametrize(
    ("classes", "identity", "expected"),
    [
        ("sidebar", "", True),
        ("site-footer", "", True),
        ("SiteFooter_root__x7", "", True),
        ("page__related", "", True),
        ("box cookie-consent", "", True),
        ("promo-strip", "", True),
        ("", "footer", True),
        ("", "main-menu-container", True),
        ("", "sql-for-share", False),
        ("shared-memory", "", False),
        ("relatedness", "", False),
        ("layout-has-sidebar", "", False),
        ("sidebar-enabled--false", "", False),
        ("tag-cookies", "", False),
        ("customer-card-footer", "", False),
        ("post-share", "", True),
        ("", "", False),
    ],
    ids=str,
)
def test_names_are_compared_word_by_word(classes: str, identity: str, expected: bool) -> None:
    assert names_boilerplate(classes, identity, NAMED | PROMOS) is expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<div class=sidebar>{NOTE}</div><main>{STORY}</main>", ["sidebar"]),
        (f"<div id=footer>{NOTE}</div><div role=main>{STORY}</div>", ["footer"]),
        (f"<article>{STORY}</article><div class=related><article>{NOTE}</article></div>", ["related"]),
        (f"<main>{STORY}</main><ul class=menu><li class=menu-item>{NOTE}</ul>", ["menu"]),
        (f"<div class=footer>{NOTE}</div><div>{STORY}</div>", ["footer"]),
        (f"<main><div class=sidebar>{NOTE}</div>{STORY}</main>", []),
        (f"<div class=sidebar><main>{STORY}</main></div>", []),
        (f"<div class=sidebar>{STORY}</div><main>{NOTE}</main>", []),
        (f"<div class=menu><h1>Title</h1>{NOTE}</div><main>{STORY}</main>", []),
        (f"<div class=promo>{NOTE}</div><div>{STORY}</div>", []),
        (f"<main>{STORY}</main><div class=sidebar></div>", []),
        (f"<main>{STORY}</main><h2 class=menu>Menu</h2>", []),
    ],
    ids=[
        "beside main", "beside role=main", "related articles", "outermost", "page without a main element",
        "inside main", "around main", "most of the text", "with the title", "offers may be the content", "empty",
        "heading",
    ],
)  # fmt: skip
def test_named_elements_outside_the_main_element(markup: str, expected: list[str]) -> None:
    assert found(markup) == expected


def test_table_of_contents_in_a_sidebar_is_kept() -> None:
    parts = [f"Chapter of the {word}" for word in ("wasps", "bees", "ants", "flies")]
    entries = "".join(f"<li><a href=#x>{part}</a></li>" for part in parts)
    chapters = "".join(f"<h2>{part}</h2>{STORY}" for part in parts)
    text = read(
        f"<div class=sidebar><ul>{entries}</ul></div><main><h1>X</h1>{chapters}</main>"
    ).text
    assert text.count("Chapter of the bees") == 2

import numpy as np
import pytest

from kindly.extract.content.blocks import Blocks
from kindly.extract.content.outline import (
    with_authors,
    with_footnotes,
    with_formulas,
    with_headings,
    with_likely_headings,
    with_tables_of_contents,
)
from tests.support.html_pages import blocks_of

ENTRIES = "<li><a href=#a>Ebb</a></li><li><a href=#b>Flow</a></li><li><a href=#c>Moon!</a></li>"
SECTIONS = "<h2>Ebb</h2><p>low</p><h2>Flow</h2><p>high</p><h2>Moon</h2><p>pull</p>"


def kept(blocks: Blocks, flags: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> list[str]:
    return [text for text, keep in zip(blocks.texts, flags, strict=True) if keep]


@pytest.mark.parametrize(
    ("markup", "texts"),
    [
        ("<h2>One</h2><p>*a</p>", ["One", "*a"]),
        ("<h2>One</h2><h3>Two</h3><p>*a</p>", ["One", "Two", "*a"]),
        ("<h3>One</h3><h2>Two</h2><p>*a</p>", ["Two", "*a"]),
        ("<h1>One</h1><h2>Two</h2><h3>Three</h3><p>*a</p>", ["Two", "Three", "*a"]),
        ("<h2>One</h2><p>a</p>", []),
        ("<p>*a</p><h2>Last</h2>", ["*a"]),
        ("<h2>One<p>more</p></h2><p>*a</p>", ["One", "more", "*a"]),
        ("<h2></h2><p>*a</p>", ["*a"]),
        ("<h2>One</h2><span>js</span><pre>*a</pre>", ["One", "*a"]),
        ("<h2>One</h2><p>May 5</p><p>*a</p>", ["One", "*a"]),
        ("<h1>One</h1><p>May 5</p><p>*a</p>", ["*a"]),
        (f"<h2>One</h2><p>{'long ' * 20}</p><p>*a</p>", ["*a"]),
        ("<h2>One</h2><p>b</p><h3>*a</h3>", ["*a"]),
        ("<h2>One</h2><p>b</p><p>c</p><p>*a</p>", ["*a"]),
    ],
    ids=[
        "above",
        "two",
        "deeper-above",
        "three",
        "of-dropped-text",
        "below",
        "in-pieces",
        "empty",
        "label-of-code",
        "above-a-date",
        "title-above-a-date",
        "above-other-text",
        "above-another-section",
        "above-two-texts",
    ],
)
def test_heading_directly_above_kept_text_is_kept(markup: str, texts: list[str]) -> None:
    blocks = blocks_of(markup)
    keep = np.array([text.startswith("*") for text in blocks.texts])
    assert kept(blocks, with_headings(blocks, keep)) == texts


@pytest.mark.parametrize(
    ("markup", "probability", "texts"),
    [
        ("<p>*a</p><h3>Card</h3><p>b</p><p>*c</p>", 0.4, ["*a", "Card", "*c"]),
        ("<p>*a</p><h3>Card</h3><p>b</p><h3>Next</h3><p>*c</p>", 0.4, ["*a", "Card", "Next", "*c"]),
        ("<p>*a</p><h3>Card</h3><p>b</p><p>*c</p>", 0.2, ["*a", "*c"]),
        ("<p>*a</p><h3>Card</h3><p>b</p><h3>*c</h3>", 0.4, ["*a", "*c"]),
        ("<h3>Card</h3><p>b</p><p>*a</p>", 0.4, ["*a"]),
        ("<p>*a</p><h3>Card</h3>", 0.4, ["*a"]),
        ("<p>*a</p><h3>Card</h3>", 0.7, ["*a", "Card"]),
        ("<p>*a</p><h3>Card</h3><p>b</p><h3>*c</h3>", 0.7, ["*a", "Card", "*c"]),
    ],
    ids=[
        "between",
        "several",
        "unlikely",
        "above-kept-heading",
        "before-the-text",
        "after-the-text",
        "certain",
        "certain-above-kept-heading",
    ],
)
def test_likely_heading_is_kept_without_its_text(
    markup: str, probability: float, texts: list[str]
) -> None:
    blocks = blocks_of(markup)
    keep = np.array([text.startswith("*") for text in blocks.texts])
    probabilities = np.full(len(keep), probability, np.float32)
    assert kept(blocks, with_likely_headings(blocks, keep, probabilities)) == texts


def test_displayed_formula_between_kept_texts_is_kept() -> None:
    blocks = blocks_of("<p>$$y$$</p><p>*a</p><div>$$x^2$$</div><p>*b</p><p>$$z$$</p><p>c</p>")
    keep = np.array([text.startswith("*") for text in blocks.texts])
    assert kept(blocks, with_formulas(blocks, keep)) == ["*a", "$$x^2$$", "*b"]


def kept_before_sections(markup: str, *, without: int) -> list[str]:
    """The kept texts before `SECTIONS`, if the first blocks are not kept at first and all others are."""
    blocks = blocks_of(markup)
    keep = np.arange(len(blocks.texts)) >= without
    return kept(blocks, with_tables_of_contents(blocks, keep))[: -len(blocks_of(SECTIONS).texts)]


def test_list_of_the_kept_headings_is_kept() -> None:
    assert kept_before_sections(f"<ul>{ENTRIES}</ul>{SECTIONS}", without=3) == [
        "Ebb",
        "Flow",
        "Moon!",
    ]


def test_numbers_of_headings_and_entries_are_ignored() -> None:
    numbered = "<h2>1. Ebb</h2><p>low</p><h2>2. Flow</h2><p>high</p><h2>3. Moon</h2><p>pull</p>"
    assert kept_before_sections(f"<ul>{ENTRIES}</ul>{numbered}", without=3) == [
        "Ebb",
        "Flow",
        "Moon!",
    ]
    assert kept_before_sections(
        f"<div><li>1.1 Ebb<li>1.2 Flow<li>1.3 Moon</div>{SECTIONS}", without=3
    ) == [
        "1.1 Ebb",
        "1.2 Flow",
        "1.3 Moon",
    ]


def test_buttons_that_fold_a_table_of_contents_are_left_out() -> None:
    folding = ENTRIES.replace("</li>", "<button>Toggle this part</button></li>", 1)
    assert kept_before_sections(f"<ul>{folding}</ul>{SECTIONS}", without=4) == [
        "Ebb",
        "Flow",
        "Moon!",
    ]


def test_buttons_that_are_entries_are_kept() -> None:
    buttons = "<li><button>Ebb</button><li><button>Flow</button><li><button>Moon</button>"
    assert kept_before_sections(f"<ul>{buttons}</ul>{SECTIONS}", without=3) == [
        "Ebb",
        "Flow",
        "Moon",
    ]


def test_list_within_a_menu_is_kept_without_the_menu() -> None:
    menu = f"<ul><li>Home<li>News<li>Shop<li>Here<ul>{ENTRIES}</ul></li></ul>"
    assert kept_before_sections(menu + SECTIONS, without=7) == ["Ebb", "Flow", "Moon!"]


def test_second_list_of_the_same_headings_is_dropped() -> None:
    assert kept_before_sections(f"<ul>{ENTRIES}</ul><ol>{ENTRIES}</ol>{SECTIONS}", without=6) == [
        "Ebb",
        "Flow",
        "Moon!",
    ]
    assert kept_before_sections(f"<ul>{ENTRIES}</ul><ol>{ENTRIES}</ol>{SECTIONS}", without=3) == [
        "Ebb",
        "Flow",
        "Moon!",
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "<ul><li>Home<li>News<li>Shop</ul>",
        "<ul><li>Ebb<li>News<li>Shop<li>Help</ul>",
        "<ul><li>Ebb<li>Flow</ul>",
        "<ul><li><h3>Ebb</h3><li><h3>Flow</h3><li><h3>Moon</h3></ul>",
    ],
    ids=["other-words", "few-matches", "short", "headings-themselves"],
)
def test_other_lists_are_not_tables_of_contents(markup: str) -> None:
    assert kept_before_sections(markup + SECTIONS, without=len(blocks_of(markup).texts)) == []


def test_page_of_few_headings_has_no_table_of_contents() -> None:
    blocks = blocks_of(f"<ul>{ENTRIES}</ul><h2>Ebb</h2><p>low</p>")
    keep = np.array([False, False, False, True, True])
    assert with_tables_of_contents(blocks, keep).tolist() == keep.tolist()


@pytest.mark.parametrize(
    ("page", "entries"),
    [
        ("<nav><ul>{}</ul></nav><article>{}</article>", []),
        ("<aside><ul>{}</ul></aside><div>{}</div>", []),
        ("<div role=navigation><ul>{}</ul></div><div>{}</div>", []),
        ("<div><ul>{}</ul></div><article>{}</article>", ["Ebb", "Flow", "Moon!"]),
        ("<article><nav><ul>{}</ul></nav>{}</article>", ["Ebb", "Flow", "Moon!"]),
    ],
    ids=["navigation", "aside", "role", "box", "in-the-text"],
)
def test_table_of_contents_in_navigation_beside_the_text_is_left_out(
    page: str, entries: list[str]
) -> None:
    assert kept_before_sections(page.format(ENTRIES, SECTIONS), without=3) == entries
    assert kept_before_sections(page.format(ENTRIES, SECTIONS), without=0) == entries


@pytest.mark.parametrize(
    ("entries", "text", "article", "texts"),
    [
        (ENTRIES, "pull", True, ["Ebb", "Flow", "Moon!"]),
        (ENTRIES, "pull " * 3_200, False, ["Ebb", "Flow", "Moon!"]),
        (ENTRIES, "pull " * 3_100, False, []),
        (ENTRIES.replace("#", "/"), "pull", True, []),
        (ENTRIES.replace("#", "/", 1), "pull", True, ["Ebb", "Flow", "Moon!"]),
        (ENTRIES.replace("href", "name"), "pull", True, ["Ebb", "Flow", "Moon!"]),
    ],
    ids=["article", "long", "shorter", "other-pages", "mostly-this-page", "without-links"],
)
def test_article_or_long_text_has_the_table_of_contents_beside_it(
    entries: str, text: str, *, article: bool, texts: list[str]
) -> None:
    sections = SECTIONS.replace("pull", text)
    blocks = blocks_of(f"<nav><ul>{entries}</ul></nav><article>{sections}</article>")
    keep = np.arange(len(blocks.texts)) >= 3
    found = kept(blocks, with_tables_of_contents(blocks, keep, article=article))
    assert found[: -len(blocks_of(SECTIONS).texts)] == texts


def test_table_of_contents_below_the_text_is_left_out() -> None:
    blocks = blocks_of(f"<article>{SECTIONS}</article><div><ul>{ENTRIES}</ul></div>")
    keep = np.ones(len(blocks.texts), np.bool_)
    assert "Moon!" not in kept(blocks, with_tables_of_contents(blocks, keep))


@pytest.mark.parametrize(
    ("notes", "texts"),
    [
        ("<ol class=footnotes><li id=n>Note <a class=footnote-backref>up</a></ol>", ["a 1", "Note up"]),
        ("<aside class=footnote id=n>Note <a role=doc-backlink>1</a></aside>", ["a 1", "Note 1"]),
        ("<ol class=footnotes><li id=other>Note <a class=footnote-backref>up</a></ol>", ["a 1"]),
        ("<ol class=footnotes><li id=n>A book</ol>", ["a 1"]),
        ("<ol class=list><li id=n>Note <a class=footnote-backref>up</a></ol>", ["a 1"]),
    ],
    ids=["list", "single", "of-other-text", "literature", "no-footnote"],
)  # fmt: skip
def test_footnotes_of_kept_text_are_kept(notes: str, texts: list[str]) -> None:
    blocks = blocks_of(f"<p>a <sup><a href='#n'>1</a></sup></p><p>menu</p>{notes}")
    keep = np.arange(len(blocks.texts)) == 0
    assert kept(blocks, with_footnotes(blocks, keep)) == texts


def posts(name: str) -> str:
    """Two posts whose authors are marked, each name in the given element."""
    author = f"<section itemprop=author><{name} itemprop=name>%s</{name}></section>"
    post = (
        "<article itemscope itemtype=https://schema.org/Comment>" + author + "<p>%s</p></article>"
    )
    return post % ("Ann", "one") + post % ("Bo", "two")


@pytest.mark.parametrize(
    ("name", "chosen", "texts"),
    [
        ("h4", ["one"], ["Ann", "one"]),
        ("div", ["one", "Bo", "two"], ["Ann", "one", "Bo", "two"]),
        ("div", ["one", "two"], ["one", "two"]),
    ],
    ids=["heading", "as in other posts", "no name kept"],
)
def test_author_of_a_kept_post_is_kept(name: str, chosen: list[str], texts: list[str]) -> None:
    blocks = blocks_of(posts(name))
    keep = np.array([text in chosen for text in blocks.texts])
    assert kept(blocks, with_authors(blocks, keep)) == texts


def test_author_of_a_page_without_posts_is_left_out() -> None:
    blocks = blocks_of("<div itemprop=author><h4 itemprop=name>Ann</h4></div><p>text</p>")
    keep = np.array([False, True])
    assert kept(blocks, with_authors(blocks, keep)) == ["text"]

import pytest

from kindly.extract.repeats import copies
from tests.support.html_pages import read

LONG = "Bees see ultraviolet light, and the flowers that they visit show them the way with marks that no others see."
OTHER = LONG.replace("Bees", "Wasps")


@pytest.mark.parametrize(
    ("texts", "dropped"),
    [
        ([LONG, OTHER], set()),
        ([f"a{' ' * 200}b", f"a{' ' * 200}b"], set()),
        ([LONG, LONG.replace(" ", "\n ")], {1}),
        ([LONG, OTHER, LONG], {2}),
        ([LONG, LONG, LONG], {1, 2}),
        (["Add to cart", "Add to cart"], set()),
        (["Title", LONG, "Buy", "Title", LONG, "Buy", "End"], {3, 4, 5}),
        (["One", LONG, "Two", LONG], {3}),
        (["Title", LONG, OTHER, "Title", LONG, OTHER], {3, 4, 5}),
    ],
)
def test_later_copies_of_long_texts_go_with_what_belongs_to_them(
    texts: list[str], dropped: set[int]
) -> None:
    assert set(copies(texts, [True] * len(texts))) == dropped


def test_only_candidates_count() -> None:
    assert copies([LONG, LONG, LONG], [False, True, True]) == {2: 1}
    assert copies([LONG, LONG], [True, False]) == {}


def test_a_page_with_copies_has_each_text_once() -> None:
    rest = "".join(f"<p>Paragraph {n} of an article. {LONG[n:]}</p>" for n in range(1, 15))
    copy = f"<h2>What bees see</h2><p>{LONG}</p>"
    text = read(f"<main><h1>Bees</h1><div>{copy}</div>{rest}<div>{copy}</div></main>").text
    assert text.count(LONG) == 1
    assert text.count("What bees see") == 1


def test_a_quote_of_a_whole_post_above_is_dropped_and_a_part_of_one_stays() -> None:
    rest = "".join(f"<p>Paragraph {n} of a thread. {LONG[n:]}</p>" for n in range(1, 15))
    part = " ".join(LONG.split()[:12])
    quotes = f"<blockquote><p>{LONG}</p></blockquote><p>So it is.</p><blockquote><p>{part}</p></blockquote>"
    text = read(
        f"<main><h1>Bees</h1><p>{LONG}</p>{rest}<div>{quotes}<p>{OTHER}</p></div></main>"
    ).text
    assert text.count(LONG) == 1
    assert f"> {part}\n" in text


@pytest.mark.parametrize("tag", ["pre", "td"])
def test_code_and_cells_may_repeat(tag: str) -> None:
    rest = "".join(f"<p>Paragraph {n} of an article. {LONG[n:]}</p>" for n in range(1, 15))
    element = f"<{tag}>{LONG}</{tag}>"
    part = f"<table><tr>{element}<td>1</td></tr></table>" if tag == "td" else element
    text = read(
        f"<main><h1>Bees</h1>{rest[: len(rest) // 2]}{part}<p>Then {OTHER}</p>{part}{rest}</main>"
    ).text
    assert text.count(LONG) == 2


def test_texts_side_by_side_may_repeat() -> None:
    parts = "".join(f"<h2>Call {n}</h2><p>{LONG}</p><p>{OTHER[n:]}</p>" for n in range(8))
    assert read(f"<main><h1>Calls</h1>{parts}</main>").text.count(LONG) == 8


def test_items_under_different_headings_may_repeat() -> None:
    plan = "".join(
        f"<h2>Day {n}</h2><ul><li>{LONG}</li><li>{OTHER[n:]}</li></ul>" for n in range(8)
    )
    text = read(f"<main><h1>Bees</h1>{plan}</main>").text
    assert text.count(LONG) == 8

import numpy as np
import pytest

from kindly.extract.content.choose import (
    best_expected_f1,
    maximise_expected_f1,
    pool_structures,
    select_blocks,
    sigmoid,
    with_data_tables,
    with_introduced,
    with_whole_tables,
)
from tests.support.html_pages import blocks_of, floats


def test_blocks_are_added_while_the_expected_f1_rises() -> None:
    keep = maximise_expected_f1(floats(0.9, 0.05, 0.6, 0.01), floats(50, 100, 20, 200))
    assert keep.tolist() == [True, False, True, False]


def test_more_than_the_probable_half_is_kept_where_little_is_certain() -> None:
    keep = maximise_expected_f1(floats(0.45, 0.4, 0.35, 0.01), floats(50, 50, 50, 50))
    assert keep.tolist() == [True, True, True, False]


def test_at_least_one_block_is_kept() -> None:
    assert maximise_expected_f1(floats(0.01, 0.02), floats(10, 10)).any()


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [((1.0, 0.0), 1.0), ((0.5, 0.5), 2 / 3), ((1.0, 1.0), 1.0)],
    ids=["certain", "even", "all"],
)
def test_expected_f1_is_that_of_the_best_selection(
    probabilities: tuple[float, float], expected: float
) -> None:
    assert best_expected_f1(floats(*probabilities), floats(10, 10)) == pytest.approx(expected)


def test_sigmoid_turns_log_odds_into_probabilities() -> None:
    assert sigmoid(floats(0, 20, -20)).tolist() == pytest.approx([0.5, 1, 0], abs=1e-6)


def test_table_and_short_list_share_one_probability_and_long_lists_do_not() -> None:
    blocks = blocks_of(
        "<p>a</p><table><tr><td>b</td><td>c</td></tr></table><ul><li>d</li><li>e</li></ul>"
    )
    words = floats(9, 1, 3, 40, 40)
    pooled = pool_structures(blocks, floats(0.9, 0.2, 0.6, 0.1, 0.8), words)
    assert pooled == pytest.approx(floats(0.9, 0.7674, 0.7674, 0.1, 0.8), abs=1e-4)


def test_list_has_better_odds() -> None:
    blocks = blocks_of("<p>a</p><ul><li>b<li>c</ul>")
    pooled = pool_structures(blocks, floats(0.9, 0.4, 0.6), floats(9, 1, 1))
    assert pooled == pytest.approx(floats(0.9, 1.6 / 2.6, 1.6 / 2.6))


def test_code_of_any_length_has_better_odds() -> None:
    blocks = blocks_of("<p>a</p><pre>b</pre><pre>c<p>d</p></pre>")
    pooled = pool_structures(blocks, floats(0.5, 0.5, 0.2, 0.4), floats(1, 900, 5, 5))
    assert pooled == pytest.approx(floats(0.5, 6 / 7, 0.72, 0.72))


def test_heading_of_a_selected_block_is_selected_too() -> None:
    blocks = blocks_of("<h2>Title</h2><p>text</p><p>advertisement</p>")
    keep = select_blocks(blocks, floats(0.01, 0.99, 0.01), floats(1, 100, 100))
    assert keep.tolist() == [True, True, False]


def test_table_of_contents_beside_an_article_is_selected() -> None:
    names = ("Ebb", "Flow", "Moon")
    entries = "".join(f"<li><a href=#{name}>{name}</a>" for name in names)
    sections = "".join(f"<h2>{name}</h2><p>text of {name}</p>" for name in names)
    blocks = blocks_of(f"<nav><ul>{entries}</ul></nav><div>{sections}</div>")
    probabilities, words = floats(*[0.01] * 3, *[0.99] * 6), floats(*[1] * 3, *[50] * 6)
    assert select_blocks(blocks, probabilities, words, article=True).tolist() == [True] * 9
    assert select_blocks(blocks, probabilities, words).tolist() == [False] * 3 + [True] * 6


TABLE = "<table><tr><th>a<th>b<tr><td>1<td>2</table>"
CODE = "<table><tr><td>1 2<td><pre>x = 1</pre></table>"
LIST = "<ul><li>one<li>two</ul>"
LINKS = "<ul><li><a href=/t>tag</a><li><a href=/o>other</a></ul>"
TABLE_CELLS = ["a", "b", "1", "2"]


@pytest.mark.parametrize(
    ("markup", "probability", "texts"),
    [
        (f"<p>*a</p>{TABLE}<p>*z</p>", 0.3, TABLE_CELLS),
        (f"<p>*a</p><h2>Rows</h2>{TABLE}<p>*z</p>", 0.3, ["Rows", *TABLE_CELLS]),
        (f"<p>*a</p>{TABLE}<p>*z</p>", 0.2, []),
        (f"<p>*a</p>{TABLE}<p>z</p>", 0.9, []),
        (f"<p>x</p>{TABLE}<p>*z</p>", 0.9, []),
        (f"{TABLE}<p>*z</p>", 0.9, []),
        (f"<p>*a</p>{TABLE.replace('th>', 'td>')}<p>*z</p>", 0.9, []),
        (f"<p>*a</p>{CODE}<p>*z</p>", 0.3, ["1 2", "x = 1"]),
        (f"<p>*a</p>{LIST}<p>z</p>", 0.3, ["one", "two"]),
        (f"<p>*a</p><h2>Items</h2>{LIST}", 0.3, ["Items", "one", "two"]),
        (f"<p>x</p><h2>*Items</h2>{LIST}", 0.3, ["one", "two"]),
        (f"<p>*a</p>{LIST}<p>*z</p>", 0.2, []),
        (f"<p>x</p>{LIST}<p>*z</p>", 0.9, []),
        ("<p>*a</p><ul><li>one</ul>", 0.9, []),
        (f"<p>*a</p>{LINKS}", 0.4, []),
        (f"<p>*a</p>{LINKS}", 0.5, ["tag", "other"]),
        ("<p>*a</p><dl><dt>Born<dd>1815</dl>", 0.4, []),
    ],
    ids=[
        "between", "below a heading", "unlikely", "at the end", "after dropped text", "at the start",
        "without a header", "code", "list", "list below a heading", "list below a kept heading",
        "unlikely list", "list after dropped text", "short list", "links", "likely links", "definitions",
    ],
)  # fmt: skip
def test_likely_table_or_list_that_kept_text_introduces_is_kept(
    markup: str, probability: float, texts: list[str]
) -> None:
    blocks = blocks_of(markup)
    keep = np.array([text.startswith("*") for text in blocks.texts])
    found = with_introduced(blocks, keep, floats(*[probability] * len(keep)))
    assert [text for text, new in zip(blocks.texts, found & ~keep, strict=True) if new] == texts


def test_list_below_an_unlikely_heading_is_not_introduced() -> None:
    blocks = blocks_of(f"<p>a</p><h2>3 comments</h2>{LIST}")
    keep = np.array([True, *[False] * 3])
    assert with_introduced(blocks, keep, floats(0.9, 0.2, 0.6, 0.6)).tolist() == keep.tolist()


FILMS = """<h2>Films</h2><table><tr><th>Year<th>Film<th>Role</tr>
<tr><td>1976<td>One<td>Ann</tr><tr><td>1979<td>Two<td>Eve</tr><tr><td>1983<td>Three<td></tr></table>"""


@pytest.mark.parametrize(
    ("markup", "probability", "kept"),
    [
        (f"<p>*a</p>{FILMS}<p>z</p>", 0.4, True),
        (f"{FILMS}<p>*a</p>", 0.4, True),
        (f"<p>*a</p>{FILMS}<p>z</p>", 0.3, False),
        (f"<p>*a</p><div>{FILMS}</div>", 0.9, False),
        (f"<p>*a</p>{FILMS.replace('th>', 'td>')}", 0.9, False),
        (f"<p>*a</p>{FILMS.split('<tr><td>1983')[0]}</table>", 0.9, False),
    ],
    ids=["at the end", "at the start", "unlikely", "elsewhere", "without names", "short"],
)
def test_likely_table_of_data_beside_kept_text_is_kept_with_its_heading(
    markup: str, probability: float, kept: bool
) -> None:
    blocks = blocks_of(markup)
    keep = np.array([text.startswith("*") for text in blocks.texts])
    found = with_data_tables(blocks, keep, floats(*[probability] * len(keep)))
    new = {text for text, one in zip(blocks.texts, found & ~keep, strict=True) if one}
    assert ({"Films", "Film", "Two", "Eve"} <= new) is kept
    assert kept or not new


@pytest.mark.parametrize(
    ("markup", "outside", "kept"),
    [
        (FILMS.replace("<td>", "<td>*"), 0.1, {"Year", "Film", "Role"}),
        (FILMS.replace("<td>19", "<td>*19"), 0.1, set()),
        (FILMS.replace("<td>", "<td>*"), 0.0, set()),
        (FILMS.replace("<td>", "<td>*").replace("th>", "td>"), 0.1, set()),
    ],
    ids=["most is kept", "little is kept", "boilerplate", "without names"],
)
def test_table_of_data_that_is_mostly_kept_is_kept_whole(
    markup: str, outside: float, kept: set[str]
) -> None:
    blocks = blocks_of(markup)
    keep = np.array([text.startswith("*") for text in blocks.texts])
    words = floats(*[len(text.split()) for text in blocks.texts])
    found = with_whole_tables(blocks, keep, floats(*[outside] * len(keep)), words)
    assert {text for text, one in zip(blocks.texts, found & ~keep, strict=True) if one} == kept

from kindly.extract.content.ancestors import ANCESTOR_LEVELS, Ancestors, Level, read_ancestors
from kindly.extract.content.blocks import BITS
from kindly.extract.content.char_counts import count_characters
from kindly.extract.content.lexicon import Lexicon
from tests.support.html_pages import blocks_of

LEXICON = Lexicon({"side": -2.0, "body": 1.5}, {})
PAGE = (
    "<nav class=side><ul><li>a</li><li>b</li></ul></nav>"
    "<article class=body><p>one two three</p><div class=side><p>four</p></div></article>"
)


def ancestors_of(markup: str) -> Ancestors:
    blocks = blocks_of(markup)
    return read_ancestors(blocks, LEXICON, count_characters(blocks.texts).words)


def test_chain_leads_from_the_element_to_the_root() -> None:
    """Elements in order: body, nav, ul, li, li, article, p, div, p."""
    chain = ancestors_of(PAGE).chain
    assert chain.shape == (4, ANCESTOR_LEVELS + 2)
    assert chain[:, Level.ELEMENT].tolist() == [3, 4, 6, 8]
    assert chain[:, Level.PARENT].tolist() == [2, 2, 5, 7]
    assert chain[:, Level.GRANDPARENT].tolist() == [1, 1, 0, 5]


def test_section_is_the_largest_element_with_less_than_most_words() -> None:
    """The article has four of six words, the nav two: both are sections."""
    assert ancestors_of(PAGE).chain[:, Level.SECTION].tolist() == [1, 1, 5, 5]


def test_spans_give_the_blocks_of_each_element() -> None:
    spans = ancestors_of(PAGE).spans.tolist()
    assert spans[:2] == [[0, 4], [0, 2]]
    assert spans[5] == [2, 4]


def test_marks_and_scores_are_inherited_from_all_ancestors() -> None:
    ancestors = ancestors_of(PAGE)
    assert ancestors.own_marks.tolist() == [BITS["li"], BITS["li"], 0, 0]
    assert ancestors.marks.tolist()[0] == BITS["li"] | BITS["nav"]
    assert ancestors.marks.tolist()[3] == BITS["article"]
    low, high, lowest, highest, path_sum, parent_sum = ancestors.scores[3].tolist()
    assert (low, high) == (0, 0)
    assert (lowest, highest, path_sum, parent_sum) == (-2.0, 1.5, -0.5, -2.0)


def test_siblings_with_the_same_signature_are_counted_and_grouped() -> None:
    ancestors = ancestors_of(PAGE)
    assert ancestors.repeats.tolist() == [[2, 2], [2, 2], [1, 1], [1, 1]]
    groups = ancestors.groups.tolist()
    assert groups[0] == groups[1]
    assert len({groups[0], groups[2], groups[3]}) == 3, "the parents of both paragraphs differ"


def test_blocks_of_the_outermost_grid_share_a_number() -> None:
    card = "<div class=card><ul><li>a</li><li>b</li><li>c</li></ul></div>"
    pair = "<ol><li>y</li><li>z</li></ol>"
    grids = ancestors_of(f"<div class=card>x</div>{card}<div class=card>w</div>{pair}").grids
    assert len(set(grids[:5].tolist())) == 1
    assert len(set(grids.tolist())) == 3, "two items are no grid"

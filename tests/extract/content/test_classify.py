import numpy as np
import pytest
from turbohtml import parse

from kindly.extract.content.block_features import shifted, tabulate
from kindly.extract.content.blocks import Blocks, read_blocks
from kindly.extract.content.char_counts import count_characters
from kindly.extract.content.choose import choose, evened
from kindly.extract.content.classify import blend, has_doubts, load_model
from kindly.extract.content.lexicon import Lexicon, first_words, name_words
from kindly.extract.content.page_kind import Hints, read_hints
from kindly.extract.content.trees import FEATURE_BITS, Trees


def blocks_of(markup: str) -> Blocks:
    body = parse(f"<body>{markup}").select_one("body")
    assert body is not None
    return read_blocks(body)


def numbers(*values: float) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    return np.array(values, np.float32)


def test_trees_send_each_row_to_its_leaf() -> None:
    """One tree: feature 1 at most 5 → 2.0, else feature 0 at most 0 → -1.0, else 3.0; and a tree that is one leaf."""
    step = np.array(
        [1 << FEATURE_BITS | 1, 1 << FEATURE_BITS, 3 << FEATURE_BITS, 3 << FEATURE_BITS]
    )
    step = np.concatenate((step, np.array([4 << FEATURE_BITS, 5 << FEATURE_BITS])))
    trees = Trees(
        roots=np.array([0, 5]),
        step=step,
        threshold=numbers(5, np.inf, 0, np.inf, np.inf, np.inf),
        value=numbers(0, 2, 0, -1, 3, 0.5),
        depth=2,
    )
    rows = np.array([[0, 5], [0, 6], [1, 6]], np.float32)
    assert trees.grown().odds(rows).tolist() == [2.5, -0.5, 3.5]


def test_shipped_model_has_words_trees_and_networks() -> None:
    model = load_model()
    assert model.lexicon.names["sidebar"] < 0 < model.lexicon.names["prose"]
    assert model.forest.size > 10
    assert len(model.panel.networks) == 2
    assert load_model() is model


def test_only_a_page_that_is_not_clear_leaves_doubts() -> None:
    words = numbers(100, 100)
    assert not has_doubts(numbers(9, -9), words)
    assert has_doubts(numbers(1, -1), words)


def test_opinions_are_blended_by_their_odds() -> None:
    assert blend([numbers(1, -2), numbers(3, 0)]).tolist() == [2, -1]


def test_matrix_has_a_finite_row_for_every_block() -> None:
    blocks = blocks_of(
        "<nav><a href=/>Home</a></nav><h1>Tides</h1><p>The sea rises.</p><p>日本。</p>"
    )
    table = tabulate(blocks, Hints("Tides", "/a?b", frozenset({"article"})), load_model().lexicon)
    assert len(table.matrix) == 4
    assert np.isfinite(table.matrix).all()


def test_single_block_can_be_scored() -> None:
    keep = load_model().keep(blocks_of("<p>Alone.</p>"), Hints())
    assert keep.tolist() == [True]


def test_characters_are_counted_by_kind() -> None:
    counts = count_characters(["Costs $5, or $10.", "日本。", "x"])
    assert counts.words.tolist() == [4, 3, 1]
    assert counts.kinds[0].tolist() == [3, 1, 1, 2, 0]
    assert counts.sentences.tolist() == [1, 1, 0]
    assert counts.edges.tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("by", "expected"), [(1, [0, 1, 2]), (-1, [2, 3, 0]), (5, [0, 0, 0])], ids=str
)
def test_neighbours_beyond_the_ends_are_nought(by: int, expected: list[float]) -> None:
    assert shifted(numbers(1, 2, 3), by).tolist() == expected


def test_words_speak_for_and_against() -> None:
    lexicon = Lexicon({"side": -2.0, "body": 1.5}, {"share": -1.0})
    assert lexicon.of_names("sideBar body") == (-2.0, 1.5)
    assert lexicon.of_names("") == (0.0, 0.0)


def test_names_are_read_in_any_spelling() -> None:
    assert name_words("postBody post-meta HTMLView x") == ("post", "body", "meta", "html", "view")


def test_words_written_as_one_are_told_apart() -> None:
    assert name_words("relatedpoststitle") == ("relatedpoststitle", "related", "post", "title")


def test_only_short_texts_have_first_words() -> None:
    assert first_words("Read more, 3 min") == ["read", "more", "min"]
    assert first_words("long " * 50) == []


def test_blocks_are_taken_while_the_expected_agreement_rises() -> None:
    keep = choose(numbers(0.9, 0.05, 0.6, 0.01), numbers(50, 100, 20, 200))
    assert keep.tolist() == [True, False, True, False]


def test_where_little_is_certain_more_is_kept_than_the_likely_half() -> None:
    keep = choose(numbers(0.45, 0.4, 0.35, 0.01), numbers(50, 50, 50, 50))
    assert keep.tolist() == [True, True, True, False]


def test_unlikely_blocks_of_an_unlikely_page_are_still_chosen_from() -> None:
    assert choose(numbers(0.01, 0.02), numbers(10, 10)).any()


def test_table_and_list_have_one_chance_and_long_lists_keep_their_own() -> None:
    blocks = blocks_of(
        "<p>a</p><table><tr><td>b</td><td>c</td></tr></table><ul><li>d</li><li>e</li></ul>"
    )
    words = numbers(9, 1, 3, 40, 40)
    even = evened(blocks, numbers(0.9, 0.2, 0.6, 0.1, 0.8), words)
    assert even == pytest.approx(numbers(0.9, 0.7674, 0.7674, 0.1, 0.8), abs=1e-4)


def test_list_has_better_odds() -> None:
    blocks = blocks_of("<p>a</p><ul><li>b<li>c</ul>")
    even = evened(blocks, numbers(0.9, 0.4, 0.6), numbers(9, 1, 1))
    assert even == pytest.approx(numbers(0.9, 1.6 / 2.6, 1.6 / 2.6))


def test_code_of_any_length_has_better_odds() -> None:
    blocks = blocks_of("<p>a</p><pre>b</pre><pre>c<p>d</p></pre>")
    even = evened(blocks, numbers(0.5, 0.5, 0.2, 0.4), numbers(1, 900, 5, 5))
    assert even == pytest.approx(numbers(0.5, 6 / 7, 0.72, 0.72))


def test_hints_come_from_structured_data_and_address() -> None:
    markup = (
        """<meta property="og:type" content="article"><script>{"@type": ["NewsArticle"]}</script>"""
    )
    hints = read_hints(markup, "T", "https://x.example/a/b?c=1")
    assert hints == Hints("T", "/a/b?c=1", frozenset({"og:article", "newsarticle"}))
    assert read_hints("", "", "https://[bad").path == ""

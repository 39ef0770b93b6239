import pytest

from kindly.extract.content.blocks import BITS, MAX_DEPTH
from kindly.extract.markdown import VERBATIM_TAG
from tests.support.html_pages import blocks_of


@pytest.mark.parametrize(
    ("markup", "texts"),
    [
        ("<p>One <b>bold</b> word.</p><p>Two.</p>", ["One bold word.", "Two."]),
        ("<div>Before<p>inside</p>after</div>", ["Before", "inside", "after"]),
        ("<p>a<br>b<br><br>c<br> <br>d</p>", ["a\nb", "c", "d"]),
        ("<br><br><p>x</p>", ["x"]),
        ("<a href=/><h3>Card</h3><p>Text</p></a>", ["Card", "Text"]),
        ("<ul><li>a</li> <li>b</li></ul>", ["a", "b"]),
        ("<p> </p><div><img src=x></div>", []),
        ("<!-- note --><p>x</p>", ["x"]),
    ],
    ids=[
        "inline-joined",
        "loose-text",
        "two-breaks-split",
        "leading-breaks",
        "link-around-blocks",
        "list-items",
        "no-text",
        "comment",
    ],
)
def test_block_level_elements_and_double_breaks_separate_blocks(
    markup: str, texts: list[str]
) -> None:
    assert blocks_of(markup).texts == texts


def test_formula_is_part_of_its_paragraph() -> None:
    assert blocks_of(f"<p>so <{VERBATIM_TAG}>$x$</{VERBATIM_TAG}> holds</p>").texts == [
        "so $x$ holds"
    ]


def test_links_and_images_are_counted() -> None:
    blocks = blocks_of("<p>See <a href=/>this page</a><img src=x> now.</p>")
    assert (blocks.linked, blocks.links, blocks.images) == ([9], [1], [1])


def test_elements_have_parents_spans_names_and_signatures() -> None:
    blocks = blocks_of("<div class='card 12' id=c3><p>a</p><p>b</p></div>")
    assert blocks.tags == ["body", "div", "p", "p"]
    assert blocks.parents == [0, 0, 1, 1]
    assert list(zip(blocks.starts, blocks.ends, strict=True)) == [(0, 2), (0, 2), (0, 1), (1, 2)]
    assert blocks.names[1] == "card  c"
    assert blocks.signatures == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("markup", "mark"),
    [
        ("<nav>x</nav>", "nav"),
        ("<h2>x</h2>", "heading"),
        ("<div role=banner>x</div>", "role-chrome"),
        ("<div itemprop=articleBody>x</div>", "prop-body"),
        ("<div itemprop=sku>x</div>", "prop-trade"),
        ("<div itemprop=unknown>x</div>", "prop-other"),
        ("<div itemtype='https://schema.org/Product'>x</div>", "type-product"),
        ("<div itemtype='https://schema.org/Event'>x</div>", "type-other"),
        ("<div aria-modal=true>x</div>", "popup"),
    ],
)
def test_tags_roles_and_schema_attributes_set_mark_bits(markup: str, mark: str) -> None:
    assert blocks_of(markup).marks[1] == BITS[mark]


@pytest.mark.parametrize("tag", ["div", "span"])
def test_elements_below_the_depth_limit_are_one_block(tag: str) -> None:
    deep = MAX_DEPTH + 20
    markup = f"<p>top</p>{f'<{tag}>' * deep}<b>one</b> <i>two</i>{f'</{tag}>' * deep}"
    assert blocks_of(markup).texts == ["top", "one two"]

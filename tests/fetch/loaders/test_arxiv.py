"""arXiv: metadata and full text, the PDF if there is no HTML, or only the abstract."""

import pytest

from kindly.errors import PageNotFound, PageTooLarge
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.arxiv import ARXIV, paper_of, to_article, to_record
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, recorded

pytestmark = pytest.mark.anyio

URL = "https://arxiv.org/abs/1706.03762"
QUERY = "https://export.arxiv.org/api/query"
HTML = "https://arxiv.org/html/1706.03762"
PDF = "https://arxiv.org/pdf/1706.03762"
FEED = recorded("arxiv", "1706.03762.atom.xml")
PAPER = recorded("arxiv", "1706.03762.html")
FILE = Recorded(b"%PDF-1.7 \xe2", headers=(("content-type", "application/pdf"),))


@pytest.mark.parametrize(
    ("url", "paper"),
    [
        ("https://arxiv.org/abs/1706.03762", "1706.03762"),
        ("https://arxiv.org/abs/1706.03762v7?context=cs", "1706.03762v7"),
        ("https://www.arxiv.org/pdf/1706.03762v2.pdf", "1706.03762v2"),
        ("http://arxiv.org/html/2401.00001v1/", "2401.00001v1"),
        ("https://export.arxiv.org/abs/math.GT/0309136", "math.GT/0309136"),
        ("https://arxiv.org/pdf/hep-th/9901001v3", "hep-th/9901001v3"),
        ("https://arxiv.org/list/cs.CL/recent", None),
        ("https://arxiv.org/abs/", None),
        ("https://arxiv.org/abs/12.34", None),
        ("https://arxiv.org/html/1706.03762v7/x1.png", None),
        ("https://info.arxiv.org/abs/1706.03762", None),
        ("https://arxiv.org.example/abs/1706.03762", None),
    ],
)
def test_only_papers_are_known_by_their_address(url: str, paper: str | None) -> None:
    assert paper_of(parse(url)) == paper
    assert ARXIV.matches(parse(url)) == (paper is not None)


async def test_full_text_is_below_the_metadata_with_its_formulas() -> None:
    api = FakeApi({QUERY: FEED, HTML: PAPER})
    page = await api.load(ARXIV, "https://arxiv.org/pdf/1706.03762.pdf")
    document = extract(page, ExtractOptions())
    for piece in (
        "# Attention Is All You Need\n",
        "- **Authors:** Ashish Vaswani, Noam Shazeer",
        "- **Published:** 2017-06-12",
        "- **Categories:** cs.CL, cs.LG",
        "- **Comment:** 15 pages, 5 figures",
        r"at a cost of $`O(n^2 \cdot d)`$ & more.",
        "## 1 Introduction",
        r"established [13]. They generate states $`h_{t}`$, as a function of $`h_{t-1}`$. [To illustrate why.]",
        "```math\n\\mathrm{Attention}(Q,K,V)=\\mathrm{softmax}(\\frac{QK^{T}}{\\sqrt{d_{k}}})V \\tag{1}\n```",
        "```math\nPE_{2i} =\\sin(pos)\n```",
        r"| Self-Attention | $`O(n^{2}\cdot d)`$ |",
        "Figure 1: The Transformer - model architecture.",
        "```\ndef f(x):\n    return x\n```",
        "- The encoder contains self-attention layers.",
        r"[13] Sepp Hochreiter and Jürgen Schmidhuber. Long short-term memory.",
    ):
        assert piece in document.text
    assert document.text.count("dominant sequence transduction") == 1
    for word in ("Dismiss", "Back to Abstract", "LaTeXML", "⬇", "•"):
        assert word not in document.text
    assert page.url == URL
    assert document.metadata.author == "Ashish Vaswani, Noam Shazeer"
    assert document.metadata.published == "2017-06-12T17:57:34Z"


async def test_pictures_have_addresses_of_their_own() -> None:
    page = await FakeApi({QUERY: FEED, HTML: PAPER}).load(ARXIV, URL)
    assert f'src="{HTML}/Figures/ModalNet-21.png"' in page.body.decode()


@pytest.mark.parametrize(
    "html",
    [Recorded(status=404), Recorded(b"<html>No HTML for this paper</html>")],
    ids=["missing", "a notice"],
)
async def test_a_paper_without_html_is_its_pdf_as_it_is(html: Recorded) -> None:
    page = await FakeApi({QUERY: FEED, HTML: html, PDF: FILE}).load(ARXIV, URL)
    assert (page.media_type, page.body) == ("application/pdf", FILE.body)


async def test_paper_without_available_text_is_its_abstract_with_a_note() -> None:
    too_large = PageTooLarge("Too large.", url=PDF, limit_bytes=1)
    page = await FakeApi({QUERY: FEED, PDF: too_large}).load(ARXIV, URL)
    text = page.body.decode()
    assert "dominant sequence transduction" in text
    assert "could not be fetched" in text


async def test_a_paper_without_a_record_has_the_title_of_its_text() -> None:
    page = await FakeApi({QUERY: Recorded(status=503), HTML: PAPER}).load(ARXIV, URL)
    text = page.body.decode()
    assert "<h1>Attention Is All You Need</h1>" in text
    assert "<h2>Abstract</h2>" in text


async def test_an_unknown_paper_is_left_to_the_page() -> None:
    api = FakeApi({QUERY: recorded("arxiv", "unknown.atom.xml")})
    with pytest.raises(PageNotFound):
        await api.load(ARXIV, URL)


async def test_a_page_that_is_no_pdf_is_no_paper() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({PDF: Recorded(b"<html></html>")}).load(ARXIV, URL)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(ARXIV, "https://example.com/")


@pytest.mark.parametrize("feed", ["Rate exceeded.", "<feed></feed>", "", "<a"])
def test_answers_without_an_entry_have_no_record(feed: str) -> None:
    assert to_record(feed) is None


def test_html_of_another_shape_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        to_article("1", None, "<p>ltx_</p>", HTML)


def test_equations_and_listings_without_source_stay_as_they_are() -> None:
    markup = (
        '<article class="ltx_document"><table class="ltx_eqn_table"><tr class="ltx_eqn_row">'
        '<td>x = y</td></tr></table><div class="ltx_listing">Two words</div></article>'
    )
    body = to_article("1", None, markup, HTML).body
    assert "x = y" in body
    assert "<p>Two words</p>" in body

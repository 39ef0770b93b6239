"""RFCs: the text without page breaks, sections as headings, figures and grammar verbatim."""

import pytest

from kindly.errors import PageNotFound
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.rfc import RFC, laid_out, number_of, to_markdown, without_pages
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, recorded

pytestmark = pytest.mark.anyio

URL = "https://datatracker.ietf.org/doc/html/rfc9999"
EDITOR = "https://www.rfc-editor.org/rfc/rfc9999"
TEXT = recorded("rfc", "rfc9999.txt")
RECORD = recorded("rfc", "rfc9999.json")


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://www.rfc-editor.org/rfc/rfc9110", "9110"),
        ("https://www.rfc-editor.org/rfc/rfc9110.html#section-3", "9110"),
        ("https://rfc-editor.org/rfc/rfc9110.txt", "9110"),
        ("https://www.rfc-editor.org/info/rfc9110", "9110"),
        ("https://datatracker.ietf.org/doc/html/rfc2119", "2119"),
        ("https://datatracker.ietf.org/doc/RFC2119/", "2119"),
        ("https://tools.ietf.org/html/rfc0791", "791"),
        ("https://www.ietf.org/rfc/rfc791.txt", "791"),
        ("https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-semantics", None),
        ("https://www.rfc-editor.org/rfc/rfc9110.json", None),
        ("https://www.rfc-editor.org/", None),
        ("https://www.rfc-editor.org/rfc/rfc0", None),
        ("https://example.com/rfc/rfc9110", None),
    ],
)
def test_only_rfcs_are_known_by_their_address(url: str, number: str | None) -> None:
    assert number_of(parse(url)) == number
    assert RFC.matches(parse(url)) == (number is not None)


async def test_an_rfc_reads_as_markdown_without_its_pages() -> None:
    page = await FakeApi({f"{EDITOR}.txt": TEXT, f"{EDITOR}.json": RECORD}).load(RFC, URL)
    text = page.body.decode()
    assert page.media_type == "text/markdown"
    for piece in (
        "# RFC 9999: The Example Transfer Protocol (ETP)\n",
        "**Obsoleted by RFC 9110, RFC 9112**",
        "Proposed standard · March 1997 · Obsoletes RFC 1001",
        "\n## 1. Introduction\n",
        "near the beginning of\ntheir document:",
        "- MUST means that the definition is an absolute requirement of the\n  specification.",
        "\n### 2.1. Framing\n",
        "```\n 0                   1                   2                   3\n 0 1 2 3",
        "+-+-+\n```",
        "```\nHTTP-name     = %x48.54.54.50 ; HTTP\n",
        "message = start-line *( field-line CRLF )\n          CRLF\n```",
        "\n\\# is not a heading",
        "\n## Appendix A. Changes\n",
        "\n## Author's Address\n",
    ):
        assert piece in text
    assert "[Page" not in text
    assert "\f" not in text
    assert text.count("RFC 9999") == 1


async def test_an_rfc_without_a_record_still_has_its_number() -> None:
    page = await FakeApi({f"{EDITOR}.txt": TEXT}).load(RFC, URL)
    assert page.body.decode().startswith("# RFC 9999\n")


async def test_an_unknown_rfc_is_left_to_the_page() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(RFC, URL)


async def test_web_page_instead_of_the_text_is_not_loaded() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({f"{EDITOR}.txt": Recorded(b" <html>")}).load(RFC, URL)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(RFC, "https://example.com/")


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (["   One line."], ["One line."]),
        (["Abstract"], ["## Abstract"]),
        (["1.2.3.4.5.6.7.  Deep"], ["###### 1.2.3.4.5.6.7. Deep"]),
        (["A.1.  Part"], ["### A.1. Part"]),
        (["   1) First", "      goes on"], ["1) First\n  goes on"]),
        (["   (a) First"], ["(a) First"]),
        (["      int main() {", "      }"], ["```\nint main() {\n}\n```"]),
        (["   if x", "     then y", "       else z"], ["```\nif x\n  then y\n    else z\n```"]),
        (["Name      Value", "x         1"], ["```\nName      Value\nx         1\n```"]),
        (["Just a line that is no title"], ["Just a line that is no title"]),
        (["   A --> B"], ["```\nA --> B\n```"]),
        ([], []),
    ],
)
def test_blocks_are_distinguished(rows: list[str], parts: list[str]) -> None:
    assert list(laid_out(rows)) == parts


def test_a_page_that_starts_a_sentence_starts_a_paragraph() -> None:
    text = "   The end.\n\nX   [Page 1]\n\fRFC 1   Title   May 1999\n\n   The start.\n"
    assert without_pages(text) == ["   The end.", "", "   The start."]


def test_an_rfc_without_pages_stays_as_it_is() -> None:
    assert to_markdown("1", "Abstract\n\n   Text.\n", JsonFields({})) == (
        "# RFC 1\n\n## Abstract\n\nText.\n"
    )

"""The links of a page, navigation included."""

from kindly.crawl.page_links import MAX_LINKS, links_on
from kindly.models import Document, Link, Page
from tests.support.stored_pages import NOON

URL = "https://e.com/docs/a"


def page(markup: str, media_type: str = "text/html") -> Page:
    return Page(URL, URL, 200, media_type, markup.encode(), NOON)


def test_links_are_absolute_and_given_once() -> None:
    markup = (
        "<nav><a class=x href='b'>B</a><A HREF=\"/c?x=1&amp;y=2#f\">C</a><a href=d>D</a></nav>"
        '<a href="b#top">B</a><a href="mailto:a@e.com">M</a><a href="javascript:x()">J</a><a href="http://[">?</a>'
    )
    found, beyond = links_on(page(markup), None)
    assert found == ["https://e.com/docs/b", "https://e.com/c?x=1&y=2", "https://e.com/docs/d"]
    assert beyond == 0


def test_a_base_is_obeyed() -> None:
    assert links_on(page('<base href="/other/"><a href="b">B</a>'), None)[0] == [
        "https://e.com/other/b"
    ]


def test_the_links_of_the_document_count_too() -> None:
    document = Document(URL, "", NOON, links=(Link("B", "https://e.com/docs/b#x"),))
    assert links_on(page("# Title", "text/markdown"), document)[0] == ["https://e.com/docs/b"]


def test_a_page_of_a_hundred_thousand_links_is_bounded() -> None:
    markup = "".join(f'<a href="p{n}">x</a>' for n in range(100_000))
    found, beyond = links_on(page(markup), None)
    assert (len(found), beyond) == (MAX_LINKS, 100_000 - MAX_LINKS)

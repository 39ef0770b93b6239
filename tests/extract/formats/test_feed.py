import pytest

from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.feed import MAX_ENTRIES
from kindly.models import Document, Format, Link
from tests.support.html_pages import page

ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Tides</title><subtitle>Water</subtitle>
<updated>2024-02-03T00:00:00Z</updated>
<entry><title>High</title><link rel="alternate" href="https://t.example/1"/><published>2024-01-02T00:00:00Z</published>
<author><name>A. B.</name></author>
<content type="html">&lt;p&gt;Up &lt;a href="/x"&gt;now&lt;/a&gt;
&lt;span style="display:none"&gt;secret&lt;/span&gt;&lt;/p&gt;</content></entry>
<entry><title>Low</title><link href="javascript:alert(1)"/><summary>Down.</summary></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><title>Old</title></channel><item><title>One</title><link>https://t.example/o</link></item></rdf:RDF>"""


def read(
    text: str, media_type: str = "application/atom+xml", format: Format = "markdown"
) -> Document:
    return extract(page(text, media_type=media_type), ExtractOptions(format))


def test_atom_entries_have_link_date_author_and_visible_text() -> None:
    document = read(ATOM)
    assert document.text == (
        "# Tides\n\nWater\n\n## [High](https://t.example/1)\n\n2024-01-02T00:00:00Z, A. B.\n\n"
        "Up [now](https://t.example/x)\n\n## Low\n\nDown."
    )
    assert "secret" not in document.text
    assert document.hidden_dropped == 1
    assert document.links == (Link("High", "https://t.example/1"),)
    assert (document.metadata.title, document.metadata.modified) == (
        "Tides",
        "2024-02-03T00:00:00Z",
    )


@pytest.mark.parametrize("media_type", ["", "text/plain", "text/xml", "application/octet-stream"])
def test_feed_is_detected_by_its_content(media_type: str) -> None:
    assert read(RDF, media_type).text == "# Old\n\n## [One](https://t.example/o)"


def test_feed_in_other_formats_has_no_markdown() -> None:
    assert read(ATOM, format="text").text.startswith("Tides\n\nWater\n\nHigh\n\n2024-01-02")
    assert read(ATOM, format="html").text.startswith("<h1>Tides</h1>")


def test_html_format_escapes_titles() -> None:
    feed = RDF.replace("<title>One", "<title>&lt;script&gt;")
    assert "<script" not in read(feed, format="html").text


def test_long_feed_is_truncated_with_a_note() -> None:
    items = "".join(f"<item><title>n{n}</title></item>" for n in range(MAX_ENTRIES + 5))
    document = read(f"<rss version='2.0'><channel><title>T</title>{items}</channel></rss>")
    assert document.partial
    assert document.text.endswith("— the feed is truncated: 100 of 105 entries were read —")


@pytest.mark.parametrize(
    "text",
    ["<rss><channel><title>T</title></channel></rss>", '<?xml version="1.0"?><urlset><url/></urlset>'],
    ids=["no entries", "sitemap"],
)  # fmt: skip
def test_xml_that_is_not_a_feed_is_shown_verbatim(text: str) -> None:
    assert read(text, "application/xml").text == f"```xml\n{text}\n```"


def test_entities_are_not_expanded() -> None:
    channel = "<channel><title>T</title><item><title>&a;&a;</title></item></channel>"
    bomb = f'<!DOCTYPE r [<!ENTITY a "boom">]><rss version="2.0">{channel}</rss>'
    assert "boomboom" not in read(bomb).text


RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>Tides</title><description>Water news</description>
<item><title>High</title><link>https://t.example/1</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>
<description>&lt;p&gt;Up &lt;b&gt;now&lt;/b&gt;&lt;/p&gt;</description></item>
<item><link>https://t.example/2</link></item></channel></rss>"""


def test_feed_is_a_list_of_its_entries() -> None:
    document = extract(page(RSS, media_type="application/rss+xml"), ExtractOptions())
    assert document.text == (
        "# Tides\n\nWater news\n\n## [High](https://t.example/1)\n\nMon, 01 Jan 2024 00:00:00 GMT\n\n"
        "Up **now**\n\n## [Untitled](https://t.example/2)"
    )
    assert document.metadata.title == "Tides"
    assert [link.url for link in document.links] == ["https://t.example/1", "https://t.example/2"]


def test_feed_as_text_has_no_markdown() -> None:
    source = page(RSS, media_type="application/rss+xml")
    assert "\n\nHigh\n\n" in extract(source, ExtractOptions(format="text")).text

import hashlib
from dataclasses import replace

import pytest

from kindly.errors import (
    ExtractionFailed,
    InputError,
    MediaUnsupported,
    NoContent,
    SelectorNotMatched,
)
from kindly.extract import ExtractOptions, html
from kindly.extract.document import extract
from kindly.models import Link
from tests.support.html_pages import FETCHED_AT, SAMPLES, URL, page, read

SAMPLE_NAMES = sorted(path.stem for path in SAMPLES.glob("*.html"))
CODE_AND_TABLE = """<main><h1>Title</h1><p>A first line of text.</p><pre><code class="language-py">if x:
    pass</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<p><a href="/next">next page</a> <img src="/i.png" alt="a picture"> <script>alert(1)</script></p></main>"""


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_sample_page_gives_exactly_its_markdown(name: str) -> None:
    source = (SAMPLES / f"{name}.html").read_bytes()
    document = extract(page(source, url=f"https://site.example/pages/{name}"), ExtractOptions())
    assert document.text + "\n" == (SAMPLES / f"{name}.md").read_text(encoding="utf-8")


def test_document_carries_where_when_and_what() -> None:
    document = read("<main><p>Some words.</p></main>")
    assert (document.url, document.fetched_at, str(document.how)) == (URL, FETCHED_AT, "http")
    assert (document.media_type, document.format, document.partial) == (
        "text/html",
        "markdown",
        False,
    )
    assert document.content_hash == hashlib.sha256(b"Some words.").hexdigest()


def test_text_format_is_plain_and_keeps_indentation() -> None:
    text = read(CODE_AND_TABLE, format="text").text
    assert text.startswith("Title\n\nA first line of text.\n\nif x:\n    pass")
    assert "```" not in text
    assert "](" not in text


def test_html_format_is_sanitised_and_absolute() -> None:
    text = read(CODE_AND_TABLE, format="html", include_images=True).text
    assert "<h1>Title</h1>" in text
    assert '<a href="https://site.example/next">next page</a>' in text
    assert '<img src="https://site.example/i.png" alt="a picture">' in text
    assert '<pre class="language-py">' in text
    assert "script" not in text


def test_html_format_without_links_and_images_has_none() -> None:
    text = read(CODE_AND_TABLE, format="html", include_links=False).text
    assert "<a" not in text
    assert "<img" not in text
    assert "next page" in text


def test_links_can_be_left_out_of_the_text() -> None:
    document = read(CODE_AND_TABLE, include_links=False)
    assert "next page" in document.text
    assert "](" not in document.text
    assert document.links == (Link("next page", "https://site.example/next"),)


def test_images_come_only_when_asked_for_and_never_as_data() -> None:
    body = (
        "<main><p>Some text here.</p><img src='data:image/png;base64,AA' alt='inline'>"
        "<img src='data:,' data-src='lazy.png' alt='lazy one' title='unseen'></main>"
    )
    assert read(body).text == "Some text here."
    assert read(body, include_images=True).text.splitlines()[-1] == (
        "![lazy one](https://site.example/pages/lazy.png)"
    )


def test_links_are_unique_absolute_and_bounded() -> None:
    anchors = "".join(f"<p>word <a href='/n/{n % 300}'>link {n % 300}</a></p>" for n in range(600))
    links = read(f"<main>{anchors}</main>").links
    assert len(links) == 200
    assert links[0] == Link("link 0", "https://site.example/n/0")
    assert len(set(links)) == 200


@pytest.mark.parametrize(
    ("href", "rendered"),
    [
        ("javascript:alert(1)", "see here now"),
        ("data:text/html,x", "see here now"),
        ("#part", "see here now"),
        ("http://[bad", "see here now"),
        ("", "see here now"),
        ("?q=1", "see [here](https://site.example/pages/one?q=1) now"),
        ("//other.example/x", "see [here](https://other.example/x) now"),
        ("mailto:a@b.example", "see [here](mailto:a@b.example) now"),
    ],
)
def test_link_becomes_absolute_or_text(href: str, rendered: str) -> None:
    assert read(f"<main><p>see <a href='{href}'>here</a> now</p></main>").text == rendered


def test_bad_base_is_ignored() -> None:
    body = "<base href='http://[bad'><main><p>go <a href='x'>there</a></p></main>"
    assert read(body).text == "go [there](https://site.example/pages/x)"


def test_blank_lines_in_code_stay_and_elsewhere_collapse() -> None:
    body = "<main><p>one</p><br><br><br><p>two</p><pre>a\n\n\n\nb</pre></main>"
    assert read(body).text == "one\n\ntwo\n\n```\na\n\n\n\nb\n```"


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("<pre class='brush: js'>x</pre>", "js"),
        ("<div class='highlight highlight-source-rust'><pre>x</pre></div>", "rust"),
        ("<pre class='sourceCode haskell'><code>x</code></pre>", "haskell"),
        ("<pre data-language='C++'>x</pre>", "c++"),
        ("<pre><code class='hljs go'>x</code></pre>", "go"),
        ("<pre><code class='language-none'>x</code></pre>", ""),
        ("<pre class='wide'>x</pre>", ""),
    ],
)
def test_code_block_names_its_language(code: str, language: str) -> None:
    assert read(f"<main><p>See:</p>{code}</main>").text == f"See:\n\n```{language}\nx\n```"


def test_layout_table_is_read_as_text_and_data_table_as_table() -> None:
    layout = "<table><tr><td><table><tr><td>one</td><td>two</td></tr></table></td></tr></table>"
    assert read(f"<main>{layout}</main>").text == "| one | two |\n| --- | --- |"


def test_selector_joins_outermost_matches() -> None:
    body = "<p class=a>one <b class=a>inner</b></p><nav><p>not this</p></nav><p class=a>two</p>"
    assert read(body, selector=".a").text == "one **inner**\n\ntwo"


def test_selector_may_pick_what_main_content_leaves_out() -> None:
    assert (
        read("<nav>Menu words</nav><main><p>Body</p></main>", selector="nav").text == "Menu words"
    )


def test_selector_that_is_no_css_is_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        read("<p>text</p>", selector="p[")
    assert caught.value.field == "selector"


def test_selector_that_matches_nothing_says_so() -> None:
    with pytest.raises(SelectorNotMatched) as caught:
        read("<p>text</p>", selector=".absent")
    assert caught.value.selector == ".absent"


def test_selector_does_not_reach_hidden_text() -> None:
    with pytest.raises(SelectorNotMatched):
        read("<p>text</p><p id=x hidden>secret</p>", selector="#x")


@pytest.mark.parametrize(
    ("body", "media_type", "text", "title"),
    [
        ("# Head\n\n*as is*\n", "text/markdown", "# Head\n\n*as is*", "Head"),
        ("plain\r\n  lines\r\n", "text/plain", "plain\n  lines", ""),
        (
            '{"b":[1,"é"]}',
            "application/json",
            '```json\n{\n  "b": [\n    1,\n    "é"\n  ]\n}\n```',
            "",
        ),
        ("{not json", "application/json", "```json\n{not json\n```", ""),
        ("[" * 100_000, "application/json", "```json\n" + "[" * 100_000 + "\n```", ""),
        ("<note>`` ```</note>", "application/xml", "````xml\n<note>`` ```</note>\n````", ""),
        ("a\u200bb\ufeff", "text/plain", "ab", ""),
    ],
    ids=["markdown", "text", "json", "broken-json", "deep-json", "xml", "invisible"],
)
def test_other_text_types_are_readable(body: str, media_type: str, text: str, title: str) -> None:
    document = extract(page(body, media_type=media_type), ExtractOptions())
    assert (document.text, document.metadata.title) == (text, title)


def test_other_text_in_html_format_is_escaped() -> None:
    source = page('{"a": "<b>"}', media_type="application/json")
    document = extract(source, ExtractOptions(format="html"))
    assert document.text == '<pre>{\n  "a": "&lt;b&gt;"\n}</pre>'


FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Tides</title><description>Water news</description>
<item><title>High</title><link>https://t.example/1</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>
<description>&lt;p&gt;Up &lt;b&gt;now&lt;/b&gt;&lt;/p&gt;</description></item>
<item><link>https://t.example/2</link></item></channel></rss>"""


def test_feed_is_a_list_of_its_entries() -> None:
    document = extract(page(FEED, media_type="application/rss+xml"), ExtractOptions())
    assert document.text == (
        "# Tides\n\nWater news\n\n## [High](https://t.example/1)\n\nMon, 01 Jan 2024 00:00:00 GMT\n\n"
        "Up **now**\n\n## [Untitled](https://t.example/2)"
    )
    assert document.metadata.title == "Tides"
    assert [link.url for link in document.links] == ["https://t.example/1", "https://t.example/2"]


def test_feed_as_text_has_no_marks() -> None:
    source = page(FEED, media_type="application/rss+xml")
    assert "\n\nHigh\n\n" in extract(source, ExtractOptions(format="text")).text


@pytest.mark.parametrize(
    ("body", "media_type", "named"),
    [
        (b"%PDF-1.7 ...", "text/html", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "image/png"),
        (b"PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (b"\x00\x01\x02", "", "application/octet-stream"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "image/svg+xml"),
    ],
    ids=["pdf", "png", "docx", "unknown", "svg"],
)  # fmt: skip
def test_unreadable_type_is_named_with_its_size(body: bytes, media_type: str, named: str) -> None:
    with pytest.raises(MediaUnsupported) as caught:
        extract(page(body, media_type=media_type), ExtractOptions())
    assert caught.value.media_type == named
    assert f"{len(body)} bytes" in caught.value.detail


@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "application/json", ""])
def test_empty_body_has_no_content(media_type: str) -> None:
    with pytest.raises(NoContent):
        extract(page(b" \n ", media_type=media_type), ExtractOptions())


def test_deep_nesting_and_many_attributes_end_with_their_text() -> None:
    attributes = " ".join(f"a{n}" for n in range(100_000))
    assert read("<div>" * 100_000 + "deep").text == "deep"
    assert read(f"<p {attributes}>wide</p>").text == "wide"


@pytest.mark.parametrize(
    "markup",
    [
        "<i></i>" * (html.MAX_ELEMENTS + 1),
        "<b>" * 200_000,
        "<p style='left:0'></p>" * (html.MAX_STYLED + 1),
        f"<p {'a=1 ' * 1_000_000}>wide</p>",
    ],
    ids=["elements", "nested", "styles", "attributes"],
)
def test_page_too_large_to_be_one_is_refused(markup: str) -> None:
    with pytest.raises(ExtractionFailed):
        read(markup)


def test_shadow_root_content_is_read_in_place_of_unslotted_children() -> None:
    body = (
        "<main><p>Before it.</p><x-a><template shadowrootmode=open><p>Drawn <slot></slot> <slot name=n></slot></p>"
        "</template>plain <b slot=n>named</b> <i slot=other>unseen</i></x-a></main>"
    )
    text = " ".join(read(body).text.split())
    assert "Drawn plain" in text
    assert "**named**" in text
    assert "unseen" not in text


def test_noscript_is_read_only_where_it_is_the_page() -> None:
    crawler = "<p>" + "The whole thread for readers without scripts. " * 12 + "</p>"
    assert "whole thread" in read(f"<body><div id=x></div><noscript>{crawler}</noscript>").text
    assert "aside" not in read(f"<main>{crawler}</main><noscript>aside</noscript>").text


LINKS = "".join(f'<li><a href="/{n}">Answer {n}</a></li>' for n in range(30))


def test_all_of_a_composed_page_is_content() -> None:
    """A thread about a missing page, answered with links only, is neither a soft 404 nor navigation."""
    markup = (
        "<title>404 Page not found</title><main><article><h1>404 Page not found</h1>"
        f"<p>{'Words about this. ' * 80}</p><ul>{LINKS}</ul></article></main>"
    )
    thread = replace(page(markup), composed=True)
    assert "Answer 29" in extract(thread, ExtractOptions()).text

from urllib.parse import urljoin

import pytest

from kindly.extract import ExtractOptions
from kindly.extract.html import read_html
from kindly.models import Link
from tests.support.html_pages import read, rendered

WORDS = " ".join(["word"] * 300)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<h2><strong>Bold</strong> <em>title</em></h2>", "## Bold title"),
        ("<h3><a href='#x'>¶</a>Part</h3>", "### Part"),
        ("<p><b>Note:</b>read it</p>", "**Note:**read it"),
        ("<p>a <i>b</i>, <del>c</del></p>", "a *b*, ~~c~~"),
        ("<p><b>Tag:</b>the <code>&lt;strong&gt;x&lt;/strong&gt;</code></p>", "**Tag:**the `<strong>x</strong>`"),
        ("<p><b>T:</b>x</p><pre>&lt;em&gt;y&lt;/em&gt;</pre>", "**T:**x\n\n```\n<em>y</em>\n```"),
        ("<p><b>Tag:</b>no &lt;/em&gt; here</p>", "**Tag:**no \\</em> here"),
        ("<p>3.02 of 5</p>", "3.02 of 5"),
        ("<p style='white-space:pre-wrap'>plain\n words</p>", "plain words"),
        ("<p>10<sup>6</sup> m<sup>2</sup>, the 4<sup>th</sup></p>", "10^6 m^2, the 4th"),
        ("<blockquote><p>said</p></blockquote>", "> said"),
        ("<details><summary>More</summary><p>inside</p></details>", "**More**\n\ninside"),
        ("<details><summary><h3>More</h3></summary><p>inside</p></details>", "### More\n\ninside"),
        ("<p>one <math><mi>y</mi></math></p><br><br><br><p>two</p>", "one $y$\n\ntwo"),
        (
            "<p><a href='a b'>x</a> <a href='/y'>y</a></p>",
            "[x](<https://site.example/pages/a b>) [y](https://site.example/y)",
        ),
    ],
)  # fmt: skip
def test_inline_markup_becomes_markdown(markup: str, text: str) -> None:
    assert rendered(markup) == text


@pytest.mark.parametrize(
    "base",
    [
        "https://a.example/one/two",
        "http://a.example:81",
        "HTTPS://a.example/x?y",
        "https://me:pw@a.example/",
    ],
)
@pytest.mark.parametrize(
    "href",
    ["/y", "/y/./z/../w", "/y?q=1&r=a#part", "/y?", "/y#", "//b.example/y", "y", "?q", "/y;p", "/"],
)
def test_links_resolve_as_in_a_browser(href: str, base: str) -> None:
    markup = f"<main><p>{WORDS}<a href='{href}'>here</a></p></main>"
    found = read_html(markup, ExtractOptions(), base, composed=True)
    assert [link.url for link in found.links] == [urljoin(base, href)]


@pytest.mark.parametrize("format", ["text", "html"])
def test_formulas_and_code_are_in_every_format(format: str) -> None:
    body = "<main><p>so <math><msub><mi>x</mi><mi>i</mi></msub></math></p><pre>a\n b</pre></main>"
    text = read(body, selector="main", format=format).text  # type: ignore[arg-type]  # from a table
    assert "$x_{i}$" in text
    assert "a\n b" in text


CODE_AND_TABLE = """<main><h1>Title</h1><p>A first line of text.</p><pre><code class="language-py">if x:
    pass</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<p><a href="/next">next page</a> <img src="/i.png" alt="a picture"> <script>alert(1)</script></p></main>"""


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


def test_html_format_can_leave_out_links_and_images() -> None:
    text = read(CODE_AND_TABLE, format="html", include_links=False).text
    assert "<a" not in text
    assert "<img" not in text
    assert "next page" in text


def test_links_can_be_left_out() -> None:
    document = read(CODE_AND_TABLE, include_links=False)
    assert "next page" in document.text
    assert "](" not in document.text
    assert document.links == (Link("next page", "https://site.example/next"),)


def test_images_are_included_on_request_and_never_as_data_urls() -> None:
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


def test_blank_lines_are_kept_in_code_and_collapsed_elsewhere() -> None:
    body = "<main><p>one</p><br><br><br><p>two</p><pre>a\n\n\n\nb</pre></main>"
    assert read(body).text == "one\n\ntwo\n\n```\na\n\n\n\nb\n```"


@pytest.mark.parametrize(
    "href",
    ["/w/index.php?title=X&action=edit&redlink=1", "/wiki/Template:X", "/wiki/Special:BookSources/1"],
)  # fmt: skip
def test_link_to_a_form_or_a_missing_page_of_a_wiki_is_text(href: str) -> None:
    assert rendered(f"<p>see <a href='{href}'>this</a></p>") == "see this"

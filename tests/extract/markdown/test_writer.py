from urllib.parse import urljoin

import pytest

from kindly.extract import ExtractOptions
from kindly.extract.html import read_html
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

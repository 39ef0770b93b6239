"""What the elements of a page look like in Markdown; a selector leaves the choice of content out of it."""

from urllib.parse import urljoin

import pytest

from kindly.extract import ExtractOptions
from kindly.extract.html import read_html
from tests.support.html_pages import read

WORDS = " ".join(["word"] * 300)


def drawn(markup: str) -> str:
    return read(f"<main>{markup}</main>", selector="main").text


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
def test_text_keeps_its_form(markup: str, text: str) -> None:
    assert drawn(markup) == text


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
def test_links_lead_where_they_lead_in_a_browser(href: str, base: str) -> None:
    markup = f"<main><p>{WORDS}<a href='{href}'>here</a></p></main>"
    found = read_html(markup, ExtractOptions(), base, composed=True)
    assert [link.url for link in found.links] == [urljoin(base, href)]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ul><li><p>one</p></li><li><div>two</div></li></ul>", "- one\n- two"),
        ("<ul><li><div><p>one</p></div><ul><li>in</li></ul></li></ul>", "- one\n  - in"),
        ("<ol start=3><li>c<ul><li>in</li></ul></li><li>d</li></ol>", "3. c\n   - in\n4. d"),
        ("<ul><li></li><li>x</li></ul>", "- x"),
        ("<ul><li><h3>Card</h3><p>text</p></li></ul>", "### Card\n\ntext"),
        ("<ol><li>a</li><li>b<h4>c</h4></li><li>d</li></ol>", "1. a\n2. b\n   #### c\n\n3. d"),
        ("<dl><dt>Weight</dt><dd>3 kg</dd><dt>Why?</dt><dd>So.</dd></dl>", "**Weight**: 3 kg\n\n**Why?** So."),
        ("<dl><dt>Long</dt><dd><p>one</p><p>two</p></dd></dl>", "**Long**\n\none\n\ntwo"),
        ("<dl><dt>Two</dt><dd>one</dd><dd>two</dd><dt></dt><dd></dd></dl>", "**Two**\n\none\n\ntwo"),
        ("<dl><dt><code>f()</code></dt><dd>calls</dd></dl>", "`f()`: calls"),
        ("<dl><dt>Empty</dt><dd></dd></dl>", "**Empty**"),
        ("<blockquote><p>Note:</p><ul><li>one</li></ul></blockquote>", "Note:\n\n- one"),
        ("<blockquote>so<ul><li>one</li></ul><cite>Ada</cite></blockquote>", "> so\n>\n> - one\n>\n> Ada"),
    ],
)  # fmt: skip
def test_lists_are_tight_and_definitions_in_one_line(markup: str, text: str) -> None:
    assert drawn(markup) == text


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<tr><th>a<th>b<th>c</tr><tr><td rowspan=2>x<td colspan=2>y</tr><tr><td>1<td>2</tr>",
            "| a | b | c |\n| --- | --- | --- |\n| x | y |  |\n| x | 1 | 2 |",
        ),
        (
            "<tr><th>a<th>b<th>c</tr><tr><td>1<td rowspan=2>m<td>2</tr><tr><td>3<td>4</tr>",
            "| a | b | c |\n| --- | --- | --- |\n| 1 | m | 2 |\n| 3 |  | 4 |",
        ),
        (
            "<tr><th>a<th></th><th>b</tr><tr><td>1<td><td>2</tr><tr><td><td><td></tr>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<caption>Cap</caption><tr><th>a<th>b</tr><tr><td>1<td>2</tr>", "Cap\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<tr><th colspan=2><h3>Title</h3></tr><tr><td><h4>k</h4><td>v</tr><tr><td>l<td>w</tr>",
            "### Title\n\n| k | v |\n| --- | --- |\n| l | w |",
        ),
        ("<tr><td><p>alone</p></td></tr><tr><td>below</td></tr>", "alone\n\nbelow"),
        ("<tr><td>left</td><td><table><tr><td>in</table></td></tr>", "left\n\nin"),
        ("<tr><td>code</td><td><pre>x\ny</pre></td></tr>", "code\n\n```\nx\ny\n```"),
        (f"<tr><td>{WORDS}</td><td>{WORDS}</td></tr>", f"{WORDS}\n\n{WORDS}"),
        ("<tr><th>Only</th></tr><tr><td>one</td></tr>", "| Only |\n| --- |\n| one |"),
        ("<tr><td rowspan=x>a<td colspan=0>b</tr><tr><td>c<td>d</tr>", "| a | b |\n| --- | --- |\n| c | d |"),
    ],
    ids=[
        "plain", "spans", "span in the middle", "empty column", "caption", "heading over all", "one column", "nested",
        "code", "prose", "one column with a head", "odd spans",
    ],
)  # fmt: skip
def test_table_is_a_compact_grid_or_none(rows: str, text: str) -> None:
    assert drawn(f"<table>{rows}</table>") == text


def test_table_for_placing_only_is_undone() -> None:
    row = "<tr><td>a</td><td>b</td></tr>"
    assert drawn(f"<table role=presentation>{row}</table>") == "a\n\nb"


def test_monstrous_spans_do_not_grow_the_table() -> None:
    rows = "<tr>" + "<td rowspan=1000 colspan=1000>y</td>" * 30 + "</tr>"
    assert len(drawn(f"<table>{rows * 50}</table>")) < 20_000


@pytest.mark.parametrize(
    ("markup", "code"),
    [
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre>a<br>  b</pre>", "```\na\n  b\n```"),
        ("<pre><code><div>a</div><div>  b</div></code></pre>", "```\na\n  b\n```"),
        ("<pre><code><span class=line>a</span><span class=line>  b</span></code></pre>", "```\na\n  b\n```"),
        ("<pre><span class=line>a\n</span><span class=line>b</span></pre>", "```\na\nb\n```"),
        ("<pre><b>if</b> <a href=/x>x</a></pre>", "```\nif x\n```"),
        ("<pre><span class=ln>1</span>a\n<span class=ln>2</span>b</pre>", "```\na\nb\n```"),
        ("<pre><i>7</i>a\n<i>8</i>b</pre>", "```\na\nb\n```"),
        ("<pre>[<i>1</i>, <i>2</i>]</pre>", "```\n[1, 2]\n```"),
        ("<pre>&gt; f(a)\n<i>0</i>\n&gt; f(b)\n<i>1</i></pre>", "```\n> f(a)\n0\n> f(b)\n1\n```"),
        ("<pre><b>a</b> <i>1</i>\n<b>b</b> <i>2</i></pre>", "```\na 1\nb 2\n```"),
        ("<pre><span><i>1</i>a</span>\n<span> <i>2</i>b</span></pre>", "```\na\n b\n```"),
        ("<pre><b>x</b><span><i>1</i></span><b>y</b><span><i>2</i></span></pre>", "```\nx1y2\n```"),
        ("<pre><span class=line><i>1</i>a</span><span class=line><i>2</i>b</span></pre>", "```\na\nb\n```"),
        ("<pre><i style='user-select:none'>1</i>a</pre>", "```\na\n```"),
        ("<figure><table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table></figure>", "```\na\nb\n```"),
        ("<pre>1\n2</pre>", "```\n1\n2\n```"),
        ("<figure><pre>1\n3</pre></figure>", "```\n1\n3\n```"),
        ("<pre>a<button>Copy</button></pre>", "```\na\n```"),
        ("<div><div>Python Copy code</div><pre>a</pre></div>", "```python\na\n```"),
        ("<div><div>main.py</div><pre>a</pre></div>", "main.py\n\n```\na\n```"),
        ("<div><div><span>js</span></div> <div><pre>a</pre></div></div>", "```js\na\n```"),
        (
            "<pre><code class='hljs language-bash'><div>bash<button>c</button></div><div>ls</div></code>"
            "</pre>",
            "```bash\nls\n```",
        ),
        ("<div class='highlight'><pre></pre><pre data-lang=go>x</pre></div>", "```go\nx\n```"),
        ("<code class='hl lean block'>\n  def m\n</code>", "```lean\ndef m\n```"),
        ("<code>a<br>b</code>", "```\na\nb\n```"),
        ("<code style='white-space:pre'>a\nb</code>", "```\na\nb\n```"),
        ("<code><pre>a</pre></code>", "```\na\n```"),
        ("<div class=cm-content><div class=cm-line>a</div><div class=cm-line>b</div></div>", "```\na\nb\n```"),
        ("<blockquote><pre>a</pre></blockquote>", "```\na\n```"),
        ("<blockquote><div><p>so:</p><pre>a</pre></div></blockquote>", "so:\n\n```\na\n```"),
        ("<blockquote><p>so:</p><pre>a</pre></blockquote>", "> so:\n>\n> ```\n> a\n> ```"),
        ("<p>x <code>a b</code> y</p>", "x `a b` y"),
        ("<code class=block></code><p>x</p>", "x"),
    ],
)  # fmt: skip
def test_code_is_verbatim_without_what_surrounds_it(markup: str, code: str) -> None:
    assert drawn(markup) == code


def test_language_of_a_group_of_blocks_is_not_taken_for_each() -> None:
    assert (
        drawn("<div class=language-js><pre>a</pre><pre>b</pre></div>")
        == "```\na\n```\n\n```\nb\n```"
    )


@pytest.mark.parametrize("format", ["text", "html"])
def test_formulas_and_code_are_in_every_format(format: str) -> None:
    body = "<main><p>so <math><msub><mi>x</mi><mi>i</mi></msub></math></p><pre>a\n b</pre></main>"
    text = read(body, selector="main", format=format).text  # type: ignore[arg-type]  # from a table
    assert "$x_{i}$" in text
    assert "a\n b" in text

"""Simplified trees: formulas as TeX, no wrappers, no navigation links."""

import pytest
from turbohtml import parse

from kindly.fetch.loader_kit.html_article import Article, article_page, facts, tex_of, tidy
from tests.support.fetch_fakes import START


def tidied(markup: str) -> str:
    body = parse(markup).select_one("body")
    assert body is not None
    tidy(body)
    return body.inner_html.strip()


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ('<p class="x" style="y" id="z">A</p>', "<p>A</p>"),
        ("<div>words</div><div>more</div>", "<p>words</p><p>more</p>"),
        ("<div><p>A</p></div>", "<p>A</p>"),
        ("<section><h2>T</h2><div>B</div></section>", "<h2>T</h2><p>B</p>"),
        ("<p><span>A</span><small>b</small></p>", "<p>Ab</p>"),
        ("<p>A<style>.x{}</style></p>", "<p>A</p>"),
        ("<ul><li><div>A</div></li></ul>", "<ul><li> A</li></ul>"),
        ('<a name="x">A</a>', "A"),
        ('<p><a href="/x" title="t">A</a> b</p>', '<p><a href="/x">A</a> b</p>'),
        ('<pre class="hl language-rust x">A</pre>', '<pre class="language-rust">A</pre>'),
        ('<pre class="hl">A</pre>', "<pre>A</pre>"),
        ('<ul><li><a href="/x">A</a></li></ul>', "<ul><li>A</li></ul>"),
        (
            '<ul><li>Long words about it, see <a href="/x">A</a></li></ul>',
            '<ul><li>Long words about it, see <a href="/x">A</a></li></ul>',
        ),
        (
            '<table><tbody><tr><td colspan="2"><a href="/x">A</a></td></tr></tbody></table>',
            '<table><tbody><tr><td colspan="2">A</td></tr></tbody></table>',
        ),
        ('<math alttext="x_1"><mi>x</mi></math>', "$<code>x_1</code>$"),
        (
            '<math alttext="x" display="block"><mi>x</mi></math>',
            '<pre><code class="language-math">x</code></pre>',
        ),
        ("<p>A <math><mi>x</mi></math></p>", "<p>A <math><mi>x</mi></math></p>"),
    ],
)
def test_trees_are_made_plain(markup: str, plain: str) -> None:
    assert tidied(markup) == plain


@pytest.mark.parametrize(
    ("math", "tex"),
    [
        ('<math alttext="{\\displaystyle a+b}"></math>', "a+b"),
        ('<math alttext="a%\nb"></math>', "ab"),
        (
            '<math><semantics><annotation encoding="application/x-tex">c</annotation></semantics></math>',
            "c",
        ),
        (
            '<math><semantics><annotation encoding="x/content">c</annotation></semantics></math>',
            "",
        ),
    ],
)
def test_tex_is_found_where_it_is_named(math: str, tex: str) -> None:
    element = parse(math).select_one("math")
    assert element is not None
    assert tex_of(element) == tex


def test_a_page_says_what_is_known_of_it() -> None:
    article = Article("A <b>", "<p>x</p>", "https://a.example/?b&c", author='"N"', language="de")
    page = article_page(article, START)
    text = page.body.decode()
    assert '<html lang="de">' in text
    assert "<h1>A &lt;b&gt;</h1>\n<p>x</p>" in text
    assert 'href="https://a.example/?b&amp;c"' in text
    assert 'content="&quot;N&quot;"' in text
    assert "published_time" not in text
    assert (page.url, page.fetched_at) == (article.url, START)


def test_no_facts_are_no_list() -> None:
    assert facts((("A", ""),)) == ""

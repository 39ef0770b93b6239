import pytest

from tests.support.html_pages import rendered


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ul><li><p>one</p></li><li><div>two</div></li></ul>", "- one\n- two"),
        ("<ul><li><div><p>one</p></div><ul><li>in</li></ul></li></ul>", "- one\n  - in"),
        ("<ol start=3><li>c<ul><li>in</li></ul></li><li>d</li></ol>", "3. c\n   - in\n4. d"),
        ("<ul><li></li><li>x</li></ul>", "- x"),
        ("<ul><li><h3>Card</h3><p>text</p></li></ul>", "### Card\n\ntext"),
        ("<ol><li>a</li><li>b<h4>c</h4></li><li>d</li></ol>", "1. a\n2. b\n   #### c\n\n3. d"),
        ("<ul><li><input type=checkbox disabled checked> a<li><input type=checkbox disabled> b</ul>",
         "- [x] a\n- [ ] b"),
        ("<ul><li><p><input type=checkbox disabled> a</p></ul>", "- [ ] a"),
        ("<ul><li><label><input type=checkbox disabled checked><i></i></label> a</ul>", "- [x] a"),
        ("<ul><li><input type=checkbox> red</ul>", "- red"),
        ("<div><li>a</li> <li>b<ul><li>in</li></ul></li></div>", "- a\n- b\n  - in"),
        ("<div><li>a</li>text<li>b</li></div>", "- a\n\ntext\n\n- b"),
        ("<h2>Here <nav><ul><li>a<ol><li>in</li></ol></li></ul></nav><ol><li>b</li></ol></h2>",
         "## Here\n\n- a\n  1. in\n1. b"),
        ("<h2><ul><li>a</li></ul></h2><p>text</p>", "- a\n\ntext"),
        ("<ul><li><label></label><nav><ul><li>a<li>b</ul></nav></ul>", "- a\n- b"),
        ("<ul><li>a<ul><li>in</ul><li><ul><li>b</ul></ul>", "- a\n  - in\n- b"),
        ("<ul><li><ol><li>a<li>b</ol></ul>", "1. a\n2. b"),
        ("<ul><li>a<li><ol><li>b</ol></ul>", "- a\n- \n  1. b"),
        ("<dl><dt>Weight</dt><dd>3 kg</dd><dt>Why?</dt><dd>So.</dd></dl>", "**Weight**: 3 kg\n\n**Why?** So."),
        ("<dl><dt>Long</dt><dd><p>one</p><p>two</p></dd></dl>", "**Long**\n\none\n\ntwo"),
        ("<dl><dt>Two</dt><dd>one</dd><dd>two</dd><dt></dt><dd></dd></dl>", "**Two**\n\none\n\ntwo"),
        ("<dl><dt><code>f()</code></dt><dd>calls</dd></dl>", "`f()`: calls"),
        ("<dl><dt>Empty</dt><dd></dd></dl>", "**Empty**"),
        ("<blockquote><p>Note:</p><ul><li>one</li></ul></blockquote>", "Note:\n\n- one"),
        ("<blockquote>so<ul><li>one</li></ul><cite>Ada</cite></blockquote>", "> so\n>\n> - one\n>\n> Ada"),
    ],
)  # fmt: skip
def test_lists_are_tight_and_definitions_are_on_one_line(markup: str, text: str) -> None:
    assert rendered(markup) == text

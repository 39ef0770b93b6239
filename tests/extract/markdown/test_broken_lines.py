import pytest

from tests.support.html_pages import rendered

LINES = "a = 1<br>\nb &lt; *2*<br/>  c"
CODE = "```\na = 1\nb < *2*\n  c\n```"


@pytest.mark.parametrize(
    "markup",
    [
        f"<p><code>{LINES}</code></p>",
        f"<tt>{LINES}</tt>",
        f"<p><samp>{LINES}</samp></p>",
        f"<p style='font-family: Courier New, monospace'>{LINES}</p>",
        f"<p><span style='font-family: Menlo'>{LINES}</span></p>",
        f"<div><font face='Courier New'>{LINES}</font></div>",
        "<p><code>a = 1</code><br><code>b &lt; *2*</code><br>\n<code>  c</code></p>",
        "<p><tt>a = 1</tt><br><tt>b &lt; *2*</tt><br><tt>  c</tt><br></p>",
    ],
    ids=["code", "tt", "samp", "styled paragraph", "styled span", "font", "runs", "runs of tt"],
)
def test_code_with_breaks_is_a_code_block_with_its_lines(markup: str) -> None:
    assert rendered(markup) == CODE


def test_text_around_code_with_breaks_stays_around_the_block() -> None:
    assert rendered("<p>Log: <samp>a<br>b</samp> end</p>") == "Log:\n\n```\na\nb\n```\n\nend"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>see <code>a b<br></code></p>", "see `a b`"),
        ("<p>or <code>a</code><br><code>b</code><br><code>c</code></p>", "or `a`  \n`b`  \n`c`"),
        ("<p><code>a</code><br><code>b</code><br><code>c</code> d</p>", "`a`  \n`b`  \n`c` d"),
        ("<p><code>a</code><br><code>b</code></p>", "`a`  \n`b`"),
        ("<p style='font-family: monospace'>a<br>b</p>", "a  \nb"),
        (
            "<p style='font-family: monospace'>a<br>b<br><a href=https://x.example/>c</a></p>",
            "a  \nb  \n[c](https://x.example/)",
        ),
    ],
    ids=["break at the end", "text before", "text after", "two codes", "two lines", "a link"],
)
def test_other_text_with_breaks_is_no_code_block(markup: str, text: str) -> None:
    assert rendered(markup) == text


def test_code_with_breaks_in_a_data_table_stays_in_its_cell() -> None:
    table = "<table><tr><th>x<th>y<tr><td><code>a<br>b | c</code><td>2</table>"
    assert rendered(table) == "| x | y |\n| --- | --- |\n| `a` `b \\| c` | 2 |"

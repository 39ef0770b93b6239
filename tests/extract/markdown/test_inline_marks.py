import pytest

from tests.support.html_pages import rendered


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p><code>name</code><code>string</code></p>", "`name` `string`"),
        ("<p><b>Title<br></b>text</p>", "**Title**  \ntext"),
        ("<p><b><i>Title<br></i></b>text</p>", "***Title***  \ntext"),
        ("<p>x <i>One.<br><br>Two.</i></p>", "x One.  \nTwo."),
        ("<p>was<s>$5</s></p>", "was~~$5~~"),
    ],
    ids=["code after code", "break at the end", "break in two", "two paragraphs", "struck"],
)
def test_no_tag_is_left_in_the_text(markup: str, text: str) -> None:
    assert rendered(markup) == text

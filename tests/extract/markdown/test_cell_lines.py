import pytest

from tests.support.html_pages import rendered


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("Diekirch<br>Dikrech", "Diekirch; Dikrech"),
        ("first line,<br>second", "first line, second"),
        ("Name<br>(born 1922)", "Name (born 1922)"),
        ("a long<br>title", "a long title"),
        ("<ul><li>one</li><li>two</li></ul>", "one; two"),
        ("<p>One sentence.</p><p>Another.</p>", "One sentence. Another."),
        ("<p>one</p>two", "one; two"),
        ("<br>one<br><br>Two<br>", "one; Two"),
        ("<div><b>12</b></div><div>14</div>", "**12**; 14"),
        ("<a href='/x'>One</a> <br> <a href='/y'>Two</a>", None),
    ],
    ids=[
        "break", "after punctuation", "before a bracket", "small letter", "list", "sentences", "paragraph and text",
        "edges", "blocks", "links",
    ],
)  # fmt: skip
def test_lines_of_a_cell_are_one_line_with_separators(cell: str, text: str | None) -> None:
    if text is None:
        text = "[One](https://site.example/x); [Two](https://site.example/y)"
    table = f"<table><tr><th>a<th>b</tr><tr><td>k</td><td>{cell}</td></tr></table>"
    assert rendered(table) == f"| a | b |\n| --- | --- |\n| k | {text} |"


def test_lines_of_a_header_are_joined_by_spaces() -> None:
    table = "<table><tr><th>Date<br>Formed<th>b</tr><tr><td>1<td>2</tr></table>"
    assert rendered(table) == "| Date Formed | b |\n| --- | --- |\n| 1 | 2 |"

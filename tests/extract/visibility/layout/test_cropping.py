import pytest

from tests.support.html_pages import read

KEPT = "<p>This sentence of the page can be seen by everyone who opens it.</p>"


def sees(markup: str, head: str = "") -> bool:
    return "SECRET" in read(f"{head}<main>{KEPT}{markup}{KEPT}</main>").text


@pytest.mark.parametrize(
    ("box", "content"),
    [
        ("height:20px;overflow:hidden", "<p style='margin-top:60px'>SECRET</p>"),
        ("height:20px;overflow:hidden", "one<br><br><br>SECRET"),
        ("height:2em;overflow:hidden", "<p>one</p><p>two</p><p>SECRET</p>"),
        ("height:300px;overflow:hidden", "<div style='height:400px'>one</div><p>SECRET</p>"),
        ("position:relative;height:20px;overflow:hidden", "<p style='position:absolute;top:100%'>SECRET</p>"),
        ("width:90px;overflow:hidden", "<p style='padding-left:120px'>SECRET</p>"),
        ("height:20px;overflow:hidden;line-height:120px", "SECRET"),
    ],
)  # fmt: skip
def test_text_outside_of_the_box_is_removed(box: str, content: str) -> None:
    assert not sees(f"<div style='{box}'>{content}</div>")


@pytest.mark.parametrize(
    ("box", "content"),
    [
        ("height:20px;overflow:hidden", "SECRET"),
        ("height:20px", "<p style='margin-top:60px'>SECRET</p>"),
        ("max-height:300px;overflow:hidden", "<p>one</p>" * 40 + "<p>SECRET</p>"),
        ("height:20px;overflow:hidden;display:flex", "<p>one</p><p>two</p><p>SECRET</p>"),
        ("height:20px;overflow:hidden", "<table><tr><td>one<td>two<td>SECRET</table>"),
        ("height:20px;overflow:hidden", "<p style='font-size:100%'>SECRET</p>"),
        ("height:20px;overflow:hidden", "<p style='position:absolute;top:90px'>SECRET</p>"),
    ],
    ids=["first line", "no crop", "preview", "row", "table", "font size", "not its containing block"],
)  # fmt: skip
def test_text_inside_of_the_box_is_kept(box: str, content: str) -> None:
    assert sees(f"<div style='{box}'>{content}</div>")


def test_text_is_kept_where_an_external_stylesheet_may_size_the_box() -> None:
    markup = "<div class=x style='height:20px;overflow:hidden'><p style='margin-top:60px'>SECRET</p></div>"
    assert not sees(markup)
    assert sees(markup, "<link rel=stylesheet href=site.css>")

import pytest

from kindly.extract.markdown.escapes import without_escapes


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (r"see \[1\]\[2\] and \[sic\]", "see [1][2] and [sic]"),
        (r"\[a\](b)", r"\[a\](b)"),
        (r"\[a\]: b", r"\[a\]: b"),
        (r"- \[x\] done", r"- \[x\] done"),
        (r"\[^1\]", r"\[^1\]"),
        (r"`\[1\]` and \[1\]", r"`\[1\]` and [1]"),
        ("```\n\\[1\\] &#12288; <br>\n```\n\\[1\\]", "```\n\\[1\\] &#12288; <br>\n```\n[1]"),
        ("&#12288;\u3000全角", "全角"),
        ("- &#8195;item", "- item"),
        ("one&#8239;\n\ntwo &#160; three", "one \n\ntwo  three"),
        ("**one<br><br>two**", "**one two**"),
    ],
    ids=[
        "marks", "link", "definition", "check box", "footnote", "inline code", "code block", "wide space",
        "space in an item", "space within text", "break in emphasis",
    ],
)  # fmt: skip
def test_escapes_and_entities_without_use_go_and_code_stays(markdown: str, text: str) -> None:
    assert without_escapes(markdown) == text

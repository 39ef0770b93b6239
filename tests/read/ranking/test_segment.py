import pytest

from kindly.read.ranking.segment import blocks, sentences


def said(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, 0, len(text))]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("Dr. Smith met J. Doe, e.g. at 3.5 p.m. on Monday.", None),
        ("See Fig. 3 and No. 4 there.", None),
        ("It grew. and then fell.", None),
        ("我们去了。他们没有！为什么？", ["我们去了。", "他们没有！", "为什么？"]),
        ("彼は「はい。」と言った。次へ。", ["彼は「はい。」", "と言った。", "次へ。"]),
        ("यह एक वाक्य है। यह दूसरा है।", ["यह एक वाक्य है।", "यह दूसरा है।"]),
        ("هل هذا سؤال؟ نعم.", ["هل هذا سؤال؟", "نعم."]),
        ("ဒါက စာကြောင်း။ နောက်တစ်ကြောင်း။", ["ဒါက စာကြောင်း။", "နောက်တစ်ကြောင်း။"]),
        ("- first\n- second", ["- first", "- second"]),
        ("Short line\nAnother line", ["Short line", "Another line"]),
        (
            "A line that was folded by a mail program after a fixed width and\nThen goes on here.",
            None,
        ),
        (
            "A line that was folded by a mail program after a fixed width and\n- an item",
            [
                "A line that was folded by a mail program after a fixed width and",
                "- an item",
            ],
        ),
        ("", []),
        (" \n ", []),
    ],
    ids=[
        "marks", "quotes", "abbreviations", "references", "lower case goes on", "chinese",
        "japanese quotes", "hindi", "arabic", "burmese", "items", "lines", "folded",
        "folded before an item", "empty", "blank",
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_would_say(text: str, expected: list[str] | None) -> None:
    assert said(text) == ([text] if expected is None else expected)


def test_thai_is_cut_at_spaces_when_it_runs_long() -> None:
    text = " ".join(["กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย"] * 12)

    pieces = said(text)

    assert len(pieces) > 2
    assert " ".join(pieces) == text
    assert max(map(len, pieces)) <= 180


def test_kinds_of_blocks_are_distinguished() -> None:
    text = (
        "# Title #\n\nProse here.\nMore.\n\n```py\n# not a heading\n\nx = 1\n```\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\nAfter.\n ~~~\nopen to the end"
    )

    assert kinds(text) == [
        ("heading", "# Title #"),
        ("prose", "Prose here.\nMore."),
        ("code", "```py\n# not a heading\n\nx = 1\n```"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("prose", "After."),
        ("code", " ~~~\nopen to the end"),
    ]


@pytest.mark.parametrize(
    ("line", "level", "title"),
    [
        ("# One", 1, "One"),
        ("###### Six ##", 6, "Six"),
        ("##", 2, ""),
        (" = Robert Boulter = ", 1, "Robert Boulter"),
        (" = = Career = = ", 2, "Career"),
        ("## " + "x" * 500, 2, "x" * 200),
    ],
    ids=["atx", "closed", "empty", "wiki", "wiki second", "long"],
)
def test_heading_has_level_and_title(line: str, level: int, title: str) -> None:
    (block,) = blocks(line)

    assert (block.kind, block.level, block.title) == ("heading", level, title)


@pytest.mark.parametrize("line", ["#hashtag", "####### seven", "= alone", "a = b ="])
def test_what_only_looks_like_a_heading_is_prose(line: str) -> None:
    assert [block.kind for block in blocks(line)] == ["prose"]

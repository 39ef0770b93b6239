"""Markdown for loaders, as pure functions."""

import pytest

from kindly.fetch.loader_kit.json_fields import JsonFields, objects
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loader_kit.markdown_parts import bounded, day, document, fenced, html_page, shown
from kindly.urls import parse
from tests.support.fetch_fakes import START


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a<!-- x -->b", "ab"),
        ("a\n<!-- x\n```\ny -->\nb", "a\n\nb"),
        ("a <!-- open\nb", "a "),
        ("`<!-- x -->` a", "`<!-- x -->` a"),
        ("``a` <!-- x -->`` b", "``a` <!-- x -->`` b"),
        ("a ` b <!-- x --> c", "a ` b  c"),
        ("```\n<!-- x -->\n```\nb", "```\n<!-- x -->\n```\nb"),
        ("````\n```\n# x\n````\n# y", "````\n```\n# x\n````\n### y"),
        ("~~~\n# x\n", "~~~\n# x"),
        ("a\n[//]: # (hidden)\nb", "a\nb"),
        ("# a\r\n## b\r\n###### c", "### a\n#### b\n###### c"),
        ("#hash and # b", "#hash and # b"),
        ("Title\n===\n\nSub\n---\n", "### Title\n\n#### Sub"),
    ],
)
def test_invisible_parts_are_removed_and_headings_go_deeper(markdown: str, expected: str) -> None:
    assert shown(markdown, below=2) == expected


def test_headings_keep_their_level_by_default() -> None:
    assert shown("# a\n\nT\n=") == "# a\n\nT\n="


def test_many_openings_of_nothing_are_read_in_one_go() -> None:
    assert shown("` " * 50_000) == "` " * 50_000
    assert shown("a <!-- " * 50_000) == "a "


def test_fence_is_longer_than_any_inside() -> None:
    assert fenced("````\nx\n", "py") == "`````py\n````\nx\n`````"


def test_empty_parts_leave_no_gap() -> None:
    assert document("a\n", "", " \n", "\nb") == "a\n\nb\n"


def test_parts_beyond_the_limit_are_counted() -> None:
    assert bounded(["aa", "bb", "cc"], "{} left out.", 3) == ["aa", "*2 left out.*"]
    assert bounded(["aa"], "{} left out.", 3) == ["aa"]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [("2024-02-01T10:00:00Z", "2024-02-01"), (1_224_800_471, "2008-10-23"), (0, ""), ("", "")],
)
def test_days(moment: str | int, expected: str) -> None:
    assert day(moment) == expected


def test_far_future_is_the_last_day() -> None:
    assert day(10**15) == "9999-12-31"


def test_html_page_escapes_its_title_once() -> None:
    page = html_page(parse("https://a.example/"), "a &lt;b&gt; & <c>", "<p>x</p>", START)

    assert b"<h1>a &lt;b&gt; &amp; &lt;c&gt;</h1>" in page.body
    assert (page.media_type, page.charset) == ("text/html", "utf-8")


def test_fields_read_what_is_there_and_nothing_else() -> None:
    fields = JsonFields.of(
        {"t": "x", "n": 3.0, "f": True, "o": {"a": "b"}, "l": [{"c": 1}, 2, "s"], "z": None}
    )

    assert (fields.text("t"), fields.text("n"), fields.text("z")) == ("x", "", "")
    assert (fields.number("n"), fields.number("t")) == (3, 0)
    assert JsonFields({"n": float("inf")}).number("n") == 0
    assert (fields.flag("f"), fields.flag("n")) == (True, False)
    assert (fields.part("o").text("a"), fields.part("t").values) == ("b", {})
    assert ([one.number("c") for one in fields.parts("l")], fields.parts("t")) == ([1], [])
    assert (fields.texts("l"), fields.texts("o")) == (["s"], [])


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_fields_of_no_object_give_up(value: object) -> None:
    with pytest.raises(NotLoaded):
        JsonFields.of(value)


def test_needed_text_and_lists_give_up_when_missing() -> None:
    with pytest.raises(NotLoaded):
        JsonFields({"a": ""}).needed("a")
    with pytest.raises(NotLoaded):
        objects({})

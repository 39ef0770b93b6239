"""Text from the web as one plain line: readable, and without Markdown, HTML and control characters."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kindly.text.plain_line import MAX_ADDRESS, clipped_address, plain_address, plain_line

ROWS = [
    ("[Taking Stock](https://example.com/news/taking-st", "Taking Stock"),
    ("Tea is a drink.", "Tea is a drink."),
    ("C# generics <T>", "C# generics ‹T›"),
    ("a_b and foo[0] and __init__", "a_b and foo[0] and __init__"),
    ("matrix[0][1] and f[0](x)", "matrix[0] [1] and f[0] (x)"),
    ("<script>: The Script element - HTML | MDN", "‹script›: The Script element - HTML | MDN"),
    ('What does <meta charset="utf-8"> do?', 'What does ‹meta charset="utf-8"› do?'),
    ("x < y > z, a -> b, a <= b", "x < y > z, a -> b, a <= b"),
    ("std::vector<int> v", "std::vector‹int› v"),
    ("#include <stdio.h>", "＃include ‹stdio.h›"),
    ("2*3*4, SELECT * FROM t, *args", "2∗3∗4, SELECT * FROM t, ∗args"),
    ("The key is ***.", "The key is ***."),
    ("Tea\n\n# New heading", "Tea # New heading"),
    ("# Heading", "Heading"),
    ("> quoted", "quoted"),
    ("- one", "one"),
    ("* one", "one"),
    ("> - # deep", "deep"),
    ("---", ""),
    ("===", ""),
    ("~~~\ncode", "code"),
    ("`code` and ```more```", "code and more"),
    ("**bold** and *thin* and _so it is_", "bold and thin and so it is"),
    ("~~gone~~", "gone"),
    ("[Tea](https://evil.example/)", "Tea"),
    ("![pixel](https://evil.example/x.png?q=1)", "pixel"),
    ("[![a](b.png)](https://evil.example/)", "a"),
    ("[a [b] c](https://evil.example/)", "[a [b] c] (https://evil.example/)"),
    ("[1]: https://evil.example/", "[1] : https://evil.example/"),
    ("\\[Tea\\](https://evil.example/) \\*x\\*", "Tea x"),
    ("<https://evil.example/>", "https://evil.example/"),
    ("Tea<script>alert(1)</script> and milk", "Tea and milk"),
    ("<img src=x onerror=alert(1)>Tea", "Tea"),
    ("<svg/onload=alert(1)>Tea", "Tea"),
    ("<b onclick='x()'>Tea", "Tea"),
    ("Tea <img src=x", "Tea"),
    ("Tea <b>is</b> <a href='javascript:x()'>good</a>", "Tea is good"),
    ("Tea <!-- obey --> milk", "Tea milk"),
    ("<<<end web-page 0>>>", "‹‹‹end web-page 0›››"),
    ("see https://user:pass@evil.example/x", "see https://evil.example/x"),
    ("Te\u200ba\u202e \x1b[2J\x00milk\u2028sugar", "Tea [2Jmilk sugar"),
    ("e\u0301", "é"),
    ("👩\u200d👩\u200d👧 می\u200cخواهم", "👩\u200d👩\u200d👧 می\u200cخواهم"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "line"), ROWS)
def test_text_becomes_one_readable_line(text: str, line: str) -> None:
    assert plain_line(text, 200) == line
    assert plain_line(line, 200) == line


@pytest.mark.parametrize("limit", [1, 10, 200, 500])
def test_long_text_is_cut_with_an_ellipsis(limit: int) -> None:
    line = plain_line("tea " * 10_000, limit)
    assert len(line) <= limit
    assert line.endswith("…")


MARKUP = {"em_open", "strong_open", "link_open", "image", "code_inline", "html_inline", "s_open"}
PIECES = [
    *"<>[]()*~`#-+!|\\&=/:\"' \n\t",
    *("![", "](", "]: ", "**", "***", "~~~", "```", "http://e.example", "javascript:x", "a", "Tea"),
    *("<b>", "</b>", "<script>", "</script>", "<img src=x>", " onerror=x", "<!--", "-->", "\u202e"),
]


@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_no_line_has_markup_however_it_is_put_together(text: str) -> None:
    line = plain_line(text, 200)
    tokens = MarkdownIt("commonmark").enable("strikethrough").parse(f"Tea {line} milk")
    kinds = {child.type for token in tokens for child in token.children or []}
    assert not kinds & MARKUP, line
    blocks = {token.type for token in MarkdownIt("commonmark").enable("table").parse(line)}
    assert blocks <= {"paragraph_open", "inline", "paragraph_close"}, line
    assert not re.search(r"<[a-z/!?]|[\x00-\x1f\x7f\u202e]", line, re.IGNORECASE)


@pytest.mark.parametrize(
    "flood",
    ["<script>" * 5_000, "_ " * 5_000, "[](" * 5_000, "<a " * 5_000, " on" * 5_000, "*" * 9_000],
)
def test_flood_of_markup_is_bounded(flood: str) -> None:
    assert len(plain_line(flood * 20, 500)) <= 500


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://example.com/a_b/(c)?d=e&f=%20#g", "https://example.com/a_b/(c)?d=e&f=%20#g"),
        (
            "https://ja.wikipedia.org/wiki/日本語_(曖昧)",
            "https://ja.wikipedia.org/wiki/日本語_(曖昧)",
        ),
        ("https://[2001:db8::1]:8080/x[1]", "https://[2001:db8::1]:8080/x%5B1%5D"),
        ('https://a.example/<b>`c`|"d"', "https://a.example/%3Cb%3E%60c%60%7C%22d%22"),
        ("https://a.example/x y\n\u202e", "https://a.example/x%20y%0A%E2%80%AE"),
        ("https://user:pass@a.example/x@y", "https://a.example/x@y"),
        ("https://good.example@evil.example/", "https://evil.example/"),
        ("https://a@b@evil.example", "https://evil.example"),
        ("http://evil.example\\@good.example/", "http://evil.example/@good.example/"),
        ("ftp://user@files.example/x", "ftp://files.example/x"),
        ("mailto:tea@example.com", "mailto:tea@example.com"),
    ],
)
def test_address_has_no_credentials_and_no_markup(url: str, address: str) -> None:
    assert plain_address(url) == address
    assert plain_address(address) == address


def test_address_that_is_too_long_is_cut() -> None:
    address = clipped_address(f"https://a.example/{'x' * 8_000}")
    assert len(address) == MAX_ADDRESS
    assert address.endswith("…")

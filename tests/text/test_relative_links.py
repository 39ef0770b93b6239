from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kindly.models import Document
from kindly.text.relative_links import is_relative, relative, shortened, targets_of

PAGE = "https://wiki.example/wiki/Dune"
DOCUMENT = Document(PAGE, "", datetime(2026, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("target", "form"),
    [
        ("https://wiki.example/wiki/Nobel_Prize", "Nobel_Prize"),
        ("https://wiki.example/wiki/Talk:Dune", "/wiki/Talk:Dune"),
        ("https://wiki.example/w/index.php?a=b", "/w/index.php?a=b"),
        ("https://wiki.example/wiki/1932%E2%80%9333_season", "1932–33_season"),
        ("https://wiki.example/wiki/A%26B%20C", "A%26B%20C"),
        ("https://wiki.example/wiki/%E2%80%8Bx", "%E2%80%8Bx"),
        ("https://wiki.example/wiki/", "/wiki/"),
        ("https://wiki.example", "https://wiki.example"),
        ("https://wiki.example.org/wiki/X", "https://wiki.example.org/wiki/X"),
        ("http://wiki.example/wiki/X", "http://wiki.example/wiki/X"),
        ("https://wiki.example//x", "https://wiki.example//x"),
    ],
)
def test_address_is_written_relative_to_the_page(target: str, form: str) -> None:
    assert relative(target, PAGE) == form


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("[prize](https://wiki.example/wiki/Nobel_Prize)", "[prize](Nobel_Prize)"),
        ("[Nobel Prize](https://wiki.example/wiki/Nobel_Prize)", "[[Nobel Prize]]"),
        ("[moon landing](https://wiki.example/wiki/Moon_landing)", "[[moon landing]]"),
        ("[a](https://wiki.example/wiki/B) [c](https://wiki.example/wiki/B)", "[a](B) c"),
        ("[film](https://wiki.example/wiki/Dune_(film))", "[film](Dune_(film))"),
        ("[here](https://wiki.example/wiki/Dune#Cast)", "here"),
        ("[other](https://else.example/)", "[other](https://else.example/)"),
        ("`[a](https://wiki.example/wiki/B)`", "`[a](https://wiki.example/wiki/B)`"),
        (
            "```\n[a](https://wiki.example/wiki/B)\n```\n[a](https://wiki.example/wiki/B)",
            "```\n[a](https://wiki.example/wiki/B)\n```\n[a](B)",
        ),
        ("a ` b\n\n[x](https://wiki.example/wiki/B) `", "a ` b\n\n[x](B) `"),
        ("![a](https://wiki.example/wiki/B)", "![a](https://wiki.example/wiki/B)"),
        ("[a [1]](https://wiki.example/wiki/B)", "[a [1]](B)"),
        (
            "[t](http://x.example/a) [Archived](https://web.archive.org/web/2014/http://x.example/a)",
            "[t](http://x.example/a) Archived",
        ),
        ("no link", "no link"),
    ],
)
def test_links_are_short_and_each_target_is_linked_once(markdown: str, text: str) -> None:
    assert shortened(markdown, PAGE) == text


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("Nobel_Prize", "https://wiki.example/wiki/Nobel_Prize"),
        ("Nobel Prize", "https://wiki.example/wiki/Nobel_Prize"),
        ("[[nobel Prize]]", "https://wiki.example/wiki/Nobel_Prize"),
        ("/list", "https://wiki.example/list"),
        ("1932–33", "https://wiki.example/wiki/1932%E2%80%9333"),
    ],
)
def test_written_link_is_found_on_the_page(written: str, target: str) -> None:
    names = ("wiki/Nobel_Prize", "list", "wiki/1932%E2%80%9333")
    text = " ".join(f"[x](https://wiki.example/{name})" for name in names)
    assert targets_of(written, [DOCUMENT, replace(DOCUMENT, text=text)]) == {target}


def test_link_that_no_page_has_is_not_found() -> None:
    assert targets_of("Nobel_Prize", [DOCUMENT]) == set()


@pytest.mark.parametrize(
    ("address", "expected"),
    [("/a", True), ("Name", True), ("https://a.example", False), ("mailto:a@b.example", False), (" ", False)],
)  # fmt: skip
def test_address_without_a_scheme_is_relative(address: str, expected: bool) -> None:
    assert is_relative(address) is expected

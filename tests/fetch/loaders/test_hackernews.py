"""Hacker News: a thread with its levels, authors and code."""

import pytest

from kindly.errors import PageNotFound
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.hackernews import (
    HACKERNEWS,
    MAX_COMMENTS,
    MAX_QUOTE_LEVEL,
    item_of,
    thread_of,
    to_article,
)
from kindly.urls import parse
from tests.support.loader_api import FakeApi, answer, recorded

pytestmark = pytest.mark.anyio

URL = "https://news.ycombinator.com/item?id=39745700"
API = "https://hn.algolia.com/api/v1/items/39745700"


def comment(text: str = "Text", *children: object, author: str | None = "a") -> dict[str, object]:
    return {"author": author, "text": text, "created_at": "", "children": list(children)}


@pytest.mark.parametrize(
    ("url", "item"),
    [
        (URL, "39745700"),
        (f"{URL}#39745811", "39745700"),
        ("https://news.ycombinator.com/item?p=2&id=1", "1"),
        ("https://news.ycombinator.com/item", None),
        ("https://news.ycombinator.com/item?id=x", None),
        ("https://news.ycombinator.com/news", None),
        ("https://news.ycombinator.com/user?id=1", None),
        ("https://example.com/item?id=1", None),
    ],
)
def test_only_items_are_known_by_their_address(url: str, item: str | None) -> None:
    assert item_of(parse(url)) == item
    assert HACKERNEWS.matches(parse(url)) == (item is not None)


async def test_a_thread_reads_as_markdown_with_its_levels_and_code() -> None:
    page = await FakeApi({API: recorded("hackernews", "39745700.json")}).load(HACKERNEWS, URL)
    document = extract(page, ExtractOptions())
    for piece in (
        r"# Regex \<or> parser?",
        "https://example.com/regex?a=1&b=2",
        "317 points · by ingve · 2024-03-18",
        "## 3 comments",
        "**kazinator** · 2024-03-18 15:12",
        "```\n    while (*p && isspace(*p))\n        p++;\n```",
        "> **lifthrasiir** · 2024-03-18 15:31",
        "An answer to a deleted comment.",
    ):
        assert piece in document.text
    assert document.metadata.author == "ingve"
    assert page.url == URL


async def test_an_unknown_item_is_left_to_the_page() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(HACKERNEWS, URL)


@pytest.mark.parametrize("item", [[], {}, {"title": None}], ids=["list", "empty", "deleted"])
async def test_an_item_that_cannot_be_shown_is_given_up(item: object) -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({API: answer(item)}).load(HACKERNEWS, URL)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(HACKERNEWS, "https://example.com/")


def test_a_comment_is_an_item_too() -> None:
    found = to_article(JsonFields({**comment("Yes."), "parent_id": 7, "points": 1}), "8")
    assert found.title == "Comment by a"
    assert "Yes." in found.body
    assert 'href="https://news.ycombinator.com/item?id=7"' in found.body
    assert "1 point ·" in found.body


def test_a_poll_shows_its_choices() -> None:
    options = [{"text": "Yes", "points": 3}, {"text": ""}]
    found = to_article(JsonFields({"title": "Poll", "options": options}), "8")
    assert "<ul><li>Yes: 3 points</li></ul>" in found.body


def test_comments_beyond_the_limit_are_counted() -> None:
    many = [comment() for _ in range(MAX_COMMENTS + 2)]
    item = JsonFields({"title": "Long", "children": many})
    shown, left_out = thread_of(item)
    assert (len(shown), left_out) == (MAX_COMMENTS, 2)
    body = to_article(item, "8").body
    assert "(2 comments more are not shown.)" in body


def test_deep_replies_name_their_parent_instead_of_going_deeper() -> None:
    nested = comment("Last", author="z")
    for _ in range(MAX_QUOTE_LEVEL):
        nested = comment("Text", nested, author="b")
    body = to_article(JsonFields({"title": "Deep", "children": [nested]}), "8").body
    assert body.count("<blockquote>" * MAX_QUOTE_LEVEL) == 0
    assert "<strong>z</strong> to b" in body


def test_one_comment_is_counted_as_one() -> None:
    assert (
        "<h2>1 comment</h2>"
        in to_article(JsonFields({"title": "T", "children": [comment()]}), "8").body
    )

"""Hacker News: an item → the story or comment and its thread, each reply quoted one level deeper."""

import re
from html import escape
from urllib.parse import parse_qs

from kindly.fetch.loader_kit.html_article import Article, article_page
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

HOST = "news.ycombinator.com"
ITEM = re.compile(r"[0-9]{1,12}\Z")
MAX_COMMENTS = 500
MAX_QUOTE_LEVEL = 6
"""Deeper replies stay at this level and name the author that they reply to."""


@frozen
class HackerNews:
    """Loads threads through the search service's API, which returns a whole thread at once."""

    name: str = "hackernews"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (("HN_API_URL", "https://hn.algolia.com"),)

    def matches(self, url: Url) -> bool:
        return item_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The item and its thread."""
        item = item_of(url)
        if item is None:
            raise NotLoaded("The URL does not name an item.", url=str(url))
        answer = await client.json(client.address("HN_API_URL", f"/api/v1/items/{item}"))
        return article_page(to_article(JsonFields.of(answer), item), client.now)


@frozen
class Comment:
    """A comment and its position in the thread."""

    fields: JsonFields
    level: int
    parent: str
    """The author of the comment that it replies to."""


def item_of(url: Url) -> str | None:
    """The item's number in a URL."""
    path, _, query = url.target.partition("?")
    if url.host != HOST or path != "/item":
        return None
    item = parse_qs(query).get("id", [""])[0]
    return item if ITEM.match(item) else None


def address(item: str) -> str:
    """The item's canonical URL."""
    return f"https://{HOST}/item?id={item}"


def to_article(item: JsonFields, number: str) -> Article:
    """The thread of an item.

    Raises:
        NotLoaded: it is no item that can be shown.
    """
    author = item.text("author")
    title = item.text("title") or (f"Comment by {author}" if author else "")
    if not title:
        raise NotLoaded("The item has neither title nor author.", url=address(number))
    comments, left_out = thread_of(item)
    parts = [_story(item), item.text("text"), _options(item)]
    if comments:
        parts += [f"<h2>{_counted(len(comments) + left_out)}</h2>", *map(_quoted, comments)]
    if left_out:
        parts.append(f"<p>({_counted(left_out)} more are not shown.)</p>")
    return Article(
        title=title,
        body="\n".join(filter(None, parts)),
        url=address(number),
        author=author,
        published=item.text("created_at"),
        site="Hacker News",
    )


def thread_of(item: JsonFields) -> tuple[list[Comment], int]:
    """The comments below an item, each before its replies, and how many exceed the limit."""
    comments: list[Comment] = []
    total = 0
    waiting = [Comment(child, 1, "") for child in reversed(item.parts("children"))]
    while waiting:
        comment = waiting.pop()
        author = comment.fields.text("author")
        answers = reversed(comment.fields.parts("children"))
        waiting += [Comment(child, comment.level + 1, author) for child in answers]
        if author and comment.fields.text("text"):
            total += 1
            if len(comments) < MAX_COMMENTS:
                comments.append(comment)
    return comments, total - len(comments)


def _story(item: JsonFields) -> str:
    link = item.text("url")
    facts = [
        _points(item.number("points")),
        f"by {escape(item.text('author'))}" if item.text("author") else "",
        item.text("created_at")[:10],
    ]
    above = item.number("parent_id")
    lines = [
        f'<p><a href="{escape(link)}">{escape(link)}</a></p>' if link else "",
        f"<p>{' · '.join(filter(None, facts))}</p>",
        f'<p>In answer to <a href="{address(str(above))}">item {above}</a>.</p>' if above else "",
    ]
    return "\n".join(filter(None, lines))


def _options(item: JsonFields) -> str:
    """The options of a poll."""
    rows = [
        f"<li>{option.text('text')}: {_points(option.number('points'))}</li>"
        for option in item.parts("options")
        if option.text("text")
    ]
    return f"<ul>{''.join(rows)}</ul>" if rows else ""


def _quoted(comment: Comment) -> str:
    fields = comment.fields
    level = min(comment.level, MAX_QUOTE_LEVEL)
    to = f" to {escape(comment.parent)}" if comment.level > MAX_QUOTE_LEVEL else ""
    date = fields.text("created_at")[:16].replace("T", " ")
    head = f"<p><strong>{escape(fields.text('author'))}</strong>{to} · {date}</p>"
    body = f"{head}<p>{fields.text('text').removeprefix('<p>')}"
    return f"{'<blockquote>' * (level - 1)}{body}{'</blockquote>' * (level - 1)}"


def _points(count: int) -> str:
    return "" if not count else "1 point" if count == 1 else f"{count:,} points"


def _counted(count: int) -> str:
    return "1 comment" if count == 1 else f"{count:,} comments"


HACKERNEWS = HackerNews()

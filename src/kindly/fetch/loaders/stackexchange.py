"""Stack Exchange, all sites: a question with its answers and comments, through its API.

The API's bodies are HTML, so the page is one clean HTML document and extraction makes the Markdown.
The API takes its key in the query only; errors never show a query, and the key goes nowhere else.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kindly.errors import FetchError, PageForbidden
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import bounded, counted, day, escaped, facts, html_page
from kindly.models import Page
from kindly.needs import Need
from kindly.urls import Url, parse

API = "STACKEXCHANGE_API_URL"
KEY = "STACKEXCHANGE_KEY"

SITES = frozenset(
    {
        "stackoverflow.com",
        "superuser.com",
        "serverfault.com",
        "askubuntu.com",
        "mathoverflow.net",
        "stackapps.com",
    }
)
PARTS = frozenset({"meta", "es", "ja", "pt", "ru", "es.meta", "ja.meta", "pt.meta", "ru.meta"})
"""What stands before `SITES` in the name of a site of its own."""
NO_SITES = frozenset({"api", "area51", "chat", "chat.meta", "data", "openid", "www", "blog"})
"""What stands before `.stackexchange.com` without being a site with questions."""
PATH = re.compile(r"/(questions|q|a)/([1-9][0-9]{0,18})(?:/[^?]*)?(?:\?.*)?")

MAX_ANSWERS = 100
PAGE_SIZE = 50
MAX_COMMENT_PAGES = 3
REFUSED_REST_S = 60.0
"""How long a refusal (HTTP 400: throttled, among others) is taken to last; its text says more, but
is not read.
"""
QUOTA_REST_S = 3_600.0


@dataclass(frozen=True, slots=True)
class StackExchange:
    """Loads questions, whichever of their addresses is given."""

    name: str = "stackexchange"
    tokens: tuple[Need, ...] = (Need(KEY, "secret", "Raises Stack Exchange's limits; optional."),)
    base_urls: tuple[tuple[str, str], ...] = ((API, "https://api.stackexchange.com/2.3"),)

    def matches(self, url: Url) -> bool:
        """Whether it is a question or an answer of one of the network's sites."""
        return site_of(url.host) is not None and PATH.fullmatch(url.target) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The question, its answers in order, and the comments on all of them."""
        found, site = PATH.fullmatch(url.target), site_of(url.host)
        if found is None or site is None:
            raise NotLoaded("That is no question.", url=str(url))
        asking = _Asking(client, site)
        try:
            thread = await _thread(asking, found[1], found[2])
        finally:
            asking.rest()
        address = parse(thread.question.text("link") or str(url))
        return html_page(address, thread.question.needed("title"), to_html(thread), client.now)


STACKEXCHANGE = StackExchange()


@dataclass(frozen=True, slots=True)
class Thread:
    """What the API says of one question."""

    question: JsonFields
    answers: tuple[JsonFields, ...] = ()
    more_answers: bool = False
    comments: Mapping[int, tuple[JsonFields, ...]] | None = None
    """By post; nothing when they could not be had."""


@dataclass(slots=True)
class _Asking:
    """Asks the API for items, and remembers when it wants a rest."""

    client: LoaderClient
    site: str
    cooldown_s: float = 0.0

    async def items(self, path: str, query: Mapping[str, str]) -> tuple[list[JsonFields], bool]:
        """The items at `path`, and whether there are more."""
        asked = {"site": self.site, "filter": "withbody", **query}
        if key := self.client.token(KEY):
            asked["key"] = key
        try:
            answer = JsonFields.of(await self.client.json(self.client.address(API, path, asked)))
        except PageForbidden:
            self.cooldown_s = max(self.cooldown_s, REFUSED_REST_S)
            raise
        self.cooldown_s = max(self.cooldown_s, answer.number("backoff"))
        if answer.values.get("quota_remaining") == 0:
            self.cooldown_s = QUOTA_REST_S
        if not isinstance(answer.values.get("items"), list):
            raise NotLoaded("Stack Exchange answered without items.", url="")
        return answer.parts("items"), answer.flag("has_more")

    def rest(self) -> None:
        """Leave the API alone for as long as it asked; within one thread no method is asked twice
        too soon.
        """
        self.client.cool_down(self.client.address(API, "/"), self.cooldown_s)


def site_of(host: str) -> str | None:
    """The site's full name as the API takes it, or nothing when the host is none of them."""
    name = host.removeprefix("www.")
    if name in SITES:
        return name
    part, _, rest = name.rpartition(".stackexchange.com")
    if not rest and part:
        return None if part in NO_SITES else name
    sites = (site for site in SITES if name.endswith(f".{site}"))
    site = next(sites, None)
    if name == "meta.stackexchange.com" or (site and name[: -len(site) - 1] in PARTS):
        return name
    return None


async def _thread(asking: _Asking, kind: str, number: str) -> Thread:
    path = f"/answers/{number}/questions" if kind == "a" else f"/questions/{number}"
    questions, _ = await asking.items(path, {})
    if not questions:
        raise NotLoaded("Stack Exchange knows no such question.", url="")
    question = questions[0]
    answers: list[JsonFields] = []
    more = question.number("answer_count") > 0
    page = 0
    while more and len(answers) < MAX_ANSWERS:
        page += 1
        found, more = await asking.items(
            f"/questions/{question.number('question_id')}/answers",
            {"sort": "votes", "order": "desc", "pagesize": str(PAGE_SIZE), "page": str(page)},
        )
        answers += found
    comments = await _comments(asking, question, answers)
    return Thread(question, ranked(answers), more, comments)


async def _comments(
    asking: _Asking, question: JsonFields, answers: list[JsonFields]
) -> Mapping[int, tuple[JsonFields, ...]] | None:
    """The comments on question and answers, oldest first; nothing when the API fails now."""
    posts = [question.number("question_id"), *(answer.number("answer_id") for answer in answers)]
    path = f"/posts/{';'.join(str(post) for post in posts[:100])}/comments"
    by_post: defaultdict[int, list[JsonFields]] = defaultdict(list)
    try:
        for page in range(1, MAX_COMMENT_PAGES + 1):
            query = {"sort": "creation", "order": "asc", "pagesize": "100", "page": str(page)}
            found, more = await asking.items(path, query)
            for comment in found:
                by_post[comment.number("post_id")].append(comment)
            if not more:
                break
    except FetchError:
        return None
    return {post: tuple(found) for post, found in by_post.items()}


def ranked(answers: list[JsonFields]) -> tuple[JsonFields, ...]:
    """Accepted first, then by score."""
    return tuple(
        sorted(answers, key=lambda one: (not one.flag("is_accepted"), -one.number("score")))
    )


def to_html(thread: Thread) -> str:
    """A thread as the inside of an article."""
    question = thread.question
    total = max(question.number("answer_count"), len(thread.answers))
    closed = f"closed: {question.text('closed_reason')}" if question.text("closed_reason") else ""
    tags = f"tags: {', '.join(question.texts('tags'))}" if question.texts("tags") else ""
    views = counted(question.number("view_count"), "view")
    comments = thread.comments or {}
    parts = [
        f"<p>{escaped(facts(_signed(question, 'asked'), _score(question), views, tags, closed))}</p>",
        question.text("body"),
        _comment_list(comments.get(question.number("question_id"), ())),
        f"<h2>{counted(total, 'answer')}</h2>" if total else "<p>No answers yet.</p>",
        *bounded((_answer(one, comments) for one in thread.answers), "{} more answers left out."),
    ]
    if thread.more_answers:
        parts.append(f"<p>Only the first {len(thread.answers)} answers are shown.</p>")
    if thread.comments is None:
        parts.append("<p>Comments could not be had now.</p>")
    return "\n".join(filter(None, parts))


def _answer(answer: JsonFields, comments: Mapping[int, tuple[JsonFields, ...]]) -> str:
    accepted = "Accepted answer" if answer.flag("is_accepted") else "Answer"
    return "\n".join(
        filter(
            None,
            (
                f"<h3>{accepted} ({escaped(_score(answer))})</h3>",
                f"<p>{escaped(_signed(answer, 'answered'))}</p>",
                answer.text("body"),
                _comment_list(comments.get(answer.number("answer_id"), ())),
            ),
        )
    )


def _comment_list(comments: tuple[JsonFields, ...]) -> str:
    if not comments:
        return ""
    items = "".join(
        f"<li>{comment.text('body')} — {escaped(_by(comment))}</li>" for comment in comments
    )
    return f"<p>Comments:</p><ul>{items}</ul>"


def _by(comment: JsonFields) -> str:
    score = f"score {comment.number('score')}" if comment.number("score") else ""
    return facts(_author(comment), day(comment.number("creation_date")), score)


def _signed(post: JsonFields, verb: str) -> str:
    edited = day(post.number("last_edit_date"))
    return facts(
        f"{verb} by {_author(post)} on {day(post.number('creation_date'))}".removesuffix(" on "),
        f"edited {edited}" if edited else "",
    )


def _author(post: JsonFields) -> str:
    return post.part("owner").text("display_name") or "somebody"


def _score(post: JsonFields) -> str:
    return f"score {post.number('score')}"

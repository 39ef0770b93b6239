"""Stack Exchange, all sites: a question with its answers and comments, through its API.

The API's bodies are HTML, so the page is one clean HTML document, and extraction writes the Markdown.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kindly.errors import FetchError, PageForbidden
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import bounded, counted, day, escaped, facts, html_page
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
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
"""Prefixes of `SITES` that are sites of their own."""
NO_SITES = frozenset({"api", "area51", "chat", "chat.meta", "data", "openid", "www", "blog"})
"""Subdomains of `.stackexchange.com` that are not sites with questions."""
PATH = re.compile(r"/(questions|q|a)/([1-9][0-9]{0,18})(?:/[^?]*)?(?:\?.*)?")

MAX_ANSWERS = 100
PAGE_SIZE = 50
MAX_COMMENT_PAGES = 3
REFUSED_COOLDOWN_S = 60.0
"""Cool-down after a refusal (HTTP 400, for example when throttled); its text, which is not parsed, has the details."""
QUOTA_COOLDOWN_S = 3_600.0


@frozen
class StackExchange:
    """Loads questions by any of their URLs."""

    name: str = "stackexchange"
    tokens: tuple[Need, ...] = (Need(KEY, "secret", "Raises Stack Exchange's limits; optional."),)
    base_urls: tuple[tuple[str, str], ...] = ((API, "https://api.stackexchange.com/2.3"),)

    def matches(self, url: Url) -> bool:
        return site_of(url.host) is not None and PATH.fullmatch(url.target) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The question, its answers in order, and the comments on all of them."""
        found, site = PATH.fullmatch(url.target), site_of(url.host)
        if found is None or site is None:
            raise NotLoaded("The URL does not name a question.", url=str(url))
        api = _Api(client, site)
        try:
            thread = await _thread(api, found[1], found[2])
        finally:
            api.start_cooldown()
        address = parse(thread.question.text("link") or str(url))
        return html_page(address, thread.question.needed("title"), to_html(thread), client.now)


STACKEXCHANGE = StackExchange()


@frozen
class Thread:
    """A question and its answers and comments, as the API returns them."""

    question: JsonFields
    answers: tuple[JsonFields, ...] = ()
    more_answers: bool = False
    comments: Mapping[int, tuple[JsonFields, ...]] | None = None
    """By post; empty if they could not be fetched."""


@dataclass(slots=True)
class _Api:
    """Calls the API for items, and starts a cool-down when it asks for one."""

    client: LoaderClient
    site: str
    cooldown_s: float = 0.0

    async def items(self, path: str, query: Mapping[str, str]) -> tuple[list[JsonFields], bool]:
        """The items at `path`, and whether there are more."""
        url = self.client.address(API, path, {"site": self.site, "filter": "withbody", **query})
        key = self.client.token(KEY)
        headers = (("Authorization", f"Bearer {key}"),) if key else ()
        try:
            answer = JsonFields.of(await self.client.json(url, headers))
        except PageForbidden:
            self.cooldown_s = max(self.cooldown_s, REFUSED_COOLDOWN_S)
            raise
        self.cooldown_s = max(self.cooldown_s, answer.number("backoff"))
        if answer.values.get("quota_remaining") == 0:
            self.cooldown_s = QUOTA_COOLDOWN_S
        if not isinstance(answer.values.get("items"), list):
            raise NotLoaded("Stack Exchange answered without items.", url="")
        return answer.parts("items"), answer.flag("has_more")

    def start_cooldown(self) -> None:
        """Start the cool-down that the API asked for. Within one thread, no method is called twice too soon."""
        self.client.cool_down(self.client.address(API, "/"), self.cooldown_s)


def site_of(host: str) -> str | None:
    """The site's full name as the API expects it; empty if the host is not one of the network."""
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


async def _thread(api: _Api, kind: str, number: str) -> Thread:
    path = f"/answers/{number}/questions" if kind == "a" else f"/questions/{number}"
    questions, _ = await api.items(path, {})
    if not questions:
        raise NotLoaded("Stack Exchange has no such question.", url="")
    question = questions[0]
    answers: list[JsonFields] = []
    more = question.number("answer_count") > 0
    page = 0
    while more and len(answers) < MAX_ANSWERS:
        page += 1
        found, more = await api.items(
            f"/questions/{question.number('question_id')}/answers",
            {"sort": "votes", "order": "desc", "pagesize": str(PAGE_SIZE), "page": str(page)},
        )
        answers += found
    comments = await _comments(api, question, answers)
    return Thread(question, ranked(answers), more, comments)


async def _comments(
    api: _Api, question: JsonFields, answers: list[JsonFields]
) -> Mapping[int, tuple[JsonFields, ...]] | None:
    """The comments on the question and the answers, oldest first; empty if the API fails."""
    posts = [question.number("question_id"), *(answer.number("answer_id") for answer in answers)]
    path = f"/posts/{';'.join(str(post) for post in posts[:100])}/comments"
    by_post: defaultdict[int, list[JsonFields]] = defaultdict(list)
    try:
        for page in range(1, MAX_COMMENT_PAGES + 1):
            query = {"sort": "creation", "order": "asc", "pagesize": "100", "page": str(page)}
            found, more = await api.items(path, query)
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
    """A thread as the content of an `<article>`."""
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
        parts.append("<p>The comments could not be fetched.</p>")
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
    return post.part("owner").text("display_name") or "unknown user"


def _score(post: JsonFields) -> str:
    return f"score {post.number('score')}"

"""GitHub: threads, files, folders, READMEs, releases, commits, wiki pages and gists, through its API and its raw files.

Bodies are Markdown already. The token goes to the API's own origin only. Discussions need one; whatever else has an
address there is left to the page itself.
"""

import json
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote

from kindly.errors import FetchError, PageNotFound
from kindly.fetch.chain.types import Headers, HopReply
from kindly.fetch.loader_kit.json_fields import JsonFields, objects
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import markdown_page, plain_page
from kindly.fetch.loaders.github.changes import commit_text, compare_text, history_text
from kindly.fetch.loaders.github.layout import (
    Pull,
    discussion_text,
    file_text,
    folder_text,
    gist_text,
    issue_text,
    pull_text,
    release_text,
    releases_text,
    repository_text,
    wiki_text,
)
from kindly.fetch.loaders.github.target import Target, target_of
from kindly.models import Page
from kindly.needs import Need
from kindly.urls import Url, parse

API = "GITHUB_API_URL"
RAW = "GITHUB_RAW_URL"
TOKEN = "GITHUB_TOKEN"  # noqa: S105 - the name of a setting

PAGE_SIZE = 100
MAX_COMMENTS = 300
DISCUSSION = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { discussion(number: $number) {
    title body url createdAt closed isAnswered upvoteCount author { login } category { name }
    labels(first: 20) { nodes { name } }
    comments(first: 50, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { body createdAt isAnswer upvoteCount author { login }
        replies(first: 50) { nodes { body createdAt author { login } } } }
    }
  } }
}
"""


@dataclass(frozen=True, slots=True)
class GitHub:
    """Loads what a repository, its threads and its files show."""

    name: str = "github"
    tokens: tuple[Need, ...] = (
        Need(TOKEN, "secret", "Raises GitHub's limits and opens discussions; optional."),
    )
    base_urls: tuple[tuple[str, str], ...] = (
        (API, "https://api.github.com"),
        (RAW, "https://raw.githubusercontent.com"),
    )

    def matches(self, url: Url) -> bool:
        """Whether it is an address whose content the API or the raw host has."""
        return target_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The thing at that address, laid out in Markdown; files that are no text as they are."""
        target = target_of(url)
        if target is None:
            raise NotLoaded("That is nothing that GitHub's API has.", url=str(url))
        asking = _Asking(client, target)
        if target.kind == "file":
            return await _file(url, asking)
        text = await LAYOUTS[target.kind](asking)
        return markdown_page(url, text, client.now)


GITHUB = GitHub()


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks GitHub about one target."""

    client: LoaderClient
    target: Target

    async def json(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """What the API has at a path."""
        return await self.client.json(self.client.address(API, path, query), self._headers())

    async def fields(self, path: str) -> JsonFields:
        """The object that the API has at a path."""
        return JsonFields.of(await self.json(path))

    async def below(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """What the API has below the repository."""
        return await self.json(f"/repos/{self.target.owner}/{self.target.repo}{path}", query)

    async def listed(self, path: str, limit: int = MAX_COMMENTS) -> list[JsonFields]:
        """The objects of a list below the repository, page after page up to `limit`."""
        found: list[JsonFields] = []
        while len(found) < limit:
            page = len(found) // PAGE_SIZE + 1
            query = {"per_page": str(PAGE_SIZE), "page": str(page)}
            items = objects(await self.below(path, query))
            found += items
            if len(items) < PAGE_SIZE:
                break
        return found[:limit]

    async def raw(self, path: str) -> HopReply:
        """A file as it is; the token is asked to help only where nobody else may see the file."""
        owner, repo = self.target.owner, self.target.repo
        address = self.client.address(RAW, f"/{owner}/{repo}/{self.target.ref or 'HEAD'}/{path}")
        try:
            return await self.client.api(address)
        except PageNotFound:
            headers = self._headers("application/vnd.github.raw+json")
            if not self.client.token(TOKEN):
                raise
        query = {"ref": unquote(self.target.ref)} if self.target.ref else None
        contents = self.client.address(API, f"/repos/{owner}/{repo}/contents/{path}", query)
        return await self.client.api(contents, headers)

    async def graphql(self, query: str, variables: Mapping[str, object]) -> JsonFields:
        """The data that answers a GraphQL query."""
        if not self.client.token(TOKEN):
            raise NotLoaded("GitHub shows discussions to its API's users only.", url="")
        body = json.dumps({"query": query, "variables": variables}).encode()
        answer = await self.client.json(self._graphql_address(), self._headers(), body=body)
        return JsonFields.of(answer).part("data")

    def _graphql_address(self) -> Url:
        """Beside the REST API on github.com; beside its version on an Enterprise server."""
        address = str(self.client.address(API, "/graphql"))
        return parse(address.replace("/api/v3/graphql", "/api/graphql"))

    def _headers(self, accept: str = "application/vnd.github+json") -> Headers:
        headers = (("Accept", accept), ("X-GitHub-Api-Version", "2022-11-28"))
        if token := self.client.token(TOKEN):
            return (*headers, ("Authorization", f"Bearer {token}"))
        return headers


async def _file(url: Url, asking: _Asking) -> Page:
    reply = await asking.raw(asking.target.path)
    try:
        content = reply.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        content = "\0"
    if "\0" in content[:4096]:
        media_type = (reply.header("content-type") or "").partition(";")[0].strip().lower()
        page = plain_page(url, "", asking.client.now)
        return replace(page, media_type=media_type, body=reply.body, charset=None)
    text = file_text(asking.target, content)
    if text is None:
        return plain_page(url, content, asking.client.now)
    return markdown_page(url, text, asking.client.now)


async def _issue(asking: _Asking) -> str:
    number = asking.target.number
    issue = JsonFields.of(await asking.below(f"/issues/{number}"))
    if "pull_request" in issue.values:
        return await _pull(asking)
    comments = await asking.listed(f"/issues/{number}/comments") if issue.number("comments") else []
    return issue_text(issue, comments)


async def _pull(asking: _Asking) -> str:
    number = asking.target.number
    pull = JsonFields.of(await asking.below(f"/pulls/{number}"))
    comments = await asking.listed(f"/issues/{number}/comments") if pull.number("comments") else []
    reviews = await _or_none(asking, f"/pulls/{number}/reviews")
    remarks = (
        await _or_none(asking, f"/pulls/{number}/comments")
        if pull.number("review_comments")
        else []
    )
    files = await _or_none(asking, f"/pulls/{number}/files")
    return pull_text(Pull(pull, comments, reviews, remarks, files))


async def _or_none(asking: _Asking, path: str) -> list[JsonFields]:
    """A list that a page can do without."""
    try:
        return await asking.listed(path)
    except FetchError:
        return []


async def _discussion(asking: _Asking) -> str:
    target = asking.target
    variables: dict[str, object] = {
        "owner": target.owner,
        "name": target.repo,
        "number": int(target.number),
        "after": None,
    }
    comments: list[JsonFields] = []
    while True:
        data = await asking.graphql(DISCUSSION, variables)
        discussion = data.part("repository").part("discussion")
        found = discussion.part("comments")
        comments += found.parts("nodes")
        following = found.part("pageInfo")
        if not following.flag("hasNextPage") or len(comments) >= MAX_COMMENTS:
            return discussion_text(discussion, comments[:MAX_COMMENTS])
        variables["after"] = following.needed("endCursor")


async def _folder(asking: _Asking) -> str:
    target = asking.target
    path = f"/contents/{target.path}".rstrip("/")
    query = {"ref": unquote(target.ref)} if target.ref else None
    entries = objects(await asking.below(path, query))
    readme = next(
        (entry for entry in entries if entry.text("name").lower() == "readme.md"), JsonFields({})
    )
    text = ""
    if name := readme.text("name"):
        text = await _text_of(asking, f"{target.path}/{name}".lstrip("/"))
    return folder_text(target, entries, text)


async def _text_of(asking: _Asking, path: str) -> str:
    """The text of a file that a page can do without."""
    try:
        return (await asking.raw(path)).body.decode("utf-8", "replace")
    except FetchError:
        return ""


async def _repository(asking: _Asking) -> str:
    repository = JsonFields.of(await asking.below(""))
    readme = await _text_of(asking, "README.md") or await _readme(asking)
    try:
        release = JsonFields.of(await asking.below("/releases/latest"))
    except FetchError:
        release = JsonFields({})
    return repository_text(repository, readme, release)


async def _readme(asking: _Asking) -> str:
    """A README of another name, wherever the repository keeps it."""
    try:
        found = JsonFields.of(await asking.below("/readme"))
        return b64decode(found.text("content")).decode("utf-8", "replace")
    except (FetchError, NotBase64):
        return ""


async def _releases(asking: _Asking) -> str:
    releases = objects(await asking.below("/releases", {"per_page": "30"}))
    return releases_text(asking.target, releases)


async def _release(asking: _Asking) -> str:
    tag = asking.target.ref
    path = f"/releases/tags/{tag}" if tag else "/releases/latest"
    return release_text(asking.target, JsonFields.of(await asking.below(path)))


async def _gist(asking: _Asking) -> str:
    return gist_text(await asking.fields(f"/gists/{asking.target.ref}"))


async def _commit(asking: _Asking) -> str:
    commit = JsonFields.of(await asking.below(f"/commits/{asking.target.ref}"))
    return commit_text(asking.target, commit)


async def _compare(asking: _Asking) -> str:
    query = {"per_page": str(PAGE_SIZE)}
    compared = JsonFields.of(await asking.below(f"/compare/{asking.target.ref}", query))
    return compare_text(asking.target, compared)


async def _history(asking: _Asking) -> str:
    target = asking.target
    wanted = {"sha": unquote(target.ref), "path": unquote(target.path), "per_page": "50"}
    query = {name: value for name, value in wanted.items() if value}
    return history_text(target, objects(await asking.below("/commits", query)))


async def _wiki(asking: _Asking) -> str:
    target = asking.target
    path = f"/wiki/{target.owner}/{target.repo}/{target.path}.md"
    reply = await asking.client.api(asking.client.address(RAW, path))
    return wiki_text(target, reply.body.decode("utf-8-sig", "replace"))


LAYOUTS: Mapping[str, Callable[[_Asking], Awaitable[str]]] = {
    "issue": _issue,
    "pull": _pull,
    "discussion": _discussion,
    "folder": _folder,
    "repository": _repository,
    "releases": _releases,
    "release": _release,
    "gist": _gist,
    "commit": _commit,
    "compare": _compare,
    "history": _history,
    "wiki": _wiki,
}

"""What GitHub's API and its raw files say of a target, as Markdown.

Bodies are Markdown already. The token is sent only to the API's own origin; discussions need it.
"""

import json
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from urllib.parse import unquote

from kindly.errors import FetchError, PageNotFound
from kindly.fetch.chain.types import Headers, HopReply
from kindly.fetch.loader_kit.json_fields import JsonFields, objects
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import markdown_page, plain_page
from kindly.fetch.loaders.github import API, RAW, TOKEN
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
from kindly.fetch.loaders.github.target import Target
from kindly.frozen import frozen
from kindly.models import Page
from kindly.urls import Url, parse

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


async def load_target(url: Url, target: Target, client: LoaderClient) -> Page:
    """The target as Markdown; files that are not text unchanged."""
    api = _Api(client, target)
    if target.kind == "file":
        return await _file(url, api)
    return markdown_page(url, await LAYOUTS[target.kind](api), client.now)


@frozen
class _Api:
    """GitHub's API for one target."""

    client: LoaderClient
    target: Target

    async def json(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """The API's answer for a path."""
        return await self.client.json(self.client.address(API, path, query), self._headers())

    async def fields(self, path: str) -> JsonFields:
        """The API's object at a path."""
        return JsonFields.of(await self.json(path))

    async def below(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """The API's answer below the repository."""
        return await self.json(f"/repos/{self.target.owner}/{self.target.repo}{path}", query)

    async def listed(self, path: str, limit: int = MAX_COMMENTS) -> list[JsonFields]:
        """The objects of a paginated list below the repository, up to `limit`."""
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
        """A raw file; the token is used only if the file is not public."""
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
        """The data of a GraphQL answer."""
        if not self.client.token(TOKEN):
            raise NotLoaded("GitHub's API shows discussions only with a token.", url="")
        body = json.dumps({"query": query, "variables": variables}).encode()
        answer = await self.client.json(self._graphql_address(), self._headers(), body=body)
        return JsonFields.of(answer).part("data")

    def _graphql_address(self) -> Url:
        """The GraphQL URL: next to the REST API on github.com, next to its version on an Enterprise server."""
        address = str(self.client.address(API, "/graphql"))
        return parse(address.replace("/api/v3/graphql", "/api/graphql"))

    def _headers(self, accept: str = "application/vnd.github+json") -> Headers:
        headers = (("Accept", accept), ("X-GitHub-Api-Version", "2022-11-28"))
        if token := self.client.token(TOKEN):
            return (*headers, ("Authorization", f"Bearer {token}"))
        return headers


async def _file(url: Url, api: _Api) -> Page:
    reply = await api.raw(api.target.path)
    try:
        content = reply.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        content = "\0"
    if "\0" in content[:4096]:
        media_type = (reply.header("content-type") or "").partition(";")[0].strip().lower()
        page = plain_page(url, "", api.client.now)
        return replace(page, media_type=media_type, body=reply.body, charset=None)
    text = file_text(api.target, content)
    if text is None:
        return plain_page(url, content, api.client.now)
    return markdown_page(url, text, api.client.now)


async def _issue(api: _Api) -> str:
    number = api.target.number
    issue = JsonFields.of(await api.below(f"/issues/{number}"))
    if "pull_request" in issue.values:
        return await _pull(api)
    comments = await api.listed(f"/issues/{number}/comments") if issue.number("comments") else []
    return issue_text(issue, comments)


async def _pull(api: _Api) -> str:
    number = api.target.number
    pull = JsonFields.of(await api.below(f"/pulls/{number}"))
    comments = await api.listed(f"/issues/{number}/comments") if pull.number("comments") else []
    reviews = await _or_none(api, f"/pulls/{number}/reviews")
    remarks = (
        await _or_none(api, f"/pulls/{number}/comments") if pull.number("review_comments") else []
    )
    files = await _or_none(api, f"/pulls/{number}/files")
    return pull_text(Pull(pull, comments, reviews, remarks, files))


async def _or_none(api: _Api, path: str) -> list[JsonFields]:
    """An optional list: empty if it cannot be fetched."""
    try:
        return await api.listed(path)
    except FetchError:
        return []


async def _discussion(api: _Api) -> str:
    target = api.target
    variables: dict[str, object] = {
        "owner": target.owner,
        "name": target.repo,
        "number": int(target.number),
        "after": None,
    }
    comments: list[JsonFields] = []
    while True:
        data = await api.graphql(DISCUSSION, variables)
        discussion = data.part("repository").part("discussion")
        found = discussion.part("comments")
        comments += found.parts("nodes")
        following = found.part("pageInfo")
        if not following.flag("hasNextPage") or len(comments) >= MAX_COMMENTS:
            return discussion_text(discussion, comments[:MAX_COMMENTS])
        variables["after"] = following.needed("endCursor")


async def _folder(api: _Api) -> str:
    target = api.target
    path = f"/contents/{target.path}".rstrip("/")
    query = {"ref": unquote(target.ref)} if target.ref else None
    entries = objects(await api.below(path, query))
    readme = next(
        (entry for entry in entries if entry.text("name").lower() == "readme.md"), JsonFields({})
    )
    text = ""
    if name := readme.text("name"):
        text = await _text_of(api, f"{target.path}/{name}".lstrip("/"))
    return folder_text(target, entries, text)


async def _text_of(api: _Api, path: str) -> str:
    """The text of an optional file: empty if it cannot be fetched."""
    try:
        return (await api.raw(path)).body.decode("utf-8", "replace")
    except FetchError:
        return ""


async def _repository(api: _Api) -> str:
    repository = JsonFields.of(await api.below(""))
    readme = await _text_of(api, "README.md") or await _readme(api)
    try:
        release = JsonFields.of(await api.below("/releases/latest"))
    except FetchError:
        release = JsonFields({})
    return repository_text(repository, readme, release)


async def _readme(api: _Api) -> str:
    """A README with another name or in another folder."""
    try:
        found = JsonFields.of(await api.below("/readme"))
        return b64decode(found.text("content")).decode("utf-8", "replace")
    except (FetchError, NotBase64):
        return ""


async def _releases(api: _Api) -> str:
    releases = objects(await api.below("/releases", {"per_page": "30"}))
    return releases_text(api.target, releases)


async def _release(api: _Api) -> str:
    tag = api.target.ref
    path = f"/releases/tags/{tag}" if tag else "/releases/latest"
    return release_text(api.target, JsonFields.of(await api.below(path)))


async def _gist(api: _Api) -> str:
    return gist_text(await api.fields(f"/gists/{api.target.ref}"))


async def _commit(api: _Api) -> str:
    commit = JsonFields.of(await api.below(f"/commits/{api.target.ref}"))
    return commit_text(api.target, commit)


async def _compare(api: _Api) -> str:
    query = {"per_page": str(PAGE_SIZE)}
    compared = JsonFields.of(await api.below(f"/compare/{api.target.ref}", query))
    return compare_text(api.target, compared)


async def _history(api: _Api) -> str:
    target = api.target
    wanted = {"sha": unquote(target.ref), "path": unquote(target.path), "per_page": "50"}
    query = {name: value for name, value in wanted.items() if value}
    return history_text(target, objects(await api.below("/commits", query)))


async def _wiki(api: _Api) -> str:
    target = api.target
    path = f"/wiki/{target.owner}/{target.repo}/{target.path}.md"
    reply = await api.client.api(api.client.address(RAW, path))
    return wiki_text(target, reply.body.decode("utf-8-sig", "replace"))


LAYOUTS: Mapping[str, Callable[[_Api], Awaitable[str]]] = {
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

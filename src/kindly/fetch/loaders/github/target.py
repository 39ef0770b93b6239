"""Parses a GitHub URL into the thing it names, from the URL alone. Pure."""

import re
from typing import Literal

from kindly.frozen import frozen
from kindly.urls import Url

Kind = Literal[
    "issue",
    "pull",
    "discussion",
    "file",
    "folder",
    "repository",
    "releases",
    "release",
    "gist",
    "wiki",
    "commit",
    "compare",
    "history",
]

HOSTS = frozenset({"github.com", "www.github.com"})
GIST_HOST = "gist.github.com"
OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})")
REPO = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
NUMBER = re.compile(r"[1-9][0-9]{0,9}")
GIST = re.compile(r"[0-9a-f]{5,64}")
SHA = re.compile(r"[0-9a-f]{7,64}")
NO_OWNERS = frozenset(
    [
        "about",
        "account",
        "apps",
        "blog",
        "codespaces",
        "collections",
        "contact",
        "customer-stories",
        "dashboard",
        "enterprise",
        "enterprises",
        "events",
        "explore",
        "features",
        "github-copilot",
        "issues",
        "join",
        "login",
        "logout",
        "marketplace",
        "mobile",
        "new",
        "notifications",
        "organizations",
        "orgs",
        "partners",
        "premium-support",
        "pricing",
        "pulls",
        "readme",
        "resources",
        "search",
        "security",
        "sessions",
        "settings",
        "signup",
        "site",
        "sitemap",
        "solutions",
        "sponsors",
        "stars",
        "team",
        "teams",
        "topics",
        "trending",
        "users",
        "watching",
        "why-github",
    ]
)
"""First path segments that are not the name of a user or an organisation."""
NUMBERED: dict[str, Kind] = {"issues": "issue", "pull": "pull", "discussions": "discussion"}


@frozen
class Target:
    """The thing that a URL names; all parts percent-encoded as in the URL."""

    kind: Kind
    owner: str = ""
    repo: str = ""
    number: str = ""
    ref: str = ""
    """A branch, tag or commit; two of them with `...` between; the id of a gist."""
    path: str = ""


def target_of(url: Url) -> Target | None:
    """The thing that a URL names; None if it is something else."""
    words = [word for word in url.target.partition("?")[0].split("/") if word]
    if url.host == GIST_HOST:
        return _gist(words)
    if url.host not in HOSTS or len(words) < 2:
        return None
    owner, repo, *rest = words
    if owner.lower() in NO_OWNERS or not OWNER.fullmatch(owner) or not REPO.fullmatch(repo):
        return None
    repo = repo.removesuffix(".git")
    if not rest:
        return Target("repository", owner, repo)
    found = (one(owner, repo, rest) for one in (_numbered, _placed, _released, _changed, _wiki))
    return next(filter(None, found), None)


def _gist(words: list[str]) -> Target | None:
    if not 1 <= len(words) <= 3 or not (
        found := [word for word in words[:2] if GIST.fullmatch(word)]
    ):
        return None
    return Target("gist", ref=found[-1])


def _numbered(owner: str, repo: str, rest: list[str]) -> Target | None:
    if len(rest) < 2 or rest[0] not in NUMBERED or not NUMBER.fullmatch(rest[1]):
        return None
    return Target(NUMBERED[rest[0]], owner, repo, number=rest[1])


def _placed(owner: str, repo: str, rest: list[str]) -> Target | None:
    if rest[0] == "tree" and len(rest) >= 2:
        return Target("folder", owner, repo, ref=rest[1], path="/".join(rest[2:]))
    if rest[0] == "blob" and len(rest) >= 3:
        return Target("file", owner, repo, ref=rest[1], path="/".join(rest[2:]))
    return None


def _released(owner: str, repo: str, rest: list[str]) -> Target | None:
    if rest == ["releases"]:
        return Target("releases", owner, repo)
    if rest == ["releases", "latest"]:
        return Target("release", owner, repo)
    if rest[:2] == ["releases", "tag"] and len(rest) >= 3:
        return Target("release", owner, repo, ref="/".join(rest[2:]))
    return None


def _changed(owner: str, repo: str, rest: list[str]) -> Target | None:
    if rest[0] == "commit" and len(rest) == 2 and SHA.fullmatch(rest[1]):
        return Target("commit", owner, repo, ref=rest[1])
    if rest[0] == "compare" and "..." in "/".join(rest[1:]):
        return Target("compare", owner, repo, ref="/".join(rest[1:]))
    if rest[0] == "commits":
        return Target("history", owner, repo, ref="".join(rest[1:2]), path="/".join(rest[2:]))
    return None


def _wiki(owner: str, repo: str, rest: list[str]) -> Target | None:
    """A wiki page; names that begin with an underscore are lists or histories."""
    if rest[0] != "wiki" or len(rest) > 2 or rest[-1].startswith("_"):
        return None
    return Target("wiki", owner, repo, path=rest[1] if len(rest) == 2 else "Home")

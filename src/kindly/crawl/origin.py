"""What a user asks to index → an `Origin`: a site, a sitemap, an `llms.txt`, a package, a Git repository, a folder.

Pure: nothing is looked up here.
"""

import re
from enum import StrEnum
from pathlib import Path

from kindly import urls
from kindly.errors import InputError
from kindly.frozen import frozen
from kindly.read.crawls.collection import collection_name

PACKAGE = re.compile(r"(pypi|npm):((?:@[\w.~-]+/)?[A-Za-z0-9][\w.~-]*)(?:@([\w.!+~-]+))?")
FORGES = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"})
"""Where the first two segments of the path are the repository."""
REF = re.compile(r"@([\w./-]{1,100})\Z")
NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._/-]+")
LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?", re.IGNORECASE)
VERSION_SEGMENT = re.compile(r"v?\d+(?:\.\d+){0,3}(?:[-.]?(?:rc|beta|alpha|dev)\.?\d*)?|v\d+")
MOVING = frozenset({"latest", "stable", "main", "master", "current", "next", "dev"})
GENERIC = frozenset({"docs", "doc", "documentation", "index", "guide", "reference", "manual"})


class OriginKind(StrEnum):
    """Where pages come from."""

    SITE = "site"
    SITEMAP = "sitemap"
    LLMS = "llms"
    PYPI = "pypi"
    NPM = "npm"
    GIT = "git"
    FOLDER = "folder"


@frozen
class Origin:
    """A parsed origin, and the name and version that its collection gets unless the user gives others."""

    kind: OriginKind
    text: str
    """As given."""
    place: str
    """An address, a path, or the name of a package."""
    name: str
    version: str = ""
    folder: str = ""
    """The folder inside a repository."""

    @property
    def is_local(self) -> bool:
        """Whether it is read on this machine or by its programs, not by the guarded fetcher."""
        return self.kind in {OriginKind.GIT, OriginKind.FOLDER}


def parse_origin(text: str) -> Origin:
    """The origin that a text names.

    Raises:
        InputError: it names none.
    """
    given = text.strip()
    if found := PACKAGE.fullmatch(given):
        kind = OriginKind(found[1])
        return Origin(kind, given, found[2], found[2].lstrip("@"), found[3] or "")
    if given.startswith("git+"):
        return _git(given)
    if given.startswith(("http://", "https://")):
        return _site(given)
    if given.startswith(("pypi:", "npm:")):
        raise InputError("A package is written pypi:name@version or npm:name@version.", field="url")
    return _folder(given)


def _site(text: str) -> Origin:
    url = urls.parse_page(text)
    path = url.target.partition("?")[0]
    name, version = named_by(str(url))
    last = path.rpartition("/")[2].lower()
    kind = OriginKind.SITE
    if last.startswith("sitemap") and last.endswith((".xml", ".xml.gz", ".txt")):
        kind = OriginKind.SITEMAP
    elif last in {"llms.txt", "llms-full.txt"}:
        kind = OriginKind.LLMS
    return Origin(kind, text, str(url), name, version)


def _folder(text: str) -> Origin:
    if "://" in text or not text:
        raise InputError(
            "Give an http or https address, a folder, pypi:name@version, npm:name@version or git+<repository>/folder.",
            field="url",
        )
    path = Path(text).expanduser().absolute()
    return Origin(OriginKind.FOLDER, text, str(path), _safe(path.name) or "folder")


def _git(text: str) -> Origin:
    place = text.removeprefix("git+")
    scheme, separator, rest = place.partition("://")
    if not separator or scheme not in {"https", "http", "file"}:
        raise InputError("A repository is written git+https://host/repository/folder.", field="url")
    ref = ""
    if found := REF.search(rest):
        ref, rest = found[1], rest[: found.start()]
    host, _, path = rest.partition("/")
    repository, folder = _split_repository(host, path)
    name = _safe(Path(repository).name.removesuffix(".git")) or "repository"
    return Origin(OriginKind.GIT, text, f"{scheme}://{host}/{repository}", name, ref, folder)


def _split_repository(host: str, path: str) -> tuple[str, str]:
    """A repository and the folder inside it: after `//`, after `.git/`, or after two segments on a known host."""
    for boundary in ("//", ".git/"):
        if boundary in path:
            before, _, folder = path.partition(boundary)
            return before + boundary.rstrip("/"), folder.strip("/")
    if host.lower() in FORGES:
        segments = path.strip("/").split("/")
        return "/".join(segments[:2]), "/".join(segments[2:])
    return path.rstrip("/"), ""


def named_by(url: str) -> tuple[str, str]:
    """A name and a version for the documentation at an address: `docs.example.com/en/2.1/` is version 2.1."""
    parsed = urls.parse(url)
    path = parsed.target.partition("?")[0]
    name = [parsed.netloc.removeprefix("www.").replace(":", "-").strip("[]")]
    version = ""
    segments = [part for part in path.split("/") if part]
    if segments and "." in segments[-1] and not VERSION_SEGMENT.fullmatch(segments[-1]):
        segments.pop()
    for segment in segments:
        if VERSION_SEGMENT.fullmatch(segment):
            version = version or segment.removeprefix("v")
        elif segment not in MOVING | GENERIC and not LANGUAGE.fullmatch(segment):
            name.append(segment)
    return _safe("/".join(name))[:100], version


def _safe(text: str) -> str:
    return NOT_IN_NAME.sub("-", text).strip("-./_")


def chosen_name(origin: Origin, given: str) -> tuple[str, str]:
    """The name and version of the collection: what the user gave, else what the origin says.

    Raises:
        InputError: the given name cannot be one.
    """
    if not given:
        return origin.name, origin.version
    name, version = collection_name(given)
    return name, version or origin.version

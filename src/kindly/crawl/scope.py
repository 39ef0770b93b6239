"""Which addresses belong to a collection: host and path, globs, file types, bounds against crawler traps. Pure."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from kindly import urls
from kindly.errors import InputError
from kindly.read.crawls.collection import CrawlRules
from kindly.urls import Url

NOT_PAGES = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|css|m?js|map|json|xml|rss|atom|woff2?|ttf|otf|eot|zip|gz|tgz|bz2|xz|7z"
    r"|tar|rar|whl|exe|dmg|pkg|deb|rpm|iso|bin|mp[34]|m4[av]|webm|og[gv]|wav|avi|mov|jar|war|inv|py|csv|wasm)\Z",
    re.IGNORECASE,
)
SESSION = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|sessionid|session_id|session|sid|zenid|osCsid)",
    re.IGNORECASE,
)
PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?]*|/\([a-z]\([a-z0-9]{6,}\)\)", re.I)
DATED = re.compile(r"(?:19|20|21)\d\d(?:\D{1,8}[01]?\d\b|[01]\d)")
DIGITS = re.compile(r"\d+")
MAX_DATED = 60
"""Pages that differ only in a date: a calendar has no end."""
MAX_QUERIES = 40
"""Pages that differ only in their query."""
MAX_REPEATS = 3
"""How often one segment may occur in a path."""
MAX_SEGMENTS = 16
MAX_LENGTH = 1_000


class LeftOut(StrEnum):
    """Why links were left out, in words that follow a number."""

    CALENDAR = "pages of a calendar"
    QUERIES = "pages that differ only in their query"
    LOOP = "addresses that repeat themselves"
    LONG = "addresses that are too long"
    DEPTH = "links beyond the depth"
    LINKS = "links beyond the limit of one page"
    PAGES = "pages beyond --max-pages"


@dataclass(slots=True)
class SiteScope:
    """Decides about links. It counts families of similar addresses, so one object serves one crawl."""

    start: Url
    rules: CrawlRules = field(default_factory=CrawlRules)
    refused: Counter[str] = field(default_factory=Counter)
    """How many links were left out, by reason."""
    _families: dict[str, set[str]] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """The path that all pages share, without a slash at its end."""
        path = self.start.target.partition("?")[0]
        last = path.rpartition("/")[2]
        return (path.rpartition("/")[0] if "." in last else path).rstrip("/")

    def contains(self, url: Url) -> bool:
        """Whether an address is on the site, below the path, and not excluded."""
        return self._surrounds(url) and self.allows(url)

    def allows(self, url: Url) -> bool:
        """Whether the globs of the rules allow an address."""
        return allowed(url.target.partition("?")[0], self.rules)

    def _surrounds(self, url: Url) -> bool:
        """Whether an address is on the site and below the path."""
        if (url.host, url.port) != (self.start.host, self.start.port):
            default = url.is_default_port and self.start.is_default_port
            if url.host != self.start.host or not default:
                return False
        path = url.target.partition("?")[0]
        return path == self.prefix or path.startswith(f"{self.prefix}/")

    def listed(self, addresses: Iterable[str]) -> list[str]:
        """The addresses of a sitemap or a list that belong to the collection, each once."""
        found = (self.parsed(address) for address in addresses)
        return list(dict.fromkeys(str(url) for url in found if url is not None))

    def parsed(self, address: str) -> Url | None:
        """A page of the collection, without session ids; None if the address is not one."""
        try:
            url = urls.parse_page(without_session(address))
        except InputError:
            return None
        path = url.target.partition("?")[0]
        return None if NOT_PAGES.search(path) or not self.contains(url) else url

    def linked(self, addresses: Iterable[str], depth: int) -> list[str]:
        """The links of a page at this depth that are followed; what is left out is counted."""
        found = dict.fromkeys(str(url) for one in addresses if (url := self.parsed(one)))
        if found and depth >= self.rules.depth:
            self.refused[LeftOut.DEPTH] += len(found)
            return []
        return [address for address in found if not self._is_trap(address)]

    def _is_trap(self, address: str) -> bool:
        path, _, query = urls.parse(address).target.partition("?")
        segments = [part for part in path.split("/") if part]
        reason: LeftOut | None = None
        if len(address) > MAX_LENGTH or len(segments) > MAX_SEGMENTS:
            reason = LeftOut.LONG
        elif segments and max(Counter(segments).values()) > MAX_REPEATS:
            reason = LeftOut.LOOP
        elif DATED.search(path + "?" + query) and not self._is_room(
            f"dated {DIGITS.sub('0', address)}", address, MAX_DATED
        ):
            reason = LeftOut.CALENDAR
        elif query and not self._is_room(f"query {path}", address, MAX_QUERIES):
            reason = LeftOut.QUERIES
        if reason is not None:
            self.refused[reason] += 1
        return reason is not None

    def _is_room(self, family: str, address: str, most: int) -> bool:
        """Whether an address is among the first of its family."""
        known = self._families.setdefault(family, set())
        if address not in known and len(known) >= most:
            return False
        known.add(address)
        return True


def allowed(path: str, rules: CrawlRules) -> bool:
    """Whether the globs of the rules allow a path."""
    if any(_globbed(path, glob) for glob in rules.exclude):
        return False
    return not rules.include or any(_globbed(path, glob) for glob in rules.include)


def without_session(address: str) -> str:
    """An address without the ids of a session, which make the same page look new each time."""
    before, mark, query = PATH_SESSION.sub("", address).partition("?")
    kept = [one for one in query.split("&") if not SESSION.fullmatch(one.partition("=")[0])]
    return before + (mark + "&".join(kept) if any(kept) else "")


def _globbed(path: str, glob: str) -> bool:
    """Whether a glob matches a path; one without a slash at its start may match anywhere."""
    return fnmatchcase(path, glob if glob.startswith(("/", "*")) else f"*{glob}")


def in_words(refused: Counter[str]) -> str:
    """A sentence that says what was left out; empty if nothing was."""
    parts = [f"{count:,} {reason}" for reason, count in refused.most_common()]
    return f"Left out: {'; '.join(parts)}." if parts else ""

"""Links of a page in few characters: relative to the page's address, each target once; and back to full addresses.

A target in the folder of the page is written without the folder (`[the prize](Nobel_Prize)`), another one on the same
site without the site (`[all](/list)`), any other in full. `[[Nobel Prize]]` is a link whose text is its target, with
spaces for underscores. Letters that an address encodes are written as letters.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_to_bytes

from kindly.models import Document

CODE = (
    r"^[ >]*(?P<fence>`{3,}|~{3,}).*?^[ >]*(?P=fence)|(?P<tick>`+)(?!`)[^\n]+?(?<!`)(?P=tick)(?!`)"
)
LABEL = r"(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,100}\]){0,300})"
TARGET = r"(?P<target>https?://(?:[^\s()<>]|\([^\s()<>]*\))+)"
LINK = re.compile(rf"(?<![!\\])\[{LABEL}\]\({TARGET}\)", re.S)
LINK_OR_CODE = re.compile(rf"{CODE}|{LINK.pattern}", re.M | re.S)
PLAIN_LABEL = re.compile(r"[^\W_](?:[^\[\]\\*`|_/\n]*[^\W_]\)?)?")
ARCHIVE = "//web.archive.org/web/"
ARCHIVED = re.compile(r"https?://web\.archive\.org/web/\w+/(https?:.+)")
SITE = re.compile(r"https?://[^/?#]+")
ADDRESS_PART = re.compile(r"[!-$&-~]+")
"""Characters that are in an address as they are written."""
ENCODED_LETTERS = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def shortened(markdown: str, page_url: str) -> str:
    """The text with short links. A target that was linked before, and the page itself, are only text."""
    if "](http" not in markdown:
        return markdown
    seen = set[str]()
    originals = set(_targets(markdown)) if ARCHIVE in markdown else set[str]()

    def short(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None:
            return found[0]
        label = LINK.sub(short, found["label"]) if "](" in found["label"] else found["label"]
        if (
            target in seen
            or _without_fragment(target) == _without_fragment(page_url)
            or _original(target) in originals
        ):
            return label
        seen.add(target)
        form = relative(target, page_url)
        return f"[[{label}]]" if _is_named(label, form) else f"[{label}]({form})"

    return _pattern(markdown).sub(short, markdown)


def relative(target: str, page_url: str) -> str:
    """The shortest form of an address on a page."""
    site = SITE.match(page_url)
    if site is None or not target.startswith(site[0]):
        return _readable(target)
    folder = _without_fragment(page_url).partition("?")[0].rpartition("/")[0] + "/"
    if len(folder) > len(site[0]) and target.startswith(folder):
        rest = target[len(folder) :]
        if rest and rest[0] not in "/?#." and not HAS_SCHEME.match(rest):
            return _readable(rest)
    path = target[len(site[0]) :]
    return _readable(path) if path[:1] == "/" and path[1:2] != "/" else target


def targets_of(written: str, documents: Iterable[Document]) -> set[str]:
    """The full addresses that a link may mean, as it is written on these pages."""
    written = written.removeprefix("[[").removesuffix("]]")
    part = max(ADDRESS_PART.findall(written.replace(" ", "_")[1:]), key=len, default="")
    return {
        target
        for document in documents
        if part in document.text
        for target in _targets(document.text)
        if (form := relative(target, document.url)) == written or _is_named(written, form)
    }


def is_relative(address: str) -> bool:
    """Whether this is a link as it is written on a page, without a site."""
    return bool(address.strip()) and HAS_SCHEME.match(address.strip()) is None


def _is_named(label: str, form: str) -> bool:
    """Whether the text of a link says its target; a small first letter is the same."""
    if not PLAIN_LABEL.fullmatch(label):
        return False
    name = label.replace(" ", "_")
    return name[1:] == form[1:] and name[0].lower() == form[0].lower()


def _original(target: str) -> str:
    """The address that an archive keeps a copy of."""
    found = ARCHIVED.match(target) if ARCHIVE in target else None
    return found[1] if found else ""


def _targets(markdown: str) -> Iterator[str]:
    return (found["target"] for found in LINK.finditer(markdown))


def _pattern(markdown: str) -> re.Pattern[str]:
    return LINK_OR_CODE if "`" in markdown or "~~~" in markdown else LINK


def _without_fragment(address: str) -> str:
    return address.partition("#")[0]


def _readable(address: str) -> str:
    return ENCODED_LETTERS.sub(_letters, address) if "%" in address else address


def _letters(encoded: re.Match[str]) -> str:
    try:
        text = unquote_to_bytes(encoded[0]).decode()
    except UnicodeDecodeError:
        return encoded[0]
    return text if text.isprintable() and not any(map(str.isspace, text)) else encoded[0]

"""`llms.txt` → the pages that it lists; `llms-full.txt` → the pages that it contains. Pure."""

import re

from kindly.frozen import frozen

LINK = re.compile(r"(?<!!)\[([^\]\n]{0,300})\]\(\s*<?([^)\s>]{1,2000})>?(?:\s+\"[^\"]*\")?\s*\)")
BARE = re.compile(r"^[-*\s]*(https?://\S+)\s*$", re.MULTILINE)
SOURCE = re.compile(
    r"^(?:\**(?:source|url|page|link|canonical)\**\s*:\s*\**\s*)<?(https?://[^\s>]+)>?\s*$", re.I
)
TITLE = re.compile(r"^#\s+(\S.*)$")
FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
RULE = re.compile(r"^(?:-{3,}|={3,}|\*{3,})\s*$")
FRONT = re.compile(r"^(?:title|description|date|sidebar\w*|slug|id)\s*:", re.IGNORECASE)
NEAR = 4
"""Lines between the title of a page and its source."""


@frozen
class FullPage:
    """One page of an `llms-full.txt`."""

    url: str
    title: str
    text: str


def links_of(text: str) -> list[str]:
    """The addresses that an `llms.txt` lists, in order, each once."""
    linked = [found[2] for found in LINK.finditer(text)]
    return list(dict.fromkeys(linked + [found[1] for found in BARE.finditer(text)]))


def pages_of(text: str) -> list[FullPage]:
    """The pages of an `llms-full.txt` that names the source of each; none if it does not."""
    lines = text.splitlines()
    sources = _sources(lines)
    starts = [_start(lines, number) for number, _ in sources]
    pages = []
    for place, (number, url) in enumerate(sources):
        end = starts[place + 1] if place + 1 < len(starts) else len(lines)
        before, after = lines[starts[place] : number], lines[number + 1 : end]
        pages.append(_page(url, [*before, *after]))
    return [page for page in pages if page.text]


def _sources(lines: list[str]) -> list[tuple[int, str]]:
    """The lines that name a source, outside of code."""
    found, fenced = [], False
    for number, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (source := SOURCE.match(line.strip())):
            found.append((number, source[1]))
    return found


def _start(lines: list[str], number: int) -> int:
    """Where the page of a source begins: at the title above it, if there is one, else at the source."""
    for above in range(number - 1, max(-1, number - 1 - NEAR), -1):
        if TITLE.match(lines[above]):
            return above
        if lines[above].strip() and not RULE.match(lines[above]) and not FRONT.match(lines[above]):
            return number
    return number


def _page(url: str, lines: list[str]) -> FullPage:
    while lines and (not lines[-1].strip() or RULE.match(lines[-1])):
        lines.pop()
    text = "\n".join(lines).strip()
    title = next((found[1].strip() for line in lines if (found := TITLE.match(line))), "")
    return FullPage(url, title, text)

"""What changed between two versions of a Markdown page: sections added, removed and altered, as a short diff. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff

from kindly.frozen import frozen
from kindly.read.evidence.stored_text import FENCE, HEADING

COMMENT = re.compile(r"\s{0,3}<!--")
COMMENT_END = "-->"
SPACE = re.compile(r"\s+")
SENTENCE = re.compile(r"(?<=[.!?;:])\s+")
MAX_LINES = 12
"""Of the diff of one section."""
MAX_LINE = 300
ADDED, REMOVED, ALTERED = "added", "removed", "altered"


@frozen
class Section:
    """A heading with the text up to the next one."""

    path: tuple[str, ...]
    """The headings above it and its own; empty for the text before the first heading."""
    text: str

    @property
    def title(self) -> str:
        """Its own heading."""
        return self.path[-1] if self.path else ""

    @property
    def body(self) -> str:
        """Its text without differences in white space."""
        return SPACE.sub(" ", self.text).strip()


@frozen
class SectionChange:
    """One section that changed."""

    kind: str
    """`added`, `removed` or `altered`."""
    section: tuple[str, ...]
    diff: tuple[str, ...] = ()
    """Lines that begin with + or -."""
    more: int = 0
    """Lines that were left out."""


def sections_of(text: str) -> list[Section]:
    """The sections of a Markdown text, in order; those without text and without a heading are left out.

    Comments that begin a line are no text.
    """
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    is_comment = False

    def close() -> None:
        section = Section(tuple(title for _, title in path), "\n".join(lines).strip())
        if section.text or section.path:
            found.append(section)

    for line in text.splitlines():
        if is_comment or (not fence and COMMENT.match(line)):
            is_comment = COMMENT_END not in line
            continue
        heading = None if fence else HEADING.match(line)
        if mark := FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if heading is None:
            lines.append(line)
            continue
        close()
        level = len(heading[1])
        path = [one for one in path if one[0] < level] + [(level, heading[2] or "")]
        lines = []
    close()
    return found


def compare(before: str, after: str) -> list[SectionChange]:
    """The sections that changed, in the order of the new version; a section that only moved is not among them."""
    old, new = _without_equal(sections_of(before), sections_of(after))
    changes: list[tuple[int, SectionChange]] = []
    for place, section in new:
        partner = _partner(section, old)
        if partner is None:
            changes.append((place, _change(ADDED, section.path, "", section.text)))
            continue
        old.remove(partner)
        _, former = partner
        before_text = former.text
        if former.title != section.title:
            before_text, after_text = (
                f"# {former.title}\n{former.text}",
                f"# {section.title}\n{section.text}",
            )
        else:
            after_text = section.text
        changes.append((place, _change(ALTERED, section.path, before_text, after_text)))
    changes += [(place, _change(REMOVED, one.path, one.text, "")) for place, one in old]
    return [change for _, change in sorted(changes, key=lambda one: one[0])]


Placed = tuple[int, Section]


def _without_equal(
    old: Sequence[Section], new: Sequence[Section]
) -> tuple[list[Placed], list[Placed]]:
    """The sections that have no equal one in the other version, wherever it stands."""

    def keys(sections: Sequence[Section]) -> list[tuple[str, str]]:
        return [(one.title, one.body) for one in sections]

    common = Counter(keys(old)) & Counter(keys(new))

    def rest(sections: Sequence[Section]) -> list[Placed]:
        left = Counter(common)
        kept = []
        for place, (section, key) in enumerate(zip(sections, keys(sections), strict=True)):
            if left[key] > 0:
                left[key] -= 1
            else:
                kept.append((place, section))
        return kept

    return rest(old), rest(new)


def _partner(section: Section, old: Sequence[Placed]) -> Placed | None:
    """The former version of a section: of the same path, else of the same title, else with the same text."""
    same = [one for one in old if one[1].path == section.path]
    same = same or [one for one in old if one[1].title == section.title]
    if same:
        return max(same, key=lambda one: _likeness(one[1].body, section.body))
    return next((one for one in old if section.body and one[1].body == section.body), None)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).quick_ratio()


def _change(kind: str, path: tuple[str, ...], before: str, after: str) -> SectionChange:
    lines = list(unified_diff(_lines(before), _lines(after), n=0, lineterm=""))[2:]
    shown = [line[:MAX_LINE] for line in lines if line[:1] in "+-"]
    return SectionChange(kind, path, tuple(shown[:MAX_LINES]), max(0, len(shown) - MAX_LINES))


def _lines(text: str) -> list[str]:
    """Lines, and the sentences of long ones, so that a diff shows what changed and not its whole paragraph."""
    plain = (SPACE.sub(" ", line).strip() for line in text.splitlines())
    return [part for line in plain for part in SENTENCE.split(line) if part]

"""Marks of pages in the text of a file: `— page 12 —` where a page begins, `p. 12` in the path of a section."""

import re
from typing import Final

PAGE_MARK: Final = re.compile(r"^— page (\d{1,5}) —$", re.MULTILINE)
_LABEL = re.compile(r"p\. (\d{1,5})")


def page_mark(number: int) -> str:
    """The words of the remark that begins a page; a remark is set off by dashes."""
    return f"page {number}"


def page_label(number: int) -> str:
    """How a page is named after the headings of a section."""
    return f"p. {number}"


def page_of(section: tuple[str, ...]) -> int | None:
    """The page that a section path names, or None."""
    found = _LABEL.fullmatch(section[-1]) if section else None
    return int(found[1]) if found else None


def headings_of(section: tuple[str, ...]) -> tuple[str, ...]:
    """The headings of a section path, without the page."""
    return section if page_of(section) is None else section[:-1]


def on_page_after(section: tuple[str, ...], before: str) -> tuple[str, ...]:
    """The section path of text that comes after `before`: on the last page that begins there, or else the same."""
    marks = PAGE_MARK.findall(before)
    if not marks:
        return section
    return (*headings_of(section), page_label(int(marks[-1])))

"""Two versions of a page: every changed section is reported, and no other."""

import random
from collections.abc import Callable

import pytest

from kindly.read.evidence.section_changes import (
    ADDED,
    ALTERED,
    REMOVED,
    SectionChange,
    compare,
    sections_of,
)
from tests.support.paths import ROOT

BEFORE = """Intro.

# Guide
About this.

## Install
Run pip. Then wait.
```
# not a heading
```

## Use
Call it.

## Limits
At most 10.
"""


def kinds(changes: list[SectionChange]) -> list[tuple[str, str]]:
    return [(one.kind, one.section[-1] if one.section else "") for one in changes]


CASES: dict[str, tuple[Callable[[str], str], list[tuple[str, str]]]] = {
    "nothing": (lambda text: text, []),
    "white space": (lambda text: text.replace("Run pip. ", "Run  pip.\n"), []),
    "a number": (lambda text: text.replace("10", "20"), [(ALTERED, "Limits")]),
    "a new section": (lambda text: text + "\n## New\nHello.", [(ADDED, "New")]),
    "a section less": (lambda text: text.partition("## Limits")[0], [(REMOVED, "Limits")]),
    "a new title": (lambda text: text.replace("## Use", "## Usage"), [(ALTERED, "Usage")]),
    "the title above": (lambda text: text.replace("# Guide", "# Manual", 1), [(ALTERED, "Manual")]),
    "the intro": (lambda text: text.replace("Intro.", "Start."), [(ALTERED, "")]),
    "a comment": (lambda text: text.replace("Call it.", "<!-- # Old\nnote -->\nCall it."), []),
    "text of a section without title": (
        lambda text: text.replace("# Guide", "#\nHello.\n\n# Guide", 1),
        [(ADDED, "")],
    ),
    "a title that ends in a sign": (
        lambda text: text.replace("## Use", "## Use of C# ##"),
        [(ALTERED, "Use of C#")],
    ),
    "code": (lambda text: text.replace("# not a", "# no"), [(ALTERED, "Install")]),
    "the order": (
        lambda text: text.replace("## Limits\nAt most 10.\n", "").replace(
            "## Install", "## Limits\nAt most 10.\n\n## Install"
        ),
        [],
    ),
}


@pytest.mark.parametrize(("change", "expected"), CASES.values(), ids=CASES)
def test_a_change_is_reported_in_its_section(
    change: Callable[[str], str], expected: list[tuple[str, str]]
) -> None:
    assert kinds(compare(BEFORE, change(BEFORE))) == expected


def test_the_diff_shows_the_sentence_that_changed() -> None:
    (change,) = compare(BEFORE, BEFORE.replace("Then wait.", "Then go."))
    assert change.diff == ("-Then wait.", "+Then go.")
    assert change.section == ("Guide", "Install")


def test_a_long_diff_is_cut_and_counted() -> None:
    (change,) = compare("# A\n", "# A\n" + "\n".join(f"Line {n}" for n in range(50)))
    assert (len(change.diff), change.more) == (12, 38)


def test_sections_are_cut_at_headings_outside_of_code() -> None:
    assert [one.title for one in sections_of(BEFORE)] == ["", "Guide", "Install", "Use", "Limits"]


DOCS = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_of_real_documentation_exactly_the_changed_sections_are_reported(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    chance = random.Random(path.name)  # type: ignore[attr-defined] # noqa: S311 - a sample
    sections = [one for one in sections_of(text) if one.text]
    titles = [one.title for one in sections]
    own = [one for one in sections if titles.count(one.title) == 1 and text.count(one.text) == 1]
    changed = chance.sample(own, min(3, len(own)))
    after = text
    for section in changed:
        after = after.replace(section.text, f"{section.text}\n\nAnother sentence.")
    found = compare(text, after)
    assert sorted(one.section for one in found) == sorted(one.path for one in changed)
    assert {one.kind for one in found} <= {ALTERED}
    assert all("+Another sentence." in one.diff or one.more for one in found)

"""Documents that four site generators built come back as the Markdown they were made from."""

from dataclasses import replace

import pytest
from bench.round_trip import COMPARED, DATA, FLOOR, KINDS, compare, figures, parts, text_of
from bench.round_trip_build import BUILDERS, BuiltPage, load
from bench.round_trip_dialects import MKDOCS, PLAIN, written
from bench.round_trip_documents import documents

SOURCE = """# Title

Some *words* with [a link](https://a.example/x) and $x_1$.[^n]

- one
  1. two

| a | b |
|---|---|
| 1 | 2 |

```py
if x:
    pass
```

[^n]: A note.
"""
PAGE = BuiltPage("page", "https://site.example/page", SOURCE, ["Mind"], "")


@pytest.mark.parametrize("generator", BUILDERS)
def test_built_pages_reach_the_floor_in_every_kind(generator: str) -> None:
    pages = load(DATA / f"{generator}.jsonl.xz")
    assert sum(page.name.startswith("guide/") for page in pages) == len(documents())
    found = figures(compare(page, text_of(page)) for page in pages)
    assert {kind: share for kind, share in found.items() if share < FLOOR} == {}
    assert set(found) == set(KINDS)


def test_source_has_a_part_of_every_kind() -> None:
    found = parts(SOURCE, PAGE.url)
    assert {kind: list(found[kind]) for kind in COMPARED} == {
        "heading": [("h1", "Title")],
        "code": [("if x:\n    pass", "python")],
        "table": [("a", "b"), ("1", "2")],
        "item": [("1", "ul", "one"), ("2", "ol", "two")],
        "link": [("a link", "https://a.example/x")],
        "formula": [("x_1",)],
        "footnote": [("A note.",)],
    }


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("# Title", "## Title", "heading"),
        ("    pass", "pass", "code"),
        ("```py", "```", "code"),
        ("| 1 | 2 |", "| 1 | 3 |", "table"),
        ("  1. two", "1. two", "item"),
        ("a.example/x", "a.example/y", "link"),
        ("$x_1$", "x_1", "formula"),
        ("A note.", "Another.", "footnote"),
    ],
)
def test_changed_part_counts_as_lost(old: str, new: str, kind: str) -> None:
    same, changed = compare(PAGE, SOURCE), compare(PAGE, SOURCE.replace(old, new))
    assert kind not in {lost for lost, _ in same.lost}
    assert kind in {lost for lost, _ in changed.lost}
    assert figures([changed])[kind] < figures([same])[kind] == 1


def test_label_counts_only_on_a_line_of_its_own() -> None:
    assert figures([compare(PAGE, f"{SOURCE}\n**Mind**\n")])["label"] == 1
    assert figures([compare(PAGE, f"{SOURCE}\nMind the rest\n")])["label"] == 0


def test_link_to_a_page_of_the_site_is_the_same_for_all_generators() -> None:
    targets = ("other.md", "/other/", "other.html#part", "https://site.example/other")
    pages = [replace(PAGE, source=f"[x]({target})") for target in targets]
    assert all(parts(page.source, page.url)["link"] == {("x", "other"): 1} for page in pages)
    assert not parts("[x](#part) [y](page.html#part)", PAGE.url)["link"]


def test_documents_are_the_same_each_time() -> None:
    first, second = (
        {name: written(blocks, MKDOCS) for name, blocks in documents().items()} for _ in range(2)
    )
    assert first == second
    assert first != {name: written(blocks, PLAIN) for name, blocks in documents().items()}

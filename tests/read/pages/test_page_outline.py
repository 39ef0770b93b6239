"""The outline of a page: what is in it, its bytes, and which kinds of pages are recognised."""

import pytest

from kindly.models import StoredPageInfo
from kindly.read.chunk import split
from kindly.read.pages.page_outline import (
    DATED,
    LISTING,
    RELEASES,
    WORD_BITS,
    Outline,
    address_of,
    from_bytes,
    key_of,
    keys,
    kind_of,
    named_terms,
    outline_of,
    page_indexing,
    plain,
    to_bytes,
)
from tests.support.stored_pages import NOON

URL = "https://docs.example/3/library/os.path.html"
TEXT = """# `os.path` — Pathname manipulations

This module implements [functions](functions.html) on pathnames.

## Joining

**os.path.join(*path*, *\\*paths*)¶**

Join one or more segments.

```python
# not a heading
```
"""


def outline(text: str = TEXT, title: str = "", url: str = URL) -> Outline:
    entry = StoredPageInfo(url, title, NOON, "hash", len(text))
    return outline_of(entry, split(text, url))


def test_an_outline_has_the_terms_of_every_field() -> None:
    found = outline()
    assert found.title == found.name == keys("os.path — Pathname manipulations")
    assert found.slug == keys("os.path")
    assert found.path == keys("3 library")
    assert found.host == keys("docs example")
    assert set(keys("module implements functions on pathnames")) <= set(found.lead)
    assert key_of("join", "join") in found.headings[1]
    assert set(keys("os.path.join")) <= set(found.defined)
    assert key_of("head", "heading") not in {key for one in found.headings for key in one}
    assert (found.kind, found.depth) == (0, 2)
    assert 0 < found.links < 0.5


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Given", "# Heading\n\nText.", "Given"),
        ("", "---\ntitle: useEffect\n---\n\n## Reference\n\nText.", "useEffect"),
        ("", '---\ntitle: "Common components"\n---\n\nText.', "Common components"),
        ("", "# Path Parameters { #path-parameters }\n\nText.", "Path Parameters"),
        ("", "Only text.", ""),
    ],
)
def test_a_title_comes_from_the_page_its_front_matter_or_its_first_heading(
    title: str, text: str, expected: str
) -> None:
    assert outline(text, title).title == keys(expected)


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("`useEffect(setup)` {/*useeffect*/}", "useEffect(setup)"),
        ('Data <dfn title="also">conversion</dfn> { #data }', "Data conversion"),
        ("5.1. More on [Lists](lists.html)¶", "More on Lists"),
        ("`<StrictMode>`", "StrictMode"),
        ("<input>", "input"),
    ],
)
def test_markup_is_no_part_of_a_heading(heading: str, expected: str) -> None:
    assert plain(heading) == expected


@pytest.mark.parametrize(
    ("url", "slug", "path", "depth"),
    [
        ("https://a.example/docs/guide/index.html", "guide", "docs", 1),
        ("https://www.a.example/tutorial/query-params/", "query-params", "tutorial", 1),
        ("https://a.example/", "", "", 0),
        ("https://a.example/a%20b.md?x=1#part", "a b", "", 0),
    ],
)
def test_an_address_is_read_without_suffix_and_index(
    url: str, slug: str, path: str, depth: int
) -> None:
    found = address_of(url)
    assert (found.host, found.slug, found.path, found.depth) == ("a example", slug, path, depth)


@pytest.mark.parametrize(
    ("path", "title", "kind"),
    [
        ("library/pathlib.html", "pathlib", 0),
        ("whatsnew/3.11.html", "What’s New In Python 3.11", RELEASES),
        ("release-notes/", "Release Notes", RELEASES),
        ("CHANGELOG.md", "", RELEASES),
        ("blog/2021/12/17/recap", "Recap", DATED),
        ("genindex.html", "Index", LISTING),
        ("glossary", "Glossary", LISTING),
    ],
)
def test_kinds_of_pages_that_mention_everything(path: str, title: str, kind: int) -> None:
    assert kind_of(f"https://docs.example/{path}", title) == kind


def test_bytes_give_the_outline_back() -> None:
    found = outline()
    held = from_bytes(to_bytes(found))
    assert held is not None
    assert held.links == pytest.approx(found.links, abs=1 / 255)
    assert to_bytes(held) == to_bytes(found)


def test_an_outline_of_the_version_before_is_read() -> None:
    found = outline()
    assert from_bytes(b"\x01" + to_bytes(found)[1:]) == from_bytes(to_bytes(found))


@pytest.mark.parametrize(
    ("one", "other", "same_key", "same_beginning"),
    [
        ("generators", "generator", True, True),
        ("generators", "general", False, True),
        ("general", "generating", False, True),
        ("paths", "path", True, True),
        ("path", "part", False, False),
    ],
)
def test_keys_tell_words_with_the_same_beginning_apart(
    one: str, other: str, same_key: bool, same_beginning: bool
) -> None:
    (first,), (second,) = keys(one), keys(other)
    assert (first == second) == same_key
    assert (first >> WORD_BITS == second >> WORD_BITS) == same_beginning


@pytest.mark.parametrize("start", [0, 1], ids=["another version", "too short"])
def test_bytes_of_another_version_and_damaged_ones_are_not_used(start: int) -> None:
    held = to_bytes(outline())
    assert from_bytes(held[start:] if start else b"\x00" + held[1:]) is None
    assert from_bytes(held[:-1]) is None
    assert from_bytes(b"") is None
    assert from_bytes(None) is None


def test_the_word_index_gets_the_marked_terms_of_title_and_address() -> None:
    entry = StoredPageInfo(URL, "", NOON, "hash", len(TEXT))
    chunks = split(TEXT, URL)
    named = named_terms(entry, chunks)
    assert {"=ospath", "=manipu", "=librar"} <= set(named)
    assert page_indexing(entry, chunks).named == " ".join(named)


def test_a_page_without_chunks_has_an_outline_of_its_title_and_address() -> None:
    entry = StoredPageInfo(URL, "Paths", NOON, "hash", 0)
    found = outline_of(entry, ())
    assert (found.title, found.slug, found.headings) == (keys("Paths"), keys("os.path"), ())

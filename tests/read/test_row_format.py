"""What stores agree on: eviction, models, scopes."""

from datetime import UTC, datetime, timedelta

import pytest

from kindly.models import RecallScope, StoredPageInfo
from kindly.read.row_format import EvictionCandidate, from_path, in_scope, outdated, to_path

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
PAGES = [EvictionCandidate(f"p{day}", NOON - timedelta(days=day), 10) for day in range(5)]


@pytest.mark.parametrize(
    ("max_bytes", "days", "gone"),
    [
        (1000, 99, []),
        (1000, 2.5, ["p3", "p4"]),
        (30, 99, ["p3", "p4"]),
        (29, 99, ["p2", "p3", "p4"]),
        (0, 99, ["p0", "p1", "p2", "p3", "p4"]),
        (45, 3.5, ["p4"]),
    ],
)
def test_the_old_and_what_is_too_much_leave(max_bytes: int, days: float, gone: list[str]) -> None:
    shuffled = [PAGES[place] for place in (3, 0, 4, 1, 2)]
    assert outdated(shuffled, max_bytes, NOON - timedelta(days=days)) == gone


@pytest.mark.parametrize("section", [(), ("a",), ('quo"te', "b > c", "日本")])
def test_headings_come_back_from_their_field(section: tuple[str, ...]) -> None:
    assert from_path(to_path(section)) == section


@pytest.mark.parametrize(
    ("url", "site", "expected"),
    [
        ("https://docs.example.com/a", "example.com", True),
        ("https://docs.example.com:8080/a", "docs.example.com", True),
        ("https://badexample.com/a", "example.com", False),
        ("https://other.org/?from=https://example.com/", "example.com", False),
    ],
)
def test_a_site_is_a_domain_with_its_subdomains(url: str, site: str, *, expected: bool) -> None:
    entry = StoredPageInfo(url, "", NOON, "", 0)
    assert in_scope(entry, RecallScope(site=site)) is expected

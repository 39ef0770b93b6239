"""Collections as values: names, rules and progress."""

import pytest

from kindly.errors import InputError
from kindly.read.crawls.collection import (
    Collection,
    CollectionStatus,
    CrawlRules,
    TaskState,
    collection_name,
)
from tests.support.stored_pages import NOON


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fastapi@0.115", ("fastapi", "0.115")),
        (" docs.python.org/3 ", ("docs.python.org/3", "")),
        ("a@1.0-rc.1+x", ("a", "1.0-rc.1+x")),
    ],
)
def test_a_name_may_have_a_version(text: str, expected: tuple[str, str]) -> None:
    assert collection_name(text) == expected


@pytest.mark.parametrize("text", ["", "@1", "a b", "a#b", "a@1#2", "x" * 101, "a@b@c"])
def test_a_name_that_an_address_cannot_have_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="may have a version"):
        collection_name(text)


def test_an_id_has_the_version_if_there_is_one() -> None:
    assert Collection("docs", "", NOON).id == "docs"
    assert Collection("docs", "", NOON, version="2").id == "docs@2"


def test_rules_survive_their_column() -> None:
    rules = CrawlRules(("/a/*", "*b"), ("/c",), 7, 2)
    assert CrawlRules.from_json(rules.to_json()) == rules


def test_pages_that_are_left_are_pending_or_leased() -> None:
    tasks = {TaskState.PENDING: 2, TaskState.LEASED: 1, TaskState.DONE: 5}
    assert CollectionStatus(Collection("docs", "", NOON), tasks).left == 3

"""Arguments: lenient in spelling, strict in meaning, clear in refusal."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kindly.errors import InputError
from kindly.server.arguments import Arguments, as_list, since_date
from kindly.server.profiles import all_profiles
from kindly.server.profiles.kindly.profile import GetContentArguments, WebSearchArguments


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"query": "x", "num_results": "5"}, "num_results", 5),
        ({"query": "x", "num_results": 5.0}, "num_results", 5),
        ({"query": "x", "num_results": None}, "num_results", 3),
        ({"query": "x", "num_results": ""}, "num_results", 3),
        ({"query": 2024}, "query", "2024"),
        ({"query": "  x  "}, "query", "x"),
        ({"query": "null"}, "query", "null"),
        ({"query": "[1]"}, "query", "[1]"),
        ({"query": "x", "time_range": "Week"}, "time_range", "week"),
        ({"query": "x", "time_range": None}, "time_range", None),
        ({"query": "x", "site": "null"}, "site", None),
        ({"query": "x", "safe_search": "STRICT"}, "safe_search", "strict"),
    ],
    ids=[
        "number as text",
        "whole float",
        "null",
        "empty",
        "number for text",
        "blanks",
        "the word null",
        "brackets",
        "capitals",
        "null choice",
        "null option",
        "all capitals",
    ],
)
def test_spelling_is_forgiven(given: dict[str, Any], field: str, value: object) -> None:
    assert getattr(WebSearchArguments.parse(given), field) == value


@pytest.mark.parametrize("given", ["true", "True", "TRUE", "1", 1, True], ids=repr)
def test_truth_is_read_in_many_spellings(given: object) -> None:
    assert (
        GetContentArguments.parse({"url": "https://x.org", "include_images": given}).include_images
        is True
    )


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "query"),
        (None, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": []}, "query"),
        ({"query": ["a", ""]}, "query"),
        ({"query": ["a"] * 6}, "query"),
        ({"query": "x", "num_results": 0}, "num_results"),
        ({"query": "x", "num_results": 51}, "num_results"),
        ({"query": "x", "num_results": "many"}, "num_results"),
        ({"query": "x", "time_range": "decade"}, "time_range"),
        ({"query": "x", "time_range": "none"}, "time_range"),
        ({"query": "x", "time_range": ""}, "time_range"),
        ({"query": "x", "safe_search": "none"}, "safe_search"),
        ({"query": "x", "safe_search": "null"}, "safe_search"),
        ({"query": "x", "category": "None"}, "category"),
        ({"query": "x", "category": "jokes"}, "category"),
        ({"query": "x", "language": "english please"}, "language"),
        ({"query": "x", "region": "usa"}, "region"),
        ({"query": "x", "max_tokens": 10}, "max_tokens"),
        ({"query": "x", "return_full_pages": False}, "return_full_pages"),
    ],
    ids=[
        "nothing",
        "no arguments",
        "empty",
        "blank",
        "too long",
        "no query in a list",
        "an empty query in a list",
        "too many queries",
        "too few",
        "too many",
        "a word",
        "unknown range",
        "no range, as a word",
        "empty range",
        "no safe search, as a word",
        "null, as a word",
        "no category, as a word",
        "unknown category",
        "unknown language",
        "unknown region",
        "too small",
        "unknown argument",
    ],
)
def test_wrong_meaning_is_refused_by_name(given: dict[str, Any] | None, named: str) -> None:
    with pytest.raises(InputError) as caught:
        WebSearchArguments.parse(given)
    assert caught.value.field == named
    assert named in caught.value.detail
    assert len(caught.value.detail) < 400


def test_refusal_names_the_allowed_values() -> None:
    with pytest.raises(InputError) as caught:
        WebSearchArguments.parse({"query": "x", "time_range": "decade"})
    assert all(word in caught.value.detail for word in ("day", "week", "month", "year", "decade"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"num_results": 0}, "num_results: must be at least 1, not 0."),
        ({"num_results": 99}, "num_results: must be at most 50, not 99."),
        ({"num_results": "many"}, "num_results: must be an integer, not 'many'."),
        ({"num_results": 1.5}, "num_results: must be an integer, not 1.5."),
        ({"include_domains": {"a": 1}}, "include_domains: must be a list, not {'a': 1}."),
        ({"query": {"a": 1}}, "query: must be a string, not {'a': 1}."),
        ({"time_range": "decade"}, "time_range: must be 'day', 'week', 'month' or 'year', not "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_a_refusal_says_what_the_argument_must_be(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        WebSearchArguments.parse({"query": "x", **given})
    assert caught.value.detail.startswith(said)


def test_schema_is_slim() -> None:
    schema = WebSearchArguments.schema_for_clients()
    assert schema["required"] == ["query"]
    assert "additionalProperties" not in schema
    assert schema["properties"]["num_results"] == {
        "default": 3,
        "maximum": 50,
        "minimum": 1,
        "type": "integer",
    }
    assert schema["properties"]["time_range"] == {
        "enum": ["day", "week", "month", "year"],
        "type": "string",
    }
    assert "title" not in schema


PATTERNED = [
    (tool.arguments, name)
    for profile in all_profiles()
    for tool in profile.tools
    for name, field in tool.arguments.model_fields.items()
    if any(getattr(item, "pattern", None) for item in field.metadata)
]


@pytest.mark.parametrize(
    ("arguments", "name"),
    PATTERNED,
    ids=[f"{model.__module__}-{name}" for model, name in PATTERNED],
)
def test_a_pattern_is_explained_in_words(arguments: type[Arguments], name: str) -> None:
    with pytest.raises(InputError) as caught:
        arguments.parse({"query": "x", name: "?!"})
    assert caught.value.detail.startswith(f"{name}: must be a ")
    assert caught.value.detail.endswith("not '?!'.")
    assert "pattern" not in caught.value.detail


CHOICES = [
    (tool.arguments, name)
    for profile in all_profiles()
    for tool in profile.tools
    for name, field in tool.arguments.model_fields.items()
    if "Literal" in str(field.annotation)
]


@pytest.mark.parametrize("word", ["none", "null", "None", "any"])
@pytest.mark.parametrize(
    ("arguments", "name"),
    CHOICES,
    ids=[f"{model.__name__}-{name}" for model, name in CHOICES],
)
def test_a_word_outside_the_choices_is_refused_in_every_profile(
    arguments: type[Arguments], name: str, word: str
) -> None:
    given = {"query": "x", "url": "https://x.org", name: word}
    known = {key: value for key, value in given.items() if key in arguments.model_fields}
    with pytest.raises(InputError) as caught:
        arguments.parse(known)
    assert caught.value.field == name
    assert arguments.parse(known | {name: None}).model_dump()[name] != word


def test_a_single_value_becomes_a_list_of_one() -> None:
    assert as_list("a") == ["a"]
    assert as_list(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), ("", None), ("2026-01-31", "2026-01-31"), ("2 days ago", "2026-04-29")],
)
def test_a_date_is_written_or_counted_back(text: str | None, expected: str | None) -> None:
    found = since_date(text, datetime(2026, 5, 1, 12, tzinfo=UTC))
    assert (None if found is None else found.date().isoformat()) == expected


def test_what_is_no_date_is_refused() -> None:
    with pytest.raises(InputError, match="since"):
        since_date("some time", datetime(2026, 5, 1, tzinfo=UTC))

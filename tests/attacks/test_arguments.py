"""Arguments of any shape: each is accepted, or refused by name before any network call, without an internal error."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any

import anyio.from_thread
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_types import CallToolResult, TextContent

from kindly.errors import InputError
from kindly.server.profiles import all_profiles, profile_for
from kindly.server.render.failures import UNEXPECTED
from kindly.server.tool import Profile, Tool
from kindly.settings import Settings
from tests.support.attack_engine import Engine, Network, running
from tests.support.fetch_fakes import PUBLIC

SITE = "http://a.example.com/"
CASES = [(profile, tool) for profile in all_profiles() for tool in profile.tools]
each_tool = pytest.mark.parametrize(
    ("profile", "tool"), CASES, ids=[f"{profile.name} {tool.name}" for profile, tool in CASES]
)

odd_text = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "",
            " ",
            "null",
            "None",
            "[]",
            '["a", 1]',
            "[" * 5_000,
            '{"a":' * 500,
            "9" * 6_000,
            "1e999",
            "NaN",
            "-0",
            "0x10",
            "true",
            "\x00",
            "\u202e\U000e0041",
            "a" * 9_000,
            "'; DROP TABLE pages; --",
            "../../etc/passwd",
            "${jndi:ldap://x}",
            "{{7*7}}",
            "%s%n",
            "http://127.0.0.1/",
            SITE,
        ]
    ),
)
odd_number = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([10**4_000, -(10**4_000), 2**63, -1, 0, 1, 1.5, float("inf")]),
)
anything = st.recursive(
    st.none() | st.booleans() | odd_number | odd_text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
queries = st.text(min_size=1, max_size=40).filter(str.strip)
cursors = st.from_regex(r"[0-9a-f]{12}-[0-9]{1,6}", fullmatch=True)
selectors = st.sampled_from(
    ["main", "p", "#x > .y", "a[href^=x]", "::", "p:nth-child(", "*", ">>", "\\"]
)
SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "url": st.sampled_from(
        [SITE, f"{SITE}x?y=1#z", "https://a.example.com/é", "http://nowhere.example/"]
    ),
    "cursor": cursors,
    "selector": selectors,
    "language": st.sampled_from(["en", "pt-BR"]),
    "region": st.sampled_from(["us", "DE"]),
    "site": st.sampled_from(["example.com", "docs.python.org"]),
    "include_domains": st.sampled_from([[], ["example.com"], ["https://www.a.org/", "edu"]]),
    "exclude_domains": st.sampled_from([[], ["example.com"], "b.org, c.org"]),
    "published_after": st.sampled_from(["2024-02-20", "2024-02-20T10:00:00Z"]),
    "published_before": st.sampled_from(["2025-02-20"]),
    "since": st.sampled_from(["2026-01-31", "3 days ago"]),
}


def of_schema(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows, some of them spelled as models spell them."""
    if name in SPECIAL:
        return SPECIAL[name]
    if "anyOf" in schema:
        return st.one_of(*(of_schema("", branch) for branch in schema["anyOf"]))
    if "enum" in schema:
        words = st.sampled_from(schema["enum"])
        return words | words.map(lambda word: str(word).upper())
    numbers = st.integers(schema.get("minimum", 1), schema.get("maximum", 50))
    lists = st.lists(queries, min_size=1, max_size=3)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "integer": numbers | numbers.map(str),
        "boolean": st.booleans() | st.sampled_from(["true", "False", 1]),
        "array": lists | lists.map(json.dumps),
    }
    return kinds.get(schema.get("type", ""), queries)


def valid_arguments(tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    schema = tool.arguments.schema_for_clients()
    fields = {name: of_schema(name, part) for name, part in schema["properties"].items()}
    required = {name: fields.pop(name) for name in schema.get("required", [])}
    return st.fixed_dictionaries(required, optional=fields)


def any_arguments(tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of which one or more are replaced by any value, left out, or added."""
    names = list(tool.arguments.schema_for_clients()["properties"]) or ["anything"]
    broken = st.dictionaries(st.sampled_from(names) | st.text(max_size=12), anything, max_size=4)
    without = st.sets(st.sampled_from(names), max_size=2)
    return st.builds(
        lambda good, bad, gone: {k: v for k, v in {**good, **bad}.items() if k not in gone},
        valid_arguments(tool),
        broken,
        without,
    )


@contextmanager
def served(profile: Profile) -> Iterator[tuple[Engine, Any]]:
    """A running server of a profile, which a synchronous test can call."""
    network = Network({"a.example.com": [[PUBLIC]]}, reader=True)
    with ExitStack() as stack:
        portal = stack.enter_context(anyio.from_thread.start_blocking_portal())
        chosen = profile_for(Settings.load({"KINDLY_PROFILE": profile.name}))
        engine = stack.enter_context(portal.wrap_async_context_manager(held(network, chosen)))

        def call(tool: str, arguments: dict[str, Any]) -> CallToolResult:
            async def bounded() -> CallToolResult:
                with anyio.fail_after(120):
                    return await engine.client.call_tool(tool, arguments)

            return portal.call(bounded)

        yield engine, call


@asynccontextmanager
async def held(network: Network, profile: Profile) -> AsyncIterator[Engine]:
    async with running(network, profile) as engine:
        engine.searcher.urls = (SITE,)
        yield engine


def refused(tool: Tool, arguments: dict[str, Any]) -> InputError | None:
    """Why the arguments are invalid for a tool; empty if they are valid."""
    try:
        tool.arguments.parse(arguments)
    except InputError as error:
        return error
    return None


def text_in(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def assert_foreseen(tool: Tool, result: CallToolResult) -> None:
    assert UNEXPECTED not in text_in(result)
    assert "Traceback" not in text_in(result)
    if not result.is_error:
        jsonschema.validate(result.structured_content, tool.output_schema)
    assert json.dumps(result.structured_content, allow_nan=False)


modest = settings(
    max_examples=30,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@each_tool
def test_arguments_that_the_schema_allows_are_never_a_surprise(
    profile: Profile, tool: Tool
) -> None:
    with served(profile) as (_, call):

        @modest
        @given(valid_arguments(tool))
        def holds(arguments: dict[str, Any]) -> None:
            tool.arguments.parse(arguments)
            assert_foreseen(tool, call(tool.name, arguments))

        holds()


@each_tool
def test_arguments_of_any_kind_are_refused_by_name_before_any_network_call(
    profile: Profile, tool: Tool
) -> None:
    with served(profile) as (engine, call):

        @modest
        @given(any_arguments(tool))
        def holds(arguments: dict[str, Any]) -> None:
            dials, searches = len(engine.dialler.dialled), len(engine.searcher.asked)
            looked_up = len(engine.resolver.asked)
            result = call(tool.name, arguments)
            assert_foreseen(tool, result)
            refusal = refused(tool, arguments)
            if refusal is not None:
                assert result.is_error
                assert is_named(refusal.field, told(result))
                assert len(text_in(result)) < 1_500
                assert len(engine.dialler.dialled) == dials
                assert len(engine.searcher.asked) == searches
                assert len(engine.resolver.asked) == looked_up

        holds()


def is_named(field: str, text: str) -> bool:
    """Whether a text has the name of an argument; control characters may be escaped."""
    return any(form in text for form in (field, repr(field)[1:-1], ascii(field)[1:-1]))


def told(result: CallToolResult) -> str:
    """The text of a refusal, without the escapes of JSON or of a quotation."""
    text = text_in(result)
    return (
        text
        + re.sub(r"\\(.)", r"\1", text)
        + json.dumps(result.structured_content, ensure_ascii=False)
    )


@each_tool
@pytest.mark.parametrize(
    "value",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        10**5_000,
        [10**5_000],
        {"a": 10**5_000},
        float("nan"),
        float("-inf"),
        {"a": {"b": [None]}},
        "\ud800",
        ["\udfff"],
        "\x00",
        "x" * 3_000_000,
        [["x"] * 1_000] * 100,
        True,
    ],
    ids=[
        *(
            "deep list",
            "deep object",
            "huge number",
            "list of a huge number",
            "object of one",
            "NaN",
            "infinity",
        ),
        *("object", "surrogate", "list of a surrogate", "NUL", "long", "wide", "truth"),
    ],
)
def test_hostile_value_in_every_place_is_refused_or_read(
    profile: Profile, tool: Tool, value: object
) -> None:
    """Calls the argument parser directly, without the limits of the protocol."""
    names = list(tool.arguments.schema_for_clients()["properties"]) or ["anything"]
    good: dict[str, Any] = {"url": SITE, "query": "bees", "question": "bees"}
    good |= {"target": SITE, "quote": "bees dance"}
    good = {name: text for name, text in good.items() if name in names}
    for name in names:
        refusal = refused(tool, good | {name: value})
        if refusal is not None:
            assert name in refusal.detail
            assert len(refusal.detail) < 600


@pytest.mark.parametrize("profile", all_profiles(), ids=lambda profile: profile.name)
def test_unknown_tool_and_unknown_argument_are_named(profile: Profile) -> None:
    with served(profile) as (engine, call):
        for name in ("", "web_surf", "a" * 10_000, "__class__"):
            result = call(name, {})
            assert result.is_error
            assert all(tool.name in text_in(result) for tool in profile.tools)
            assert len(text_in(result)) < 500
        for tool in profile.tools:
            result = call(tool.name, {"nonsense": 1, "b" * 5_000: 2})
            assert result.is_error
            assert len(text_in(result)) < 1_500
    assert engine.dialler.dialled == []
    assert engine.searcher.asked == []

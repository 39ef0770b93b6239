"""What profile `chatgpt` promises: the two tools of ChatGPT's connectors and deep research, in their exact shapes."""

from typing import Any

import jsonschema
import pytest

from kindly.budget import count_tokens
from kindly.errors import InputError
from kindly.server.profiles import all_profiles, profile_for
from kindly.server.profiles.chatgpt.profile import FETCH, PROFILE, SEARCH
from kindly.server.render.formatting import compact
from kindly.server.tool import Tool
from kindly.settings import Settings
from tests.support.profile_examples import example

LISTING_TOKENS = 300
"""The most tokens that the list of the tools may have."""


def test_the_profile_has_the_two_tools_and_no_other() -> None:
    assert [tool.name for tool in PROFILE.tools] == ["search", "fetch"]
    assert PROFILE in all_profiles()


@pytest.mark.parametrize(("tool", "name"), [(SEARCH, "query"), (FETCH, "id")])
def test_a_tool_takes_one_text(tool: Tool, name: str) -> None:
    assert tool.arguments.schema_for_clients() == {
        "type": "object",
        "properties": {name: {"type": "string"}},
        "required": [name],
    }


@pytest.mark.parametrize(("tool", "name"), [(SEARCH, "search"), (FETCH, "fetch")])
def test_the_promised_answer_has_our_shape(tool: Tool, name: str) -> None:
    jsonschema.validate(example("chatgpt_profile", name), tool.output_schema)


@pytest.mark.parametrize("missing", ["id", "title", "text", "url", "metadata"])
def test_a_document_without_one_of_its_fields_breaks_the_schema(missing: str) -> None:
    stated: dict[str, Any] = example("chatgpt_profile", "fetch")
    del stated[missing]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(stated, FETCH.output_schema)


@pytest.mark.parametrize("missing", ["id", "title", "url"])
def test_a_result_without_one_of_its_fields_breaks_the_schema(missing: str) -> None:
    stated: dict[str, Any] = example("chatgpt_profile", "search")
    del stated["results"][0][missing]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(stated, SEARCH.output_schema)


def test_another_argument_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="count"):
        SEARCH.arguments.parse({"query": "bees", "count": 5})


def test_the_list_of_the_tools_is_within_its_tokens() -> None:
    listed = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.arguments.schema_for_clients(),
            "outputSchema": tool.output_schema,
            "annotations": {"readOnlyHint": True, "openWorldHint": True},
        }
        for tool in PROFILE.tools
    ]
    assert count_tokens(compact(listed)) <= LISTING_TOKENS


def test_the_description_says_that_the_text_is_untrusted() -> None:
    assert "untrusted" in FETCH.description


@pytest.mark.parametrize(
    ("environ", "count"),
    [
        ({}, 10),
        ({"KINDLY_DEFAULT_RESULTS": "25"}, 25),
        ({"KINDLY_MAX_RESULTS": "4"}, 4),
        ({"KINDLY_DEFAULT_RESULTS": "25", "KINDLY_MAX_RESULTS": "20"}, 20),
    ],
)
def test_the_number_of_results_is_a_setting(environ: dict[str, str], count: int) -> None:
    profile = profile_for(Settings.load({"KINDLY_PROFILE": "chatgpt", **environ}))
    search = profile.tools[0].run
    assert getattr(search, "keywords", {}) == {"count": count}

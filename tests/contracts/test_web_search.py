"""What the default profile promises: `web_search` and `get_content`, browser retries, console scripts, the README."""

import tomllib
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from kindly.app.stage_settings import browser_settings
from kindly.cli.commands import cli
from kindly.errors import InputError, SettingsError
from kindly.net.tls import Tls
from kindly.server.profiles.kindly.profile import PROFILE, GetContentArguments, WebSearchArguments
from kindly.settings import Settings
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOLS = {tool.name: tool for tool in PROFILE.tools}
RESULT = {
    "title": "T",
    "link": "https://example.com/",
    "snippet": "S",
    "page_content": "# T\n\nText.",
}


def test_the_two_tools_are_there() -> None:
    assert list(TOOLS)[:2] == ["web_search", "get_content"]


def test_a_search_needs_a_query_and_gives_three_results() -> None:
    schema = WebSearchArguments.schema_for_clients()
    assert schema["required"] == ["query"]
    jsonschema.validate({"query": "bees"}, schema)
    assert schema["properties"]["num_results"]["type"] == "integer"
    wanted = WebSearchArguments.parse({"query": "bees"})
    assert (wanted.query, wanted.num_results) == ("bees", 3)


def test_a_page_needs_its_address_only() -> None:
    assert GetContentArguments.schema_for_clients()["required"] == ["url"]
    assert GetContentArguments.parse({"url": "https://example.com/"}).url == "https://example.com/"


@pytest.mark.parametrize("value", [True, False, "false", None], ids=str)
def test_there_is_no_switch_that_turns_content_off(value: object) -> None:
    assert not any("full_pages" in name for name in WebSearchArguments.model_fields)
    with pytest.raises(InputError, match="return_full_pages"):
        WebSearchArguments.parse({"query": "bees", "return_full_pages": value})


@pytest.mark.parametrize(
    ("tool", "output"),
    [
        ("web_search", {"results": []}),
        ("web_search", {"results": [RESULT, RESULT]}),
        ("get_content", {"url": "https://example.com/", "page_content": "# T"}),
    ],
    ids=["no results", "results", "page"],
)
def test_a_promised_answer_fits_our_schema(tool: str, output: dict[str, Any]) -> None:
    jsonschema.validate(output, TOOLS[tool].output_schema)


@pytest.mark.parametrize("name", RESULT)
@pytest.mark.parametrize("value", [None, 3, ...], ids=["null", "number", "missing"])
def test_a_result_without_one_of_the_four_strings_breaks_the_schema(
    name: str, value: object
) -> None:
    broken: dict[str, object] = {key: text for key, text in RESULT.items() if key != name}
    if value is not ...:
        broken |= {name: value}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"results": [broken]}, TOOLS["web_search"].output_schema)


@pytest.mark.parametrize("value", [None, ...], ids=["null", "missing"])
def test_a_page_without_content_breaks_the_schema(value: object) -> None:
    page: dict[str, object] = {"url": "https://example.com/"}
    page |= {} if value is ... else {"page_content": value}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(page, TOOLS["get_content"].output_schema)


@pytest.mark.parametrize(
    ("environ", "attempts", "backoff_s"),
    [
        ({}, 3, 0.5),
        ({"KINDLY_BROWSER_ATTEMPTS": "5"}, 5, 0.5),
        ({"KINDLY_BROWSER_BACKOFF_S": "2.5"}, 3, 2.5),
        ({"KINDLY_BROWSER_ATTEMPTS": "1", "KINDLY_BROWSER_BACKOFF_S": "0"}, 1, 0.0),
    ],
    ids=["defaults", "attempts", "back-off", "no retry"],
)
def test_retries_of_the_browsers_start_are_as_set(
    environ: dict[str, str], attempts: int, backoff_s: float
) -> None:
    wanted = browser_settings(Settings.load(environ), Tls())
    assert (wanted.attempts, wanted.backoff_s) == (attempts, backoff_s)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KINDLY_BROWSER_ATTEMPTS", "0"),
        ("KINDLY_BROWSER_ATTEMPTS", "many"),
        ("KINDLY_BROWSER_BACKOFF_S", "-1"),
        ("KINDLY_BROWSER_BACKOFF_S", "soon"),
    ],
)
def test_a_useless_number_of_retries_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.load({name: value})


def test_the_console_scripts_are_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"kindly-web-search-mcp-server", "kindly"} <= set(project["scripts"])
    assert len(set(project["scripts"].values())) == 1


def test_the_wrapper_command_takes_a_context_and_forwarded_arguments() -> None:
    shown = CliRunner().invoke(cli, ["start-mcp-server", "--help"]).output
    assert "--context" in shown
    command = cli.commands["start-mcp-server"]
    arguments = ["--context", "codex", "--", "--profile", "media"]
    with command.make_context("start-mcp-server", arguments) as context:
        assert context.params["context"] == "codex"


@pytest.mark.parametrize(
    "said",
    [
        "`SERPER_API_KEY`",
        "`TAVILY_API_KEY`",
        "Serper is primary and Tavily is the fallback",
        "HTTP 5xx or 429",
        "401 or 403",
        "empty result",
        "uvx --from git+https://github.com/kindly-mcp/kindly",
        "kindly-web-search-mcp-server start-mcp-server --context codex",
        "KINDLY_BROWSER_ATTEMPTS",
    ],
)
def test_the_documents_say_how_providers_are_chosen_and_how_to_start(said: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert said in README or (said.startswith("KINDLY_") and said in pages)

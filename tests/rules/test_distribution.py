"""The files by which others offer Kindly: each in its vendor's shape, and all of them saying what the program says."""

import json
import re
import tomllib
from typing import Any

import jsonschema
import pytest
import yaml

import kindly
from kindly.cli.commands import cli
from kindly.cli.start_command import DISTRIBUTION, EXTRAS
from kindly.settings import CONTEXTS, NEEDS
from tests.support.paths import ROOT

SCHEMAS = ROOT / "tests" / "data" / "distribution"
FILES = {
    "server": "server.json",
    "mcpb": "mcpb/manifest.json",
    "plugin": ".claude-plugin/plugin.json",
    "marketplace": ".claude-plugin/marketplace.json",
    "gemini": "gemini-extension.json",
    "docker": "server.yaml",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = ["web_search", "get_content", "read_page", "recall"]


def load(name: str) -> Any:
    text = (ROOT / FILES[name]).read_text(encoding="utf-8")
    return yaml.safe_load(text) if FILES[name].endswith(".yaml") else json.loads(text)


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_its_vendors_shape(name: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(load(name), schema, cls=jsonschema.Draft202012Validator)


def versions() -> dict[str, str]:
    bundle = tomllib.loads((ROOT / "mcpb" / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    market = load("marketplace")
    return {
        "server": load("server")["version"],
        "package": load("server")["packages"][0]["version"],
        "mcpb": load("mcpb")["version"],
        "bundle": bundle["version"],
        "bundled": bundle["dependencies"][0].partition("==")[2],
        "plugin": load("plugin")["version"],
        "marketplace": market["metadata"]["version"],
        "listed": market["plugins"][0]["version"],
        "gemini": load("gemini")["version"],
    }


def test_all_versions_are_the_programs() -> None:
    assert set(versions().values()) == {kindly.__version__}, versions()


def test_the_same_names_stand_everywhere() -> None:
    server, market = load("server"), load("marketplace")
    assert server["packages"][0]["identifier"] == PROJECT["name"] == DISTRIBUTION
    assert load("mcpb")["name"] == DISTRIBUTION
    assert load("plugin")["name"] == market["plugins"][0]["name"] == load("gemini")["name"]
    owner, _, name = server["name"].removeprefix("io.github.").partition("/")
    docker = load("docker")
    assert docker["source"]["project"] == f"https://github.com/{owner}/{name}"
    assert docker["image"] == f"mcp/{docker['name']}"
    assert name == docker["name"] == load("plugin")["name"]


def test_the_readme_bears_the_mark_that_the_registry_looks_for() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", readme) == [load("server")["name"]]
    assert PROJECT["readme"] == "README.md"


def test_one_sentence_says_what_it_is() -> None:
    listed = load("marketplace")["plugins"][0]
    said = [load(name)["description"] for name in ("server", "mcpb", "plugin", "gemini")]
    assert {*said, listed["description"], load("docker")["about"]["description"]} == {said[0]}
    assert {load("mcpb")["license"], load("plugin")["license"], listed["license"]} == {
        PROJECT["license"]
    }


def secrets() -> set[str]:
    return {name for name, need in NEEDS.items() if need.kind == "secret"}


def test_the_registry_names_every_setting_of_a_provider() -> None:
    rows = load("server")["packages"][0]["environmentVariables"]
    assert [row["name"] for row in rows] == list(NEEDS)
    assert {row["name"] for row in rows if row.get("isSecret")} == secrets()
    for row in rows:
        need = NEEDS[row["name"]]
        assert row["description"] == need.about
        assert (row.get("format") == "boolean") is (need.kind == "flag")


def test_the_bundle_asks_for_what_it_passes_on() -> None:
    manifest = load("mcpb")
    passed = manifest["server"]["mcp_config"]["env"]
    asked = manifest["user_config"]
    assert passed.keys() <= NEEDS.keys()
    assert passed == {name.upper(): f"${{user_config.{name}}}" for name in asked}
    assert {name.upper() for name, row in asked.items() if row.get("sensitive")} == secrets()
    assert all("default" in row and not row["required"] for row in asked.values())


def test_the_bundle_is_whole() -> None:
    manifest = load("mcpb")
    bundle = tomllib.loads((ROOT / "mcpb" / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert (ROOT / "mcpb" / manifest["server"]["entry_point"]).is_file()
    assert bundle["dependencies"] == [f"{DISTRIBUTION}=={kindly.__version__}"]
    assert bundle["requires-python"] == PROJECT["requires-python"]
    assert manifest["compatibility"]["runtimes"]["python"] == PROJECT["requires-python"]
    assert [tool["name"] for tool in manifest["tools"]] == TOOLS


def test_secrets_are_kept_as_such_by_every_vendor() -> None:
    gemini = {row["envVar"]: row["sensitive"] for row in load("gemini")["settings"]}
    assert gemini.keys() <= NEEDS.keys()
    assert {name for name, hidden in gemini.items() if hidden} == secrets()
    config = load("docker")["config"]
    assert {row["env"] for row in config["secrets"]} == secrets()
    assert all(row["name"] == f"kindly.{row['env'].lower()}" for row in config["secrets"])
    plain = {row["name"]: row["value"] for row in config["env"]}
    assert plain.keys() <= NEEDS.keys() - secrets()
    assert set(plain.values()) == {
        f"{{{{kindly.{name}}}}}" for name in config["parameters"]["properties"]
    }


def test_the_plugin_takes_keys_from_the_environment_where_they_are_set() -> None:
    environ = load("plugin")["mcpServers"]["kindly"]["env"]
    keys = {name: value for name, value in environ.items() if not name.startswith("UV_")}
    assert keys == {name: f"${{{name}:-}}" for name in keys}
    assert secrets() <= keys.keys() <= NEEDS.keys()


def commands() -> dict[str, list[str]]:
    """What each vendor hands to the program."""
    package = load("server")["packages"][0]["packageArguments"]
    return {
        "server": [package[0]["value"], package[1]["name"], package[1]["default"]],
        "mcpb": load("mcpb")["server"]["mcp_config"]["args"][4:],
        "plugin": load("plugin")["mcpServers"]["kindly"]["args"][3:],
        "gemini": load("gemini")["mcpServers"]["kindly"]["args"][3:],
        "docker": load("docker")["run"]["command"],
    }


@pytest.mark.parametrize("name", commands())
def test_every_command_is_understood(name: str) -> None:
    command, *options = commands()[name]
    with cli.commands[command].make_context(command, options) as context:
        assert context.params["context"] in CONTEXTS


def test_the_registry_offers_every_context() -> None:
    assert load("server")["packages"][0]["packageArguments"][1]["choices"] == list(CONTEXTS)


@pytest.mark.parametrize(
    ("name", "folder"), [("plugin", "${CLAUDE_PLUGIN_ROOT}"), ("gemini", "${extensionPath}")]
)
def test_what_comes_as_a_checkout_runs_from_it(name: str, folder: str) -> None:
    entry = load(name)["mcpServers"]["kindly"]
    assert entry["command"] == "uvx"
    assert entry["args"][:3] == ["--from", folder, DISTRIBUTION]


def test_the_container_keeps_its_pages_where_the_image_has_them() -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (volume,) = load("docker")["run"]["volumes"]
    assert f"VOLUME {volume.partition(':')[2]}" in image
    assert re.search(r'^ENTRYPOINT \[.*"kindly"\]$', image, re.MULTILINE)


def test_setup_knows_every_extra() -> None:
    assert EXTRAS.keys() == PROJECT["optional-dependencies"].keys()

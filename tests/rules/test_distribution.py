"""The vendors' manifests: current, in the vendor's shape, and with commands that Kindly understands."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tools.manifests import REPOSITORY, TOOLS, manifests, outdated

import kindly
from kindly.cli.commands import cli
from kindly.cli.start_command import DISTRIBUTION, EXTRAS
from kindly.server.profiles import profile_for
from kindly.settings import CONTEXTS, NEEDS, Settings
from tests.support.paths import ROOT

SCHEMAS = ROOT / "tests" / "data" / "distribution"
FILES = {
    "server": "packaging/server.json",
    "mcpb": "packaging/mcpb/manifest.json",
    "plugin": ".claude-plugin/plugin.json",
    "marketplace": ".claude-plugin/marketplace.json",
    "gemini": "gemini-extension.json",
    "docker": "packaging/server.yaml",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load(name: str) -> Any:
    text = (ROOT / FILES[name]).read_text(encoding="utf-8")
    return yaml.safe_load(text) if FILES[name].endswith(".yaml") else json.loads(text)


def test_all_manifests_are_current() -> None:
    assert outdated() == [], "run python -m tools.manifests"


def test_a_manifest_that_was_changed_by_hand_is_found(tmp_path: Path) -> None:
    for path, text in manifests().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert outdated(tmp_path) == []
    (tmp_path / "gemini-extension.json").write_text("{}", encoding="utf-8")
    (tmp_path / "packaging" / "server.json").unlink()
    assert outdated(tmp_path) == ["packaging/server.json", "gemini-extension.json"]


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_its_vendors_shape(name: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(load(name), schema, cls=jsonschema.Draft202012Validator)


def test_every_manifest_has_the_version_of_the_package() -> None:
    texts = manifests()
    del texts["packaging/server.yaml"]
    assert [path for path, text in texts.items() if f'"{kindly.__version__}"' not in text] == []


def test_the_readme_has_the_mark_that_the_registry_looks_for() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", readme) == [load("server")["name"]]
    assert PROJECT["readme"] == "README.md"


def test_every_address_of_the_repository_in_the_docs_is_the_real_one() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    assert [name for name, text in texts.items() if "<repo>" in text] == []
    cloned = {
        address for text in texts.values() for address in re.findall(r"git\+(\S+?)[\"'`\s]", text)
    }
    assert {address for address in cloned if "…" not in address} == {REPOSITORY}


def secrets() -> set[str]:
    return {name for name, need in NEEDS.items() if need.kind == "secret"}


def test_the_registry_names_every_setting_of_a_provider() -> None:
    rows = load("server")["packages"][0]["environmentVariables"]
    assert [row["name"] for row in rows] == list(NEEDS)
    assert {row["name"] for row in rows if row.get("isSecret")} == secrets()


def test_every_vendor_treats_keys_as_secrets() -> None:
    asked = load("mcpb")["user_config"]
    assert {name.upper() for name, row in asked.items() if row.get("sensitive")} == secrets()
    gemini = {row["envVar"]: row["sensitive"] for row in load("gemini")["settings"]}
    assert {name for name, hidden in gemini.items() if hidden} == secrets()
    config = load("docker")["config"]
    assert {row["env"] for row in config["secrets"]} == secrets()


def test_the_bundle_names_the_tools_and_its_entry_point_exists() -> None:
    manifest = load("mcpb")
    assert (ROOT / "packaging" / "mcpb" / manifest["server"]["entry_point"]).is_file()
    offered = profile_for(Settings.load({})).tools
    assert [tool.name for tool in offered] == list(TOOLS)


def commands() -> dict[str, list[str]]:
    """The arguments that each vendor passes to the program."""
    package = load("server")["packages"][0]["packageArguments"]
    return {
        "server": [package[0]["value"], package[1]["name"], package[1]["default"]],
        "mcpb": load("mcpb")["server"]["mcp_config"]["args"][4:],
        "plugin": load("plugin")["mcpServers"]["kindly"]["args"][3:],
        "gemini": load("gemini")["mcpServers"]["kindly"]["args"][3:],
        "docker": load("docker")["run"]["command"],
    }


@pytest.mark.parametrize("name", commands())
def test_every_command_is_valid(name: str) -> None:
    command, *options = commands()[name]
    with cli.commands[command].make_context(command, options) as context:
        assert context.params["context"] in CONTEXTS


@pytest.mark.parametrize(
    ("name", "folder"), [("plugin", "${CLAUDE_PLUGIN_ROOT}"), ("gemini", "${extensionPath}")]
)
def test_plugins_that_are_checkouts_run_from_their_folder(name: str, folder: str) -> None:
    entry = load(name)["mcpServers"]["kindly"]
    assert entry["command"] == "uvx"
    assert entry["args"][:3] == ["--from", folder, DISTRIBUTION]


def test_the_container_keeps_its_pages_in_the_volume_of_the_image() -> None:
    image = (ROOT / load("docker")["source"]["dockerfile"]).read_text(encoding="utf-8")
    (volume,) = load("docker")["run"]["volumes"]
    assert f"VOLUME {volume.partition(':')[2]}" in image
    assert re.search(r'^ENTRYPOINT \[.*"kindly"\]$', image, re.MULTILINE)


def test_setup_knows_every_extra() -> None:
    assert EXTRAS.keys() == PROJECT["optional-dependencies"].keys()
    assert PROJECT["name"] == DISTRIBUTION

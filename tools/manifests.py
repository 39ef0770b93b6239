"""Writes the vendors' manifests from the package: `python -m tools.manifests`, or `--check` to compare only.

Sources: `pyproject.toml`, the version, the needs of the providers and the contexts. What a vendor needs beyond that is
in the function of its manifest.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kindly
from kindly.cli.start_command import UVX_ENVIRON
from kindly.plugin_settings import Need
from kindly.search.providers import PROVIDERS
from kindly.settings import CONTEXTS, ContextName

Json = dict[str, Any]

ROOT = Path(__file__).parent.parent
PROJECT: Json = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str = PROJECT["urls"]["Repository"]
TITLE = "Kindly"
NAME = "kindly"
ABOUT = "Search the web, fetch a page and read only the part that answers; local reading, no key needed."
KEYS = "Reading needs no key; searching needs one provider of your choice."
AUTHOR = {"name": PROJECT["authors"][0]["name"]}
TOOLS = {
    "web_search": "Searches, and reads the pages found.",
    "get_content": "Reads one page.",
    "read_page": "Gives only the passages of a page that answer.",
    "recall": "Searches all pages read so far, with no network.",
}


def needs(*, extras: bool = False, flags: bool = True) -> Iterator[tuple[str, Need]]:
    """The title and the need of each provider setting; `extras` includes providers that need a further package."""
    for spec in PROVIDERS:
        if extras or spec.library is None:
            for need in spec.needs:
                if flags or need.kind != "flag":
                    yield need.title or f"{spec.label} key", need


def start(context: ContextName) -> list[str]:
    """The arguments that start the server for a host."""
    return ["start-mcp-server", "--context", context]


def mcp_registry() -> Json:
    """The entry of the MCP registry: `mcp-publisher publish packaging/server.json`."""
    rows = []
    for _, need in needs(extras=True):
        row: Json = {"name": need.name, "description": need.about}
        if need.kind == "secret":
            row["isSecret"] = True
        if need.kind == "flag":
            row["format"] = "boolean"
        rows.append(row)
    command, option, default = start("agent")
    package = {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": PROJECT["name"],
        "version": kindly.__version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [
            {"type": "positional", "value": command},
            {
                "type": "named",
                "name": option,
                "description": "The client: sets the size of an answer and how long a call may take.",
                "default": default,
                "choices": list(CONTEXTS),
            },
        ],
        "environmentVariables": rows,
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{urlsplit(REPOSITORY).path[1:]}",
        "title": TITLE,
        "description": ABOUT,
        "version": kindly.__version__,
        "packages": [package],
    }


def bundle() -> Json:
    """The manifest of the MCP bundle for Claude Desktop: `npx @anthropic-ai/mcpb pack packaging/mcpb`."""
    asked: Json = {}
    for title, need in needs():
        flag = need.kind == "flag"
        asked[need.name.lower()] = {
            "type": "boolean" if flag else "string",
            "title": title,
            "description": need.about,
            "required": False,
            "default": False if flag else "",
            **({"sensitive": True} if need.kind == "secret" else {}),
        }
    arguments = ["run", "--directory", "${__dirname}", "server.py", *start("claude-desktop")]
    return {
        "manifest_version": "0.4",
        "name": PROJECT["name"],
        "display_name": TITLE,
        "version": kindly.__version__,
        "description": ABOUT,
        "long_description": "Finds pages and reads them in one call, gives only the passages that answer, and "
        f"remembers what was read. {KEYS}",
        "author": AUTHOR,
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": arguments,
                "env": {name.upper(): f"${{user_config.{name}}}" for name in asked},
            },
        },
        "tools": [{"name": name, "description": about} for name, about in TOOLS.items()],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
        "user_config": asked,
    }


def bundle_project() -> str:
    """The environment of the bundle."""
    return f"""\
# The bundle's own environment: the released program and nothing else. Pack it with
# `npx @anthropic-ai/mcpb pack packaging/mcpb`.
[project]
name = "kindly-bundle"
version = "{kindly.__version__}"
requires-python = "{PROJECT["requires-python"]}"
dependencies = ["{PROJECT["name"]}=={kindly.__version__}"]

[tool.uv]
package = false
"""


def _checkout(folder: str, context: ContextName, environ: Mapping[str, str]) -> Json:
    """A server entry that runs from a checkout of the repository."""
    arguments = ["--from", folder, PROJECT["name"], *start(context)]
    return {NAME: {"command": "uvx", "args": arguments, "env": {**environ, **UVX_ENVIRON}}}


def claude_plugin() -> Json:
    """The plugin of Claude Code; it takes keys from the user's environment."""
    environ = {need.name: f"${{{need.name}:-}}" for _, need in needs()}
    return {
        "name": NAME,
        "version": kindly.__version__,
        "description": ABOUT,
        "author": AUTHOR,
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "mcpServers": _checkout("${CLAUDE_PLUGIN_ROOT}", "claude-code", environ),
    }


def claude_marketplace() -> Json:
    """The repository as a marketplace of Claude Code, with one plugin."""
    return {
        "name": "kindly-mcp",
        "owner": AUTHOR,
        "metadata": {
            "description": "Web search and reading for agents.",
            "version": kindly.__version__,
        },
        "plugins": [
            {
                "name": NAME,
                "source": "./",
                "description": ABOUT,
                "version": kindly.__version__,
                "category": "search",
                "keywords": PROJECT["keywords"],
                "license": PROJECT["license"],
            }
        ],
    }


def gemini_extension() -> Json:
    """The extension of Gemini CLI; its settings are texts, so flags are left out."""
    return {
        "name": NAME,
        "version": kindly.__version__,
        "description": ABOUT,
        "mcpServers": _checkout("${extensionPath}", "gemini-cli", {}),
        "settings": [
            {
                "name": title,
                "description": need.about,
                "envVar": need.name,
                "sensitive": need.kind == "secret",
            }
            for title, need in needs(flags=False)
        ],
    }


def docker_registry() -> Json:
    """The entry of Docker's MCP registry."""
    secret = [need for _, need in needs(flags=False) if need.kind == "secret"]
    plain = [need for _, need in needs(flags=False) if need.kind != "secret"]
    return {
        "name": NAME,
        "image": f"mcp/{NAME}",
        "type": "server",
        "meta": {"category": "search", "tags": ["search", "web", "fetch", "markdown"]},
        "about": {"title": TITLE, "description": ABOUT},
        "source": {
            "project": REPOSITORY,
            "branch": "main",
            "dockerfile": "packaging/Dockerfile",
        },
        "run": {"command": start("agent"), "volumes": [f"{NAME}:/data"]},
        "config": {
            "description": KEYS,
            "secrets": [
                {
                    "name": f"{NAME}.{need.name.lower()}",
                    "env": need.name,
                    "example": f"<{need.name}>",
                }
                for need in secret
            ],
            "env": [
                {
                    "name": need.name,
                    "example": need.example,
                    "value": f"{{{{{NAME}.{need.name.lower()}}}}}",
                }
                for need in plain
            ],
            "parameters": {
                "type": "object",
                "properties": {need.name.lower(): {"type": "string"} for need in plain},
            },
        },
    }


def to_json(value: Json) -> str:
    """JSON as files have it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def to_yaml(value: Json) -> str:
    """YAML in block style; values are texts, tables and lists."""
    return "".join(f"{line}\n" for line in _yaml_lines(value))


def _yaml_lines(value: Any, indent: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, Mapping | list):
                yield f"{indent}{key}:"
                yield from _yaml_lines(item, f"{indent}  ")
            else:
                yield f"{indent}{key}: {_yaml_text(item)}"
    else:
        for item in value:
            first, *others = _yaml_lines(item) if isinstance(item, Mapping) else [_yaml_text(item)]
            yield f"{indent}- {first}"
            yield from (f"{indent}  {line}" for line in others)


def _yaml_text(text: str) -> str:
    return json.dumps(text) if text.startswith("{") else text


def manifests() -> dict[str, str]:
    """Every manifest: its path in the repository, and its text."""
    note = "# Copied to servers/kindly/server.yaml of Docker's MCP registry; `source.commit` is added there.\n"
    return {
        "packaging/server.json": to_json(mcp_registry()),
        "packaging/server.yaml": note + to_yaml(docker_registry()),
        "packaging/mcpb/manifest.json": to_json(bundle()),
        "packaging/mcpb/pyproject.toml": bundle_project(),
        ".claude-plugin/plugin.json": to_json(claude_plugin()),
        ".claude-plugin/marketplace.json": to_json(claude_marketplace()),
        "gemini-extension.json": to_json(gemini_extension()),
    }


def outdated(root: Path = ROOT) -> list[str]:
    """The manifests whose file differs from what the package says."""
    return [
        path
        for path, text in manifests().items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def main(arguments: Sequence[str]) -> int:
    """Write the manifests; with `--check` only list those that are not current, and fail if there are any."""
    stale = outdated()
    if "--check" in arguments:
        sys.stdout.writelines(
            f"{path} is not current: run python -m tools.manifests\n" for path in stale
        )
        return int(bool(stale))
    for path in stale:
        (ROOT / path).write_text(manifests()[path], encoding="utf-8")
        sys.stdout.write(f"{path} written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

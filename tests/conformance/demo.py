"""The conformance suite's demo tools, offered by Kindly's own server, so that what the suite asks of tools applies.

    python -m tests.conformance.demo

serves them over HTTP on a free port and writes the address to standard error. Only what Kindly's tools can do is here:
text, structured results, failures, progress, any JSON schema. The rest is in the files of expected failures.
"""

import tempfile
from collections.abc import Awaitable, Callable
from typing import Any

from kindly.app import open_app
from kindly.cli.logs import configure
from kindly.errors import InputError
from kindly.redact import Redactor
from kindly.server.arguments import Arguments
from kindly.server.http.asgi import serve_http
from kindly.server.json_schema import Json
from kindly.server.mcp import build_server
from kindly.server.tool import Call, Output, Profile, Tool
from kindly.settings import Settings

ADDRESS = {"$anchor": "addressDef", "type": "object"} | {
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
}
"""With keywords that only JSON Schema 2020-12 has."""


class Nothing(Arguments):
    """No arguments."""


class Greeting(Arguments):
    """An argument that clients repeat in a header, for proxies to see."""

    name: str = ""

    @classmethod
    def schema_for_clients(cls) -> Json:
        name = {"type": "string", "x-mcp-header": "Name"}
        return {"type": "object", "properties": {"name": name}}


class Person(Arguments):
    """Whatever the suite's own schema asks for."""

    @classmethod
    def schema_for_clients(cls) -> Json:
        text = {"type": "string"}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": ADDRESS},
            "properties": {
                "name": text,
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": text,
                "email": text,
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {
                "properties": {"contactMethod": {"const": "phone"}},
                "required": ["contactMethod"],
            },
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": False,
        }


async def text(_: Call, __: Any) -> Output:
    said = "This is a simple text response for testing."
    return Output(said, {"text": said})


async def failing(_: Call, __: Any) -> Output:
    raise InputError("This tool intentionally returns an error for testing.", field="none")


async def slow(call: Call, __: Any) -> Output:
    for done in (0, 50, 100):
        await call.progress(done, 100, f"{done} of 100")
    return Output("Done.", {"text": "Done."})


def tool(
    name: str, run: Callable[[Call, Any], Awaitable[Output]], takes: type[Arguments] = Nothing
) -> Tool:
    told = f"The conformance suite's {name}."
    return Tool(name, name, told, takes, {"type": "object"}, run, open_world=False)


PROFILE = Profile(
    "demo",
    "Tools of the conformance suite.",
    (
        tool("test_simple_text", text),
        tool("test_error_handling", failing),
        tool("test_tool_with_progress", slow),
        tool("test_x_mcp_header", text, Greeting),
        tool("json_schema_2020_12_tool", text, Person),
    ),
)


def main() -> None:
    """Serve the demo until the process is stopped."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load({"DATA_DIR": folder, "KINDLY_PORT": "0"})
        configure("warning", Redactor.of(()))
        serve_http(build_server(lambda: open_app(settings), PROFILE), settings)


if __name__ == "__main__":
    main()

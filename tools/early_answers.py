"""What a server answers before the SDK is imported: `python -m tools.early_answers`; `--write` updates the files.

Asks the SDK's server of each profile, in memory, in every version of the protocol, and lists the files that differ.
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from kindly.app import App
from kindly.redact import Redactor
from kindly.server.early_answers import ABILITIES, CLIENT, VERSION
from kindly.server.mcp import KindlyServer, build_server
from kindly.server.profiles import PROFILE_NAMES, answers_file, profile_for
from kindly.settings import Settings
from kindly.stages import Stages

Json = dict[str, Any]

CLIENT_INFO = {"name": "tools", "version": "1"}


def described(profile: str) -> str:
    """The text of a profile's file."""
    results: list[Json] = []
    own, plain = (
        anyio.run(_by_era, partial(_server, profile, plain_names=plain_names), results)
        for plain_names in (False, True)
    )
    head = json.dumps({"own": own, "plain": plain})
    lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in results)
    return f'{head[:-1]},\n"results": [\n{lines}\n]}}\n'


def _server(profile: str, *, plain_names: bool) -> KindlyServer:
    """The server of a profile with the defaults of all settings."""
    settings = Settings.load({"KINDLY_CONFIG": os.devnull}, {"profile": profile})
    return build_server(_no_app, profile_for(settings), plain_names=plain_names)


async def _by_era(server: Callable[[], KindlyServer], results: list[Json]) -> Json:
    """The place in `results` of each answer, by era, version and method."""
    return {
        "handshake": {
            version: await _places(server(), _handshake(version), results)
            for version in HANDSHAKE_PROTOCOL_VERSIONS
        },
        "envelope": {
            version: await _places(server(), _envelope(version), results)
            for version in MODERN_PROTOCOL_VERSIONS
        },
    }


def _handshake(version: str) -> dict[str, Json]:
    opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT_INFO}
    return {"initialize": opening, "ping": {}, "tools/list": {}}


def _envelope(version: str) -> dict[str, Json]:
    meta = {VERSION: version, CLIENT: CLIENT_INFO, ABILITIES: {}}
    return {method: {"_meta": meta} for method in ("server/discover", "tools/list")}


async def _places(
    server: KindlyServer, requests: dict[str, Json], results: list[Json]
) -> dict[str, int]:
    """Send requests in this order; add results that are new."""
    places: dict[str, int] = {}
    async with (
        create_client_server_memory_streams() as ((answers, questions), (incoming, outgoing)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        for method, params in requests.items():
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            await questions.send(SessionMessage(jsonrpc_message_adapter.validate_python(request)))
            answer: Any = await answers.receive()
            if answer.message.result not in results:
                results.append(answer.message.result)
            places[method] = results.index(answer.message.result)
        tasks.cancel_scope.cancel()
    return places


@asynccontextmanager
async def _no_app() -> AsyncIterator[App]:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # nothing is called
    yield App(stages, Redactor.of([]), 1, 1, deadline_s=1)


def main() -> int:
    """Compare or write."""
    stale = []
    for name in PROFILE_NAMES:
        file = answers_file(name)
        text = described(name)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(file)
            if "--write" in sys.argv:
                file.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{file}\n" for file in stale) or "All files are current.\n")
    return int(bool(stale) and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())

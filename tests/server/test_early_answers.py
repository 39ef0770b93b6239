"""The early answers are those of the SDK's server, and a client cannot tell who answered."""

import io
import json
import os
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import anyio
import anyio.to_thread
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.stdio import stdio_server
from mcp_types import InitializeRequestParams
from mcp_types.methods import validate_client_request
from pydantic import ValidationError
from tools.early_answers import described

from kindly.app import App
from kindly.redact import Redactor
from kindly.server.early_answers import (
    MAX_LINE,
    MAX_MESSAGES,
    EarlyAnswers,
    envelope_version,
    opening_version,
)
from kindly.server.mcp import build_server, serve_streams
from kindly.server.profiles import PROFILE_NAMES, answers_file, load_answers, load_profile
from kindly.stages import Stages
from tests.support.processes import PATIENCE_S

ENVELOPE = "io.modelcontextprotocol/"
CLIENT = {"name": "test", "version": "1"}
NEVER, AT_ONCE = (600.0, 600.0), (0.0, 0.0)


@asynccontextmanager
async def no_app() -> AsyncIterator[App]:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # no tool is run
    yield App(stages, Redactor.of([]), 1000, 1000, deadline_s=1)


async def served(
    chunks: Sequence[bytes],
    answers: int,
    silence_s: tuple[float, float] | None,
    profile: str = "kindly",
    *,
    plain_names: bool = False,
) -> tuple[list[bytes], EarlyAnswers | None]:
    """What a client gets that sends `chunks`, waits for so many answers and leaves. No silence: the SDK alone."""
    server = build_server(no_app, load_profile(profile), plain_names=plain_names)
    (source, to_server), (to_client, sink) = os.pipe(), os.pipe()
    got: list[bytes] = []
    early = None

    def talk() -> None:
        with os.fdopen(to_client, "rb") as lines, os.fdopen(to_server, "wb", 0) as client:
            for chunk in chunks:
                client.write(chunk)
            got.extend(line for _ in range(answers) if (line := lines.readline()))
            client.close()
            got.extend(lines)

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    unread: Any = os.fdopen(source, "rb", closefd=False)
    stdin = io.TextIOWrapper(unread, encoding="utf-8", errors="replace")
    goes_on = True
    with anyio.fail_after(PATIENCE_S):
        if silence_s is not None:
            known = load_answers(profile, plain_names=plain_names)
            assert known is not None
            early = EarlyAnswers(known, source, sink, silence_s)
            goes_on = await anyio.to_thread.run_sync(early.serve)
            stdin = early.everything()
        stdout = io.TextIOWrapper(os.fdopen(sink, "wb"), encoding="utf-8")
        if goes_on:
            async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (
                incoming,
                outgoing,
            ):
                answered = early.answered if early else ()
                await serve_streams(server, incoming, outgoing, answered)
        stdout.close()
        await anyio.to_thread.run_sync(thread.join)
    os.close(source)
    return got, early


def both_ways(
    chunks: Sequence[bytes], answers: int, silence_s: tuple[float, float] = NEVER
) -> tuple[list[bytes], list[bytes], EarlyAnswers]:
    """What a client gets from the SDK alone and with early answers."""
    alone, _ = anyio.run(served, chunks, answers, None)
    got, early = anyio.run(served, chunks, answers, silence_s)
    assert early is not None
    return alone, got, early


def line(message: object) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def request(number: object, method: str, params: object = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return line(message if params is None else message | {"params": params})


def notification(method: str, params: object = None) -> bytes:
    message = {"jsonrpc": "2.0", "method": method}
    return line(message if params is None else message | {"params": params})


def opening(version: object = "2025-11-25", **changes: object) -> dict[str, object]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT} | changes


def envelope(version: object = "2026-07-28", **meta: object) -> dict[str, object]:
    fields = {"protocolVersion": version, "clientInfo": CLIENT, "clientCapabilities": {}}
    return {"_meta": {f"{ENVELOPE}{name}": value for name, value in fields.items()} | meta}


HELLO = request(1, "initialize", opening())
INITIALIZED = notification("notifications/initialized")
LIST = request(2, "tools/list")
PING = request("p", "ping")
CALL = request(9, "tools/call", {"name": "none", "arguments": {}})
DISCOVER = request(1, "server/discover", envelope())
MODERN_LIST = request(2, "tools/list", envelope())
MODERN_CALL = request(9, "tools/call", {"name": "none", "arguments": {}} | envelope())
CANCEL = notification("notifications/cancelled", {"requestId": 2})
BEGUN = HELLO + INITIALIZED

EARLY_ALONE = {
    "the usual start": (BEGUN + LIST, 2),
    "without the notification": (HELLO + LIST, 2),
    "an empty object as params": (BEGUN + request(2, "tools/list", {}), 2),
    "listed twice with the same id": (BEGUN + LIST + LIST, 3),
    "pings between": (HELLO + PING + INITIALIZED + PING + LIST + PING, 5),
    "the oldest version": (request(1, "initialize", opening("2024-11-05")) + LIST, 2),
    "a text as id": (request("ä-1", "initialize", opening()) + request("", "tools/list"), 2),
    "a negative id": (request(-7, "initialize", opening()), 1),
    "a client with everything": (
        request(
            0,
            "initialize",
            opening(
                capabilities={"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
                clientInfo=CLIENT | {"title": "Größe", "websiteUrl": "https://client.example"},
            ),
        ),
        1,
    ),
    "spaces in the line": (HELLO.replace(b":", b" :\t "), 1),
    "discovery": (DISCOVER + MODERN_LIST, 2),
    "a list as the first request of the new era": (MODERN_LIST, 1),
    "no client named in the envelope": (
        request(1, "server/discover", {"_meta": {
            f"{ENVELOPE}protocolVersion": "2026-07-28", f"{ENVELOPE}clientCapabilities": {}
        }}),
        1,
    ),
}  # fmt: skip
"""Conversations that need no SDK, and how many answers they get."""

HANDED_OVER = {
    "a call after the start": (BEGUN + LIST + CALL, 3),
    "a call at once": (BEGUN + CALL, 2),
    "a call that reuses an id": (BEGUN + LIST + request(2, "tools/call", {"name": "x"}), 3),
    "a list after a call": (BEGUN + CALL + LIST + PING, 4),
    "a call in the new era": (DISCOVER + MODERN_LIST + MODERN_CALL, 3),
    "a ping in the new era": (DISCOVER + request(3, "ping", envelope()), 2),
    "nothing but a ping": (PING, 1),
    "a list before the handshake": (LIST + HELLO + LIST, 3),
    "a call before the handshake": (CALL, 1),
    "the notification before the handshake": (INITIALIZED + HELLO + LIST, 2),
    "two handshakes": (HELLO + HELLO + LIST, 3),
    "an unknown version": (request(1, "initialize", opening("2099-01-01")) + LIST, 2),
    "a version that is no text": (request(1, "initialize", opening(7)) + LIST, 2),
    "the new version by handshake": (request(1, "initialize", opening("2026-07-28")) + LIST, 2),
    "an old version in an envelope": (request(1, "tools/list", envelope("2025-11-25")), 1),
    "an unknown version in an envelope": (request(1, "tools/list", envelope("2099-01-01")), 1),
    "an envelope after the handshake": (HELLO + MODERN_LIST + LIST, 3),
    "a handshake after an envelope": (DISCOVER + HELLO + MODERN_LIST, 3),
    "no envelope after an envelope": (DISCOVER + LIST + MODERN_LIST, 3),
    "discovery after the handshake": (HELLO + request(3, "server/discover"), 2),
    "no capabilities": (request(1, "initialize", {"protocolVersion": "2025-11-25"}) + LIST, 2),
    "capabilities of a wrong type": (
        request(1, "initialize", opening(capabilities={"roots": {"listChanged": "no"}})) + LIST,
        2,
    ),
    "capabilities of no known name": (
        request(1, "initialize", opening(capabilities={"tasks": {}, "odd": [1]})) + LIST,
        2,
    ),
    "a client without a name": (request(1, "initialize", opening(clientInfo={})) + LIST, 2),
    "a client with icons": (
        request(1, "initialize", opening(clientInfo=CLIENT | {"icons": []})) + LIST,
        2,
    ),
    "a cursor": (BEGUN + request(2, "tools/list", {"cursor": "x"}), 2),
    "a cursor of the wrong type": (BEGUN + request(2, "tools/list", {"cursor": 5}), 2),
    "a progress token": (BEGUN + request(2, "tools/list", {"_meta": {"progressToken": 1}}), 2),
    "a logging level": (BEGUN + request(3, "logging/setLevel", {"level": "debug"}), 2),
    "a log level in the envelope": (
        request(1, "tools/list", envelope(**{f"{ENVELOPE}logLevel": "debug"})),
        1,
    ),
    "an unknown method": (BEGUN + request(3, "tools/lost") + LIST, 3),
    "an unknown notification": (BEGUN + notification("notifications/odd") + LIST, 2),
    "a cancellation of what is answered": (BEGUN + LIST + CANCEL + PING, 3),
    "a cancellation of what is unknown": (HELLO + CANCEL + LIST, 2),
    "a batch": (HELLO + b"[" + LIST.strip() + b"," + PING.strip() + b"]\n" + PING, 2),
    "no JSON": (HELLO + b"{nonsense\n" + LIST, 2),
    "an empty line": (HELLO + b"\n" + LIST, 2),
    "Windows line ends": ((BEGUN + LIST).replace(b"\n", b"\r\n"), 2),
    "a carriage return inside a line": (HELLO + PING.replace(b'"ping', b'\r"ping') + LIST, 2),
    "invalid UTF-8": (HELLO.replace(b"test", b"te\xffst") + LIST, 2),
    "invalid UTF-8 as id": (HELLO + PING.replace(b'"p"', b'"\xc3("') + LIST, 3),
    "a byte order mark": (b"\xef\xbb\xbf" + HELLO + request(2, "initialize", opening()), 1),
    "an escaped character": (HELLO.replace(b"test", rb"t\u00e9st") + LIST, 2),
    "half of a character": (HELLO.replace(b"test", rb"t\ud800st") + LIST, 2),
    "a fraction as id": (HELLO + LIST.replace(b'"id": 2', b'"id": 2.5') + PING, 2),
    "true as id": (HELLO + LIST.replace(b'"id": 2', b'"id": true') + PING, 2),
    "null as id": (HELLO + LIST.replace(b'"id": 2', b'"id": null') + PING, 2),
    "null as params": (HELLO + request(2, "tools/list", None)[:-2] + b', "params": null}\n', 2),
    "a list as params": (HELLO + request(2, "tools/list", [1]) + PING, 2),
    "a huge id": (HELLO + LIST.replace(b'"id": 2', b'"id": 9' + b"0" * 30) + PING, 3),
    "an id of too many digits": (HELLO + LIST.replace(b'"id": 2', b'"id": ' + b"9" * 5000) + PING, 2),
    "another JSON-RPC version": (HELLO + LIST.replace(b'"2.0"', b'"1.0"') + PING, 2),
    "a name twice": (HELLO + LIST.replace(b'"id": 2', b'"id": 2, "id": 3') + PING, 3),
    "a further name": (HELLO + LIST.replace(b'"id"', b'"odd": 1, "id"') + PING, 3),
    "an answer to no request": (HELLO + b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n' + LIST, 2),
    "a very long line": (BEGUN + request(3, "ping", {"odd": "x" * 300_000}) + LIST, 3),
    "a very long line that is only space": (BEGUN + b" " * MAX_LINE * 3 + LIST + PING, 3),
    "deep nesting": (HELLO + request(2, "ping").replace(b"}", b', "params": ' + b"[" * 9_000 + b"\n") + PING, 2),
    "more messages than are answered early": (HELLO + PING * MAX_MESSAGES * 2, 1 + MAX_MESSAGES * 2),
}  # fmt: skip
"""Conversations that the SDK must see, and how many answers they get."""


def cases(*tables: dict[str, tuple[bytes, int]]) -> pytest.MarkDecorator:
    named = {name: case for table in tables for name, case in table.items()}
    return pytest.mark.parametrize(("sent", "answers"), named.values(), ids=named)


def test_there_are_many_conversations() -> None:
    assert len(EARLY_ALONE) + len(HANDED_OVER) >= 60


@cases(EARLY_ALONE, HANDED_OVER)
def test_a_client_gets_what_the_sdk_alone_answers(sent: bytes, answers: int) -> None:
    alone, got, _ = both_ways([sent], answers)
    assert sorted(got) == sorted(alone)
    assert len(alone) == answers


@cases(EARLY_ALONE)
def test_what_needs_no_sdk_is_answered_early(sent: bytes, answers: int) -> None:
    _, early = anyio.run(served, [sent], answers, NEVER)
    assert early is not None
    assert len(early.answered) == sent.count(b"\n")


@cases(HANDED_OVER)
def test_what_needs_the_sdk_is_left_to_it(sent: bytes, answers: int) -> None:
    _, early = anyio.run(served, [sent], answers, NEVER)
    assert early is not None
    assert len(early.answered) < sent.count(b"\n")


@cases(EARLY_ALONE)
def test_after_a_silence_the_sdk_has_seen_everything(sent: bytes, answers: int) -> None:
    is_new = ENVELOPE.encode() in sent
    further = (MODERN_CALL + MODERN_LIST) if is_new else (CALL + LIST)
    alone, got, _ = both_ways([sent, further], answers + 2, AT_ONCE)
    assert sorted(got) == sorted(alone)


@cases(EARLY_ALONE, HANDED_OVER)
def test_a_client_that_leaves_at_once_gets_no_wrong_answer(sent: bytes, answers: int) -> None:
    """What is in flight then may get an error or nothing, from the SDK too; no answer comes twice."""
    alone, _ = anyio.run(served, [sent], answers, None)
    got, _ = anyio.run(served, [sent], 0, NEVER)
    full = [json.loads(answer) for answer in alone]
    for answer in map(json.loads, got):
        assert answer in full or answer["error"]["message"] == "Connection closed"
    assert len(got) <= answers


@pytest.mark.parametrize("cut", [1, len(HELLO) - 1, len(HELLO) + 3, len(BEGUN + LIST) - 1])
def test_a_last_line_without_its_end_is_read_as_the_sdk_reads_it(cut: int) -> None:
    sent = (BEGUN + LIST)[:cut]
    expected = {1: 0, len(HELLO) - 1: 1, len(HELLO) + 3: 1, len(BEGUN + LIST) - 1: 1}[cut]
    got, _ = anyio.run(served, [sent], 0, NEVER)
    assert len(got) >= expected - (cut == len(HELLO) - 1)
    assert all(json.loads(answer)["id"] in {1, 2} for answer in got)


STEPS = st.sampled_from(
    [
        *((step, 1) for step in (HELLO, LIST, PING, CALL, DISCOVER, MODERN_LIST, MODERN_CALL)),
        (request(2, "tools/list", {"cursor": "x"}), 1),
        (request(4, "tools/lost"), 1),
        *((step, 0) for step in (INITIALIZED, CANCEL, b"\n", b"{\n", b"\xff\n", b"[]\n")),
    ]
)


@given(
    first=st.sampled_from([HELLO, DISCOVER, MODERN_LIST, PING]),
    steps=st.lists(STEPS, max_size=8),
    cuts=st.lists(st.integers(0, 3_000), max_size=4),
    silence_s=st.sampled_from([NEVER, AT_ONCE]),
)
@settings(max_examples=60, deadline=None)
def test_any_order_of_messages_in_any_pieces(
    first: bytes, steps: list[tuple[bytes, int]], cuts: list[int], silence_s: tuple[float, float]
) -> None:
    # A cancellation may hit the request with its id that is still in flight: that is a race with the SDK alone, too.
    steps = [step for step in steps if step[0] != CANCEL or first != PING]
    sent = first + b"".join(step for step, _ in steps)
    places = sorted({0, *(cut for cut in cuts if cut < len(sent)), len(sent)})
    chunks = [sent[begin:end] for begin, end in pairwise(places)]
    answers = 1 + sum(count for _, count in steps)
    alone, got, _ = both_ways(chunks, answers, silence_s)
    assert sorted(got) == sorted(alone)


TREES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([{}, True, None, 1, "x", []]),
    lambda inner: st.dictionaries(
        st.sampled_from(["listChanged", "form", "url", "context", "tools", "list", "requests"]),
        inner,
        max_size=2,
    ),
    max_leaves=4,
)
ABILITIES = st.dictionaries(
    st.sampled_from(["roots", "sampling", "elicitation", "experimental", "extensions", "tasks"]),
    TREES,
    max_size=3,
)
CLIENTS: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["name", "version", "title", "description", "websiteUrl", "icons", "odd"]),
    st.sampled_from(["x", "", "größe", None, 1, []]),
)


@given(abilities=ABILITIES, client=st.just(CLIENT) | CLIENTS)
@settings(max_examples=300, deadline=None)
def test_what_is_accepted_early_the_sdk_accepts(abilities: Any, client: Any) -> None:
    params = opening(capabilities=abilities, clientInfo=client)
    if opening_version(params) is not None:
        validate_client_request("initialize", "2025-11-25", params)
        InitializeRequestParams.model_validate(params, by_name=False)
    meta = envelope(**{f"{ENVELOPE}clientCapabilities": abilities, f"{ENVELOPE}clientInfo": client})
    if envelope_version(meta) is not None:
        validate_client_request("tools/list", "2026-07-28", meta)
    assert (opening_version(params) is None) == (envelope_version(meta) is None)


def test_the_check_of_what_is_accepted_can_fail() -> None:
    params = opening(capabilities={"roots": {"listChanged": {}}})
    assert opening_version(params) is None
    with pytest.raises(ValidationError):
        InitializeRequestParams.model_validate(params, by_name=False)


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_the_answers_on_file_are_current(profile: str) -> None:
    """If not: `python -m tools.early_answers --write`."""
    assert answers_file(profile).read_text(encoding="utf-8") == described(profile)


@pytest.mark.parametrize("plain_names", [False, True], ids=["own names", "plain names"])
@pytest.mark.parametrize("profile", PROFILE_NAMES)
@pytest.mark.parametrize(
    "sent", [BEGUN + LIST, DISCOVER + MODERN_LIST], ids=["handshake", "envelope"]
)
def test_every_profile_is_answered_byte_for_byte_as_by_the_sdk(
    sent: bytes, profile: str, plain_names: bool
) -> None:
    def run(silence_s: tuple[float, float] | None) -> list[bytes]:
        async def one() -> list[bytes]:
            return (await served([sent], 2, silence_s, profile, plain_names=plain_names))[0]

        return anyio.run(one)

    assert run(NEVER) == run(None)


def test_a_profile_without_a_file_has_no_early_answers() -> None:
    assert load_answers("unknown", plain_names=False) is None

"""Only allowed hosts, origins and known tokens pass; tokens are never shown."""

import os
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Scope

from kindly.errors import SettingsError
from kindly.server.http.access import (
    CALLER,
    NO_TOKEN,
    WRONG_TOKEN,
    AccessDenied,
    BearerAuth,
    Caller,
    Challenge,
    HostCheck,
    StaticTokens,
)
from tests.support.asgi import HOST, client_of, echo

pytestmark = pytest.mark.anyio

FIRST, SECOND = "canary-first-token-0001", "canary-second-token-0002"


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {FIRST}", 200),
        (f"bearer {FIRST}", 200),
        (f"BEARER  {SECOND} ", 200),
        (f"Bearer {FIRST}x", 401),
        (f"Bearer {FIRST[:-1]}", 401),
        (f"Bearer {FIRST.upper()}", 401),
        (f"Bearer {FIRST} {SECOND}", 401),
        (f"Bearer {FIRST},{SECOND}", 401),
        (f"Basic {FIRST}", 401),
        (FIRST, 401),
        ("Bearer ", 401),
        ("Bearer", 401),
        ("", 401),
    ],
)
async def test_only_a_known_token_gets_through(authorization: str, status: int) -> None:
    app = BearerAuth(echo, [StaticTokens(f"{FIRST}\n{SECOND}")])
    async with client_of(app) as client:
        answer = await client.get("/mcp", headers={"Authorization": authorization})
    assert answer.status_code == status
    assert "canary" not in answer.text + str(answer.headers)


async def test_two_authorization_headers_are_none() -> None:
    app = BearerAuth(echo, [StaticTokens(FIRST)])
    headers = [("Authorization", f"Bearer {FIRST}"), ("Authorization", f"Bearer {SECOND}")]
    async with client_of(app) as client:
        assert (await client.get("/mcp", headers=headers)).status_code == 401


@pytest.mark.parametrize("path", ["/health", "/ready"])
async def test_probes_need_no_token(path: str) -> None:
    async with client_of(BearerAuth(echo, [StaticTokens(FIRST)])) as client:
        assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize(
    "path", ["/mcp", "/metrics", "/console", "/", "/health/", "/health/../mcp"]
)
async def test_every_other_path_needs_one(path: str) -> None:
    async with client_of(BearerAuth(echo, [StaticTokens(FIRST)])) as client:
        assert (await client.get(path)).status_code == 401


async def test_callers_have_distinct_names_that_are_not_their_tokens() -> None:
    app = BearerAuth(echo, [StaticTokens(f"{FIRST} {SECOND}")])
    async with client_of(app) as client:
        names = [
            (await client.get("/mcp", headers={"Authorization": f"Bearer {token}"})).json()[
                "caller"
            ]
            for token in (FIRST, SECOND, FIRST)
        ]
    assert names[0] == names[2] != names[1]
    assert "canary" not in "".join(names)


async def test_the_second_verifier_is_asked_if_the_first_rejects_the_token() -> None:
    app = BearerAuth(echo, [StaticTokens(FIRST), StaticTokens(SECOND)])
    async with client_of(app) as client:
        answer = await client.get("/mcp", headers={"Authorization": f"Bearer {SECOND}"})
    assert answer.status_code == 200


async def test_without_a_verifier_every_token_is_rejected() -> None:
    async with client_of(BearerAuth(echo, [])) as client:
        answer = await client.get("/mcp", headers={"Authorization": f"Bearer {FIRST}"})
    assert answer.status_code == 401


class Closed:
    """A verifier that has no keys now."""

    async def verify(self, token: str) -> Caller | AccessDenied:
        return AccessDenied("Not now.", 503, "temporarily_unavailable", retry_after_s=7)


async def test_an_unavailable_verifier_is_a_503_with_retry_after() -> None:
    async with client_of(BearerAuth(echo, [Closed()])) as client:
        answer = await client.get("/mcp", headers={"Authorization": f"Bearer {FIRST}"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "7")
    assert "WWW-Authenticate" not in answer.headers


@pytest.mark.parametrize(
    ("challenge", "refused", "header"),
    [
        (Challenge(), NO_TOKEN, "Bearer"),
        (Challenge(), WRONG_TOKEN, 'Bearer error="invalid_token"'),
        (Challenge("https://a/m"), NO_TOKEN, 'Bearer resource_metadata="https://a/m"'),
        (
            Challenge("https://a/m", ("read", "write")),
            WRONG_TOKEN,
            'Bearer error="invalid_token", resource_metadata="https://a/m", scope="read write"',
        ),
    ],
    ids=["bare", "wrong", "with metadata", "with scopes"],
)
def test_a_rejection_has_a_challenge(
    challenge: Challenge, refused: AccessDenied, header: str
) -> None:
    assert challenge.header(refused) == header


async def test_a_token_file_is_reloaded_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# since May\n{FIRST}\n\n", encoding="utf-8")
    tokens = StaticTokens(file=file)
    assert isinstance(await tokens.verify(FIRST), Caller)
    file.write_text(f"{FIRST}\n{SECOND}\n", encoding="utf-8")
    assert isinstance(await tokens.verify(FIRST), Caller)
    assert isinstance(await tokens.verify(SECOND), Caller)
    file.write_text(f"{SECOND}\n", encoding="utf-8")
    assert await tokens.verify(FIRST) == WRONG_TOKEN
    assert isinstance(await tokens.verify(SECOND), Caller)


@pytest.mark.parametrize("damage", ["gone", "empty", "garbage"])
async def test_a_token_file_that_became_unreadable_rejects_its_tokens(
    tmp_path: Path, damage: str
) -> None:
    file = tmp_path / "tokens"
    file.write_text(FIRST, encoding="utf-8")
    tokens = StaticTokens(SECOND, file)
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(b"" if damage == "empty" else b"\xff\xfe")
    assert await tokens.verify(FIRST) == WRONG_TOKEN
    assert isinstance(await tokens.verify(SECOND), Caller)


@pytest.mark.parametrize(
    "written",
    [None, "", "# none yet\n", "canary with spaces\n", "canary-ü\n"],
    ids=["absent", "empty", "comment", "spaces", "not ASCII"],
)
def test_a_file_without_a_usable_token_is_reported_at_start(
    tmp_path: Path, written: str | None
) -> None:
    file = tmp_path / "tokens"
    if written is not None:
        file.write_text(written, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        StaticTokens(file=file)
    assert "KINDLY_HTTP_TOKEN_FILE" in caught.value.detail
    assert "canary" not in caught.value.detail


def test_a_token_with_forbidden_characters_is_reported_at_start() -> None:
    with pytest.raises(SettingsError) as caught:
        StaticTokens("canary-ä")
    assert "KINDLY_HTTP_TOKEN" in caught.value.detail
    assert "canary" not in caught.value.detail


def test_tokens_show_in_no_repr() -> None:
    tokens = StaticTokens(FIRST)
    assert "canary" not in repr(tokens) + repr(vars(tokens)) + repr(BearerAuth(echo, [tokens]))


async def test_a_home_folder_is_understood(tmp_path: Path) -> None:
    os.environ["HOME"] = str(tmp_path)
    (tmp_path / "tokens").write_text(FIRST, encoding="utf-8")
    assert isinstance(await StaticTokens(file=Path("~/tokens")).verify(FIRST), Caller)


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("kindly.test", None, 200),
        ("KINDLY.test:8000", None, 200),
        ("[::1]:8000", None, 200),
        ("kindly.test", "https://kindly.test", 200),
        ("kindly.test", "http://kindly.test:3000", 200),
        ("evil.example", None, 421),
        ("kindly.test.evil.example", None, 421),
        ("kindly.test:80:80", None, 421),
        ("kindly.test:http", None, 421),
        ("kindly.test@evil.example", None, 421),
        ("evil.example/kindly.test", None, 421),
        ("", None, 421),
        ("kindly.test", "https://evil.example", 403),
        ("kindly.test", "https://kindly.test.evil.example", 403),
        ("kindly.test", "https://kindly.test@evil.example", 403),
        ("kindly.test", "file://kindly.test", 403),
        ("kindly.test", "null", 403),
        ("kindly.test", "", 403),
    ],
)
async def test_only_allowed_hosts_and_origins_pass(
    host: str, origin: str | None, status: int
) -> None:
    headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
    async with client_of(HostCheck(echo, ["Kindly.test", "[::1]"])) as client:
        assert (await client.get("/mcp", headers=headers)).status_code == status


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"host", b"origin", b"authorization"]),
            st.binary(max_size=40) | st.sampled_from([b"kindly.test", b"Bearer x", b"http://a"]),
        )
    )
)
def test_no_header_crashes_or_bypasses_access_control(headers: list[tuple[bytes, bytes]]) -> None:
    async def opened(*_: object) -> None:
        raise AssertionError

    async def unused() -> Message:
        raise AssertionError

    async def call() -> None:
        scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": headers}
        await app(scope, unused, send)

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    app = HostCheck(BearerAuth(opened, [StaticTokens(FIRST)]), ["kindly.test"])
    anyio.run(call)
    assert sent[0]["status"] in {401, 403, 421}


async def test_two_hosts_or_two_origins_are_none() -> None:
    app = HostCheck(echo, ["kindly.test"])
    async with client_of(app) as client:
        hosts = [("Host", "kindly.test"), ("Host", "evil.example")]
        origins = [("Origin", HOST), ("Origin", "http://evil.example")]
        assert (await client.get("/mcp", headers=hosts)).status_code == 421
        assert (await client.get("/mcp", headers=origins)).status_code == 403


async def test_probes_may_use_any_host_name() -> None:
    async with client_of(HostCheck(echo, ["kindly.test"])) as client:
        assert (await client.get("/ready", headers={"Host": "10.0.0.7:8000"})).status_code == 200


async def test_lifespan_events_pass_access_control() -> None:
    seen: list[Scope] = []

    async def started(scope: Scope, receive: object, send: object) -> None:
        seen.append(scope)

    async def nothing() -> Message:
        raise AssertionError

    async def nowhere(_: Message) -> None:
        raise AssertionError

    app = HostCheck(BearerAuth(started, [StaticTokens(FIRST)]), ["kindly.test"])
    await app({"type": "lifespan"}, nothing, nowhere)
    assert seen == [{"type": "lifespan"}]
    assert CALLER not in seen[0]

"""Both tools of profile `pages` through a real client: bad input, keys, the log, names."""

import json
from pathlib import Path
from typing import Any

import pytest
from anyio.abc import SocketStream

from kindly.cli.logs import JsonLines
from kindly.read.ranking import static_model
from kindly.redact import Redactor
from kindly.settings import Settings
from tests.support.pages_profile import (
    ELSEWHERE,
    GOOGLE,
    KEYS,
    SERVER,
    TEA,
    by_server,
    data,
    google,
    google_json,
    settings,
)
from tests.support.postgres import postgres as postgres
from tests.support.postgres import schema
from tests.support.processes import stdio_client
from tests.support.served_world import (
    EMBEDDINGS,
    GUIDE,
    QUESTION,
    as_json,
    calling,
    embedder,
    text_of,
)
from tests.support.site import Answer, Site, SiteRequest, html

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("tool", "arguments", "named", "allowed"),
    [
        ("web.search", {}, "query", "required"),
        ("web.search", {"query": ""}, "query", "1 character"),
        ("web.search", {"query": []}, "query", "1 item"),
        ("web.search", {"query": ["a", ""]}, "query", "1 character"),
        ("web.search", {"query": {"a": 1}}, "query", "string"),
        ("web.search", {"query": "x" * 2_001}, "query", "2000"),
        ("web.search", {"query": "x", "resultsPerQuery": 0}, "resultsPerQuery", "1"),
        ("web.search", {"query": "x", "resultsPerQuery": 51}, "resultsPerQuery", "50"),
        ("web.search", {"query": "x", "resultsPerQuery": "all"}, "resultsPerQuery", "integer"),
        ("web.search", {"query": "x", "safeSearch": "active"}, "safeSearch", "moderate"),
        ("web.search", {"query": "x", "safeSearch": "none"}, "safeSearch", "moderate"),
        ("web.search", {"query": "x", "safeSearch": ""}, "safeSearch", "moderate"),
        ("web.search", {"query": "x", "num": 3}, "num", "resultsPerQuery"),
        ("web.readFromPage", {"query": "x"}, "url", "required"),
        ("web.readFromPage", {"url": "https://x.org"}, "query", "required"),
        ("web.readFromPage", {"url": "not a url", "query": "x"}, "url", "URL"),
        ("web.readFromPage", {"url": "file:///etc/passwd", "query": "x"}, "url", "http and https"),
        ("web.readFromPage", {"url": "ftp://x.org/", "query": "x"}, "url", "http and https"),
        (
            "web.readFromPage",
            {"url": "https://x.org", "query": "x", "maxResults": 51},
            "maxResults",
            "50",
        ),
        (
            "web.readFromPage",
            {"url": "https://x.org", "query": "x", "forceRefresh": "maybe"},
            "forceRefresh",
            "boolean",
        ),
        (
            "web.readFromPage",
            {"url": "https://x.org", "query": "x", "includeMetadata": 7},
            "includeMetadata",
            "boolean",
        ),
    ],
    ids=lambda value: (value or "nothing") if isinstance(value, str) else None,
)
async def test_bad_input_is_named_before_any_network_call(
    site: Site, tmp_path: Path, tool: str, arguments: dict[str, Any], named: str, allowed: str
) -> None:
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        answer = await call(tool, **arguments)
    assert answer.is_error
    assert named in text_of(answer)
    assert allowed in text_of(answer)
    assert site.requests == []


async def test_no_key_is_shown_or_sent_elsewhere(site: Site, tmp_path: Path) -> None:
    async def echo(request: SiteRequest, stream: SocketStream) -> Answer:
        return as_json({"error": {"message": str(request.headers)}}, 403)

    site.add(GOOGLE, echo)
    site.add(EMBEDDINGS, echo)
    given = {**KEYS, **SERVER, "EMBEDDING_SERVER_URL": site.url("/embedder")}
    async with calling(settings(site, tmp_path, **given)) as call:
        search = await call("web.search", query="cats")
        page = await call("web.readFromPage", url=site.url("/echo"), query="accept")
    assert search.is_error
    shown = search.model_dump_json() + page.model_dump_json()
    assert "canary" not in shown
    for request in site.requests:
        if request.path == "/echo":
            assert "canary" not in str(request.headers)


@pytest.mark.parametrize("store", ["duckdb", "sqlite", "memory", "postgres"])
async def test_the_debug_log_has_each_batch_of_embeddings_and_the_opening_of_the_store(
    site: Site,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
    store: str,
) -> None:
    place = {"duckdb": "kindly.duckdb", "sqlite": "library.sqlite", "memory": "memory"}.get(store)
    environ = by_server(site, tmp_path, EMBEDDING_TOKENS_SIZE="64", KINDLY_STORE=store)
    if store == "postgres":
        environ["KINDLY_STORE"] = schema(request.getfixturevalue("postgres"))
    url = site.add("/guide", html(GUIDE))
    site.add(EMBEDDINGS, embedder)
    with caplog.at_level("DEBUG"):
        async with calling(environ) as call:
            data(await call("web.readFromPage", url=url, query=[QUESTION, ELSEWHERE]))
            data(await call("web.readFromPage", url=url, query=QUESTION))
            site.add(EMBEDDINGS, Answer(status=429))
            data(await call("web.readFromPage", url=url, query=QUESTION))
    written = JsonLines(Redactor.of(Settings.load(environ).secrets()))
    lines = [json.loads(written.format(record)) for record in caplog.records]
    batches = [line for line in lines if line["event"] == "embedding batch"]
    sent = [request for request in site.requests if request.path == EMBEDDINGS]
    counts = sorted(len(json.loads(request.body)["input"]) for request in sent)
    assert sorted(line["count"] for line in batches) == counts
    assert counts[-1] == 32
    assert {line["model"] for line in batches} == {SERVER["EMBEDDING_MODEL_NAME"]}
    assert all(line["level"] == "debug" and line["took_ms"] >= 0 for line in batches)
    assert [line["outcome"] for line in batches].count("failed") == 1
    (opened,) = [line for line in lines if line["event"] == "store opened"]
    assert (opened["level"], opened["kind"]) == ("debug", store)
    assert place is None or opened["place"].endswith(place)
    own = [line for line in lines if line["logger"].startswith("kindly")]
    shown = json.dumps(own)
    assert "canary" not in shown
    assert "widgets" not in shown
    assert "postgresql://" not in shown


async def test_the_debug_log_has_the_batches_of_the_local_model_too(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = site.add("/tea", html(TEA))
    with caplog.at_level("DEBUG"):
        async with calling(settings(site, tmp_path)) as call:
            data(await call("web.readFromPage", url=url, query="green tea"))
    batches = [record for record in caplog.records if record.getMessage() == "embedding batch"]
    assert [getattr(record, "count", None) for record in batches] == [1, 1]
    assert {getattr(record, "model", None) for record in batches} == {static_model.NAME}


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["web.search", "web.readFromPage"]),
        (("--plain-names",), ["web_search", "web_readFromPage"]),
    ],
    ids=["as written", "--plain-names"],
)
async def test_the_tools_are_those_of_the_contract(
    tmp_path: Path, options: tuple[str, ...], names: list[str]
) -> None:
    environ = {"DATA_DIR": str(tmp_path)}
    async with stdio_client(environ, "--profile", "pages", *options) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == names


async def test_plain_names_can_be_called(site: Site, tmp_path: Path) -> None:
    site.add(GOOGLE, google())
    async with calling(settings(site, tmp_path, **KEYS, KINDLY_PLAIN_NAMES="1")) as call:
        found = data(await call("web_search", query="cats"))
        page = data(await call("web_readFromPage", url=site.url("/article"), query="ultraviolet"))
    assert found["queries"][0]["result"] == google_json("cats")
    assert page["title"] == "How bees find flowers"

"""Canary keys through every path: they appear in no answer, error, log line, repr or traceback."""

import logging
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.cli.logs import JsonLines
from kindly.redact import Redactor
from kindly.settings import Settings
from tests.support.served_world import (
    BOTH,
    CANARIES,
    SERPER_KEY,
    as_json,
    calling,
    environment,
    serper,
)
from tests.support.site import Answer, Route, Site, SiteRequest, hang_up, redirect

pytestmark = pytest.mark.anyio


async def echo(request: SiteRequest, stream: SocketStream) -> Answer:
    """A gateway that answers with what it was sent."""
    return as_json({"message": str(request.headers)}, 401)


async def echo_in_results(request: SiteRequest, stream: SocketStream) -> Answer:
    """A gateway that puts what it was sent into its results."""
    return serper(
        ["https://example.invalid/"], title=str(request.headers), snippet=str(request.headers)
    )


async def silent(request: SiteRequest, stream: SocketStream) -> None:
    """A gateway that never answers."""
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()


FAILURES: dict[str, Route] = {
    "400": Answer(status=400),
    "401": Answer(status=401),
    "403": Answer(status=403),
    "429": Answer(status=429, headers={"Retry-After": "1"}),
    "500": Answer(status=500),
    "echo": echo,
    "echo in results": echo_in_results,
    "redirect": redirect("http://127.0.0.1:1/elsewhere", 307),
    "not JSON": Answer(b"<html>"),
    "reset": hang_up,
    "silent": silent,
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_keys_appear_nowhere(
    site: Site, tmp_path: Path, failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    site.add("/serper/search", FAILURES[failure])
    site.add("/tavily/search", FAILURES[failure])
    settings = environment(site, tmp_path, **BOTH, KINDLY_DEADLINE_S="2")
    async with calling(settings) as call:
        with anyio.fail_after(30):
            result = await call("web_search", query="bees")
    seen = result.model_dump_json() + "".join(
        f"{record.getMessage()} {record.exc_text or ''} {record.args}" for record in caplog.records
    )
    assert not any(canary in seen for canary in CANARIES)


async def test_a_key_travels_only_to_its_own_provider(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", redirect(site.url("/elsewhere"), 307))
    site.add("/tavily/search", redirect(site.url("/elsewhere"), 302))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        await call("web_search", query="bees")
    assert site.count("/elsewhere") == 0
    by_path = {request.path: str(request.headers) + request.target for request in site.requests}
    assert SERPER_KEY not in by_path["/tavily/search"]
    assert "key" not in by_path["/serper/search"].split("}")[1]


async def test_pages_are_sent_no_key(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/echo")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (result,) = await call.search()
    page_request = next(request for request in site.requests if request.path == "/echo")
    assert not any(canary in str(page_request.headers) for canary in CANARIES)
    assert result["status"] == "ok"


async def test_a_page_that_quotes_a_key_is_masked(site: Site, tmp_path: Path) -> None:
    url = site.add("/leak", as_json({"found": SERPER_KEY, "text": "a public paste"}))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        page = await call.page(url)
    assert SERPER_KEY not in str(page)
    assert "a public paste" in page["page_content"]


def test_logs_mask_keys_in_messages_fields_and_tracebacks() -> None:
    formatter = JsonLines(Redactor.of(Settings.load(BOTH).secrets()))
    try:
        raise ValueError(f"bad {SERPER_KEY}")  # noqa: TRY301 - a traceback is wanted
    except ValueError as error:
        record = logging.makeLogRecord(
            {
                "name": "kindly",
                "msg": "sent %s",
                "args": (SERPER_KEY,),
                "levelno": logging.ERROR,
                "levelname": "ERROR",
                "exc_info": (type(error), error, error.__traceback__),
                "header": {"x": SERPER_KEY},
                "odd": object(),
            }
        )
    line = formatter.format(record)
    assert SERPER_KEY not in line
    assert "ValueError" in line
    assert "\n" not in line

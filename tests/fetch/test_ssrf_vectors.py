"""Known ways to make a fetcher reach what it must not, each against the whole fetch stage and a fake network.

Nothing is dialled: below the guard stand a resolver with scripted answers and a dialler that only takes notes.
"""

import inspect
import json
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import AddressRefused, FetchError, InputError, KindlyError, PageTimeout
from kindly.fetch import Fetcher, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.fetch.guard import why_not_public
from kindly.urls import parse
from tests.fetch.fakes import PUBLIC, FakeDialler, FakeResolver, FakeTime, Seen
from tests.site import ARTICLE, Answer, head_of, html

pytestmark = pytest.mark.anyio

VECTORS = Path(__file__).parents[2] / "../shared/data/security/ssrf_vectors.dev.jsonl"
SOFT_AND_STRICTER = {
    "ok-bare-host": "a URL without a scheme is refused with a sentence that says so",
}


@dataclass(frozen=True, slots=True)
class Vector:
    """One row: what is asked, what the world answers, what must come of it."""

    id: str
    kind: str
    expect: str
    firm: bool
    url: str = ""
    dns: dict[str, list[list[str]]] = field(default_factory=dict)
    setup: dict[str, Any] = field(default_factory=dict)
    tool_error: bool | None = None
    why: str = ""


def vectors() -> list[Vector]:
    if not VECTORS.is_file():
        return []
    return [Vector(**json.loads(line)) for line in VECTORS.read_text("utf-8").splitlines()]


def test_vectors_are_there() -> None:
    if not vectors():
        pytest.skip("the shared security data is not beside this checkout")


class World:
    """Serves a vector's hops, bodies and headers; anything else is a plain page."""

    def __init__(self, vector: Vector) -> None:
        self._setup = vector.setup
        self._hops = {hop["url"]: hop for hop in vector.setup.get("hops", ())}

    def __call__(self, seen: Seen) -> Answer | bytes:
        if seen.target == "/robots.txt":
            body = self._setup.get("robots_body")
            return Answer(body.encode()) if body else Answer(b"", 404)
        for scheme in ("http", "https"):
            hop = self._hops.get(f"{scheme}://{seen.host}{seen.target}")
            if hop is not None:
                return _hop(hop)
        headers = {
            "Content-Type": self._setup.get("content_type", "text/html"),
            **self._setup.get("response_headers", {}),
        }
        return Answer(self._setup.get("body", ARTICLE).encode(), headers=headers)


def _hop(hop: dict[str, Any]) -> Answer | bytes:
    locations = hop.get("location", [])
    locations = [locations] if isinstance(locations, str) else locations
    lines = b"".join(b"Location: " + location.encode() + b"\r\n" for location in locations)
    headers = {"Content-Type": "text/html", "Content-Length": str(len(hop.get("body", "")))}
    if "refresh" in hop:
        headers["Refresh"] = hop["refresh"]
    head = head_of(hop["status"], headers)
    return head[:-2] + lines + b"\r\n" + str(hop.get("body", "")).encode()


def skip_reason(vector: Vector) -> str | None:
    if vector.kind == "browser" or vector.setup.get("engine") == "browser":
        return "needs a browser; the fetch stage runs none"
    return None


def policy(vector: Vector) -> GuardPolicy:
    config = vector.setup.get("operator_config", {})
    if config.get("allow_private") is True:
        return GuardPolicy(allow_private=("169.254.169.254",))
    return GuardPolicy(allow_private=tuple(config.get("allow_private_hosts", ())))


def asked_url(vector: Vector) -> str:
    url = vector.url.replace("{own_port}", "8000")
    if "repeat_query_to_bytes" in vector.setup:
        url = url.removesuffix("...").ljust(vector.setup["repeat_query_to_bytes"], "a")
    return str(vector.setup.get("provider_result_url", url))


async def ask(fetcher: Fetcher, vector: Vector) -> KindlyError | None:
    """What the fetch stage says to a vector's URL: an error, or nothing when it brought a page."""
    slow = "dns_delay_s" in vector.setup
    try:
        with anyio.fail_after(5):
            url = parse(asked_url(vector))
            for _ in range(2):
                deadline = Deadline.after(0.05 if slow else 5)
                await fetcher.fetch(url, deadline, force_refresh=True)
    except (InputError, FetchError) as error:
        return error
    return None


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector.id)
async def test_vector_comes_out_right_and_dials_nothing_private(vector: Vector) -> None:
    if reason := skip_reason(vector):
        pytest.skip(reason)
    if vector.id in SOFT_AND_STRICTER:
        pytest.skip(SOFT_AND_STRICTER[vector.id])
    dialler = FakeDialler(World(vector))
    if vector.setup.get("first_connect") == "refused":
        dialler.refusing = frozenset({PUBLIC})
    resolver = FakeResolver(vector.dns, vector.setup.get("dns_delay_s", 0))
    seams = Seams(resolver, dialler, FakeTime().times)

    async with open_fetcher(FetchLimits(), policy(vector), seams=seams) as fetcher:
        error = await ask(fetcher, vector)

    opened = vector.setup.get("operator_config", {}).get("allow_private_hosts", ())
    private = [
        address
        for address, _ in dialler.dialled
        if why_not_public(ip_address(address)) and address not in opened
    ]
    assert private == []
    if vector.expect == "allow":
        assert error is None
        assert dialler.dialled != []
    elif vector.tool_error and vector.kind not in {"headers", "secondary"}:
        assert error is not None
        assert len(error.detail) < 500


def test_headers_method_proxy_and_endpoint_are_no_arguments_of_a_fetch() -> None:
    """Rows `headers-*`, `secondary-proxy-arg` and `secondary-model-url`: there is no way to pass them."""
    assert list(inspect.signature(Fetcher.fetch).parameters) == [
        "self",
        "url",
        "deadline",
        "force_refresh",
    ]


async def test_only_get_is_sent_and_no_referer_or_cookie_goes_along() -> None:
    def server(seen: Seen) -> Answer:
        if seen.target == "/":
            return Answer(status=302, headers={"Location": "/b", "Set-Cookie": "a=1"})
        return html(ARTICLE)

    dialler = FakeDialler(server)
    seams = Seams(FakeResolver({"example.com": [[PUBLIC]]}), dialler)

    async with open_fetcher(FetchLimits(respect_robots=False), seams=seams) as fetcher:
        await fetcher.fetch(parse("https://example.com/"), Deadline.after(5))

    assert [seen.target for seen in dialler.seen] == ["/", "/b"]
    for seen in dialler.seen:
        names = {line.partition(":")[0].lower() for line in seen.lines}
        assert names == {"host", "user-agent", "accept", "accept-language", "accept-encoding"}
    assert dialler.names == ["example.com"]
    assert dialler.dialled == [(PUBLIC, 443)]


async def test_hanging_look_up_ends_with_the_deadline() -> None:
    seams = Seams(FakeResolver({}, delay_s=60), FakeDialler())

    async with open_fetcher(seams=seams) as fetcher:
        with pytest.raises(PageTimeout):
            await fetcher.fetch(parse("http://example.com/"), Deadline.after(0.05))


async def test_second_checked_address_is_dialled_when_the_first_refuses() -> None:
    dialler = FakeDialler(lambda seen: html(ARTICLE), refusing=frozenset({"93.184.215.13"}))
    answers = {"example.com": [["93.184.215.13", PUBLIC]]}
    seams = Seams(FakeResolver(answers), dialler)

    async with open_fetcher(FetchLimits(respect_robots=False), seams=seams) as fetcher:
        page = await fetcher.fetch(parse("http://example.com/"), Deadline.after(5))

    assert page.body == ARTICLE.encode()
    assert dialler.dialled == [("93.184.215.13", 80), (PUBLIC, 80)]


async def test_refused_hop_is_told_with_the_url_that_was_asked_for() -> None:
    dialler = FakeDialler(
        lambda seen: Answer(status=302, headers={"Location": "http://192.168.0.1/x"})
    )
    seams = Seams(FakeResolver({"example.com": [[PUBLIC]]}), dialler)

    async with open_fetcher(FetchLimits(respect_robots=False), seams=seams) as fetcher:
        with pytest.raises(AddressRefused) as caught:
            await fetcher.fetch(parse("http://example.com/a"), Deadline.after(5))

    assert caught.value.url == "http://example.com/a"
    assert "192.168.0.1" in caught.value.detail

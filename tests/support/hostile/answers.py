"""Search APIs whose answers have every wrong shape; the query names the one that is wanted."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from anyio.abc import SocketStream

from kindly.errors import ProviderAnswerInvalid, ProviderUnreachable, SearchError
from tests.support.fakes import provider_answer
from tests.support.hostile.case import head
from tests.support.site import Answer, Route, SiteRequest

Json = object
Lists = dict[str, tuple[str, ...]]

RESULTS: Lists = {
    "serper": ("organic",),
    "tavily": ("results",),
    "brave": ("web", "results"),
    "google": ("items",),
    "searxng": ("results",),
}
"""Where each provider's answer has its list."""
ADDRESS = {"serper": "link", "google": "link"}
"""What a result calls its address, where that is not `url`."""
INVALID = ProviderAnswerInvalid


@dataclass(frozen=True, slots=True)
class Shape:
    """A wrong shape: what it makes of a right answer, and the error that comes of it; None where it is borne."""

    name: str
    body: Callable[[str], bytes]
    error: type[SearchError] | None = INVALID
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    status: int = 200

    def __str__(self) -> str:
        return self.name


def right(provider: str) -> dict[str, Json]:
    """The answer that the vendor documents."""
    return copy.deepcopy(provider_answer(provider, "search"))


def with_results(provider: str, results: Json) -> bytes:
    """Nothing but a list of results, or what stands in its place."""
    body: Json = results
    for name in reversed(RESULTS[provider]):
        body = {name: body}
    return json.dumps(body).encode()


def results_of(provider: str) -> list[dict[str, Json]]:
    """The right results."""
    found: Json = right(provider)
    for name in RESULTS[provider]:
        assert isinstance(found, dict)
        found = found[name]
    assert isinstance(found, list)
    return found


def changed(value: Json, *, address: bool) -> Callable[[str], bytes]:
    """The right results with `value` in the place of their addresses, or of all their other fields."""

    def body(provider: str) -> bytes:
        key = ADDRESS.get(provider, "url")
        items = [
            {name: value if (name == key) is address else kept for name, kept in item.items()}
            for item in results_of(provider)
        ]
        return with_results(provider, items)

    return body


def fixed(body: bytes) -> Callable[[str], bytes]:
    """The same for every provider."""
    return lambda _: body


def listed(results: Json) -> Callable[[str], bytes]:
    """The same in place of every provider's results."""
    return lambda provider: with_results(provider, results)


VALUES: dict[str, Json] = {
    "null": None,
    "number": 7,
    "true": True,
    "list": [[]],
    "object": {"a": {}},
    "huge-number": 10**400,
    "nul": "\0",
    "surrogate": "\ud800",
}
ADDRESSES = {
    "script": "javascript:alert(1)",
    "file": "file:///etc/passwd",
    "path": "/relative",
    "no-host": "http://",
    "open-bracket": "http://[",
    "newline": "http://a.example/\r\nX: y",
    "empty": "",
}
FRAMING = (("Content-Type", "application/json"), ("Content-Length", "9999"))


def shapes() -> Iterator[Shape]:
    """All of them."""
    for name in ("null", "[]", "[{}]", '"words"', "7", "true", "{}", "", "  \n", "{", "NaN"):
        yield Shape(f"body-{name.strip() or len(name)}", fixed(name.encode()))
    yield Shape("html", fixed(b"<!doctype html><h1>Sign in</h1>"))
    yield Shape("not-utf-8", fixed(b'{"a": "\xff\xfe'))
    yield Shape("deep", fixed(b"[" * 500_000))
    yield Shape("deep-object", fixed(b'{"a":' * 200_000))
    yield Shape("long-number", fixed(b'{"a": ' + b"9" * 1_000_000 + b"}"))
    yield Shape("five-megabytes", fixed(b'{"a": "' + b"x" * 5_000_000 + b'"}'))
    yield Shape("cut-off", lambda provider: json.dumps(right(provider)).encode()[:-9])
    yield Shape("error-in-a-success", fixed(b'{"error": {"message": "quota"}}'))
    for name, value in VALUES.items():
        yield Shape(f"results-{name}", listed(value))
        yield Shape(f"result-{name}", listed([value]))
        yield Shape(f"address-{name}", changed(value, address=True))
        yield Shape(f"fields-{name}", changed(value, address=False), None)
    for name, text in ADDRESSES.items():
        yield Shape(f"address-{name}", changed(text, address=True))
    yield Shape("a-thousand-results", lambda one: with_results(one, results_of(one) * 500), None)
    yield Shape(
        "broken-gzip", fixed(b"\x1f\x8b\x08rubbish"), headers=(("Content-Encoding", "gzip"),)
    )
    yield Shape("redirect", fixed(b""), headers=(("Location", "http://10.0.0.1/"),), status=302)
    yield Shape("no-content", fixed(b""), status=204)
    yield Shape("length-too-long", fixed(b"{"), ProviderUnreachable, FRAMING)


SHAPES = {shape.name: shape for shape in shapes()}


def asked(request: SiteRequest) -> str:
    """The query's words, wherever the vendor takes them."""
    if not request.body:
        return request.query["q"]
    body = json.loads(request.body)
    return str(body.get("q") or body.get("query"))


def vendor(provider: str) -> Route:
    """A provider's API."""

    async def answer(request: SiteRequest, stream: SocketStream) -> Answer | None:
        shape = SHAPES[asked(request)]
        headers = dict(shape.headers) | {"X-RateLimit-Policy": "1000;w=1"}
        if "Content-Length" not in headers:
            return Answer(shape.body(provider), shape.status, headers)
        lines = (f"{name}: {value}" for name, value in headers.items())
        await stream.send(head(*lines) + shape.body(provider))
        return None

    return answer


PATHS = {
    "serper": "/search",
    "tavily": "/search",
    "brave": "/res/v1/web/search",
    "google": "/customsearch/v1",
    "searxng": "/search",
}


INSTANCE = {"network_type": "normal", "http": {"status_code": 200, "grade": "A+"}}
LISTINGS: dict[str, bytes] = {
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "object": b"{}",
    "html": b"<!doctype html><h1>Moved</h1>",
    "not-utf-8": b'{"instances": "\xff',
    "deep": b"[" * 500_000,
    "large": b'{"instances": "' + b"x" * 5_000_000 + b'"}',
    "instances-null": b'{"instances": null}',
    "instances-list": b'{"instances": [1, null, {}]}',
    "instances-words": b'{"instances": {"https://a.example/": "words", "": {}, "x": null}}',
    "instances-private": json.dumps(
        {"instances": {"http://10.0.0.1/": INSTANCE, "https://[::1]/": INSTANCE}}
    ).encode(),
    "instances-of-odd-fields": json.dumps(
        {"instances": {"https://10.0.0.2/": {"network_type": [], "http": 7, "uptime": {}}}}
    ).encode(),
}
"""Lists of public instances of which none can be asked."""


def routes() -> Iterator[tuple[str, Route]]:
    """Each API at its place."""
    for provider, path in PATHS.items():
        yield f"/vendor/{provider}{path}", vendor(provider)
    for name, body in LISTINGS.items():
        yield f"/vendor/pool/{name}", Answer(body, headers={"Content-Type": "application/json"})

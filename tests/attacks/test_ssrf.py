"""Known SSRF attacks, each through the real tools over a fake network.

Nothing is dialled: below the guard are a resolver with scripted answers and a dialler that only records.
"""

import inspect
import json
import os
import tempfile
from dataclasses import dataclass, field
from html import escape
from ipaddress import IPv4Network, ip_address
from typing import Any

import anyio
import pytest
from mcp_types import CallToolResult

from kindly.budget import Deadline
from kindly.errors import AddressRefused, PageTimeout, SettingsError
from kindly.fetch import Egress, Fetcher, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.fetch.browser.browser_pool import BrowserSeams, open_browser
from kindly.fetch.browser.launch import BrowserSettings
from kindly.fetch.browser.proxy import FilteringProxy, ProxyLimits, running_proxy
from kindly.fetch.guard.guard import Guard, why_not_public
from kindly.fetch.guard.reserved import NEVER, NOT_PUBLIC, RESERVED_NAMES, UNSAFE_PORTS
from kindly.fetch.loader_kit.loader import LoaderSettings
from kindly.server.profiles import load_profile
from kindly.urls import parse
from tests.support.attack_engine import Engine, Network, article, running, text_of
from tests.support.chromium import needs_chromium
from tests.support.fetch_fakes import PUBLIC, FakeDialler, FakeResolver, Seen, Server
from tests.support.paths import ROOT, SHARED_DATA
from tests.support.shared_data import cases_or_skip, shared_lines
from tests.support.site import ARTICLE, Answer, head_of, html
from tests.support.ssrf_rows import LITERALS, NAMES
from tests.support.streams import Talk, scripted_net

pytestmark = pytest.mark.anyio

VECTORS = SHARED_DATA / "security" / "ssrf_vectors.dev.jsonl"
SOFT_AND_STRICTER = {
    "ok-bare-host": "a URL without a scheme is refused with a sentence that says so",
}
SITE = "public.example.com"
HERE: dict[str, list[list[str]]] = {SITE: [[PUBLIC]]}
LEADING_HOME = {"path only", "tab in the scheme"}
"""As a link of a page these lead to the page's own site."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One row: the request, the responses of the network, and the expected outcome."""

    id: str
    kind: str
    expect: str
    firm: bool
    url: str = ""
    dns: dict[str, list[list[str]]] = field(default_factory=dict)
    setup: dict[str, Any] = field(default_factory=dict)
    tool_error: bool | None = None
    why: str = ""

    @property
    def opened(self) -> tuple[str, ...]:
        config = self.setup.get("operator_config", {})
        if config.get("allow_private") is True:
            return ("169.254.169.254",)
        return tuple(config.get("allow_private_hosts", ()))

    @property
    def asked(self) -> str:
        url = self.url.replace("{own_port}", "8000")
        if "repeat_query_to_bytes" in self.setup:
            url = url.removesuffix("...").ljust(self.setup["repeat_query_to_bytes"], "a")
        return str(self.setup.get("provider_result_url", url))


def vectors() -> list[Vector]:
    """All vectors but those for a browser (fetch/browser/test_chromium.py) and those that are refused more strictly."""
    found = [Vector(**json.loads(line)) for line in shared_lines(VECTORS)]
    return [
        vector
        for vector in found
        if "browser" not in {vector.kind, vector.setup.get("engine")}
        and vector.id not in SOFT_AND_STRICTER
    ]


class VectorSite:
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


def _hop(hop: dict[str, Any]) -> bytes:
    locations = hop.get("location", [])
    locations = [locations] if isinstance(locations, str) else locations
    lines = b"".join(b"Location: " + location.encode() + b"\r\n" for location in locations)
    headers = {"Content-Type": "text/html", "Content-Length": str(len(hop.get("body", "")))}
    if "refresh" in hop:
        headers["Refresh"] = hop["refresh"]
    head = head_of(hop["status"], headers)
    return head[:-2] + lines + b"\r\n" + str(hop.get("body", "")).encode()


def redirecting(location: str) -> Answer:
    """A redirect whose Location is sent as it is, in UTF-8."""
    return Answer(status=302, headers={"Location": location})


@pytest.mark.parametrize("vector", cases_or_skip(vectors(), VECTORS), ids=lambda vector: vector.id)
async def test_vector_comes_out_right_and_dials_nothing_private(vector: Vector) -> None:
    slow = "dns_delay_s" in vector.setup
    network = Network(
        vector.dns,
        VectorSite(vector),
        GuardPolicy(allow_private=vector.opened),
        robots=True,
        refusing=frozenset({PUBLIC} if vector.setup.get("first_connect") == "refused" else ()),
        dns_delay_s=vector.setup.get("dns_delay_s", 0),
        deadline_s=0.05 if slow else 60,
    )
    async with running(network) as engine:
        with anyio.fail_after(120):
            first = await asked(engine, vector.asked)
            again = await asked(engine, vector.asked)
    assert [dial for dial in engine.private_dials if dial[0] not in vector.opened] == []
    if vector.expect == "allow":
        assert not first.is_error, text_of(first)
        assert engine.dialler.dialled != []
    elif vector.tool_error and vector.kind not in {"headers", "secondary"}:
        assert first.is_error or again.is_error
        assert len(text_of(again)) < 700


async def asked(engine: Engine, url: str) -> CallToolResult:
    """What the tool says; an address that no JSON can carry is one that the client itself refuses."""
    try:
        return await engine.content(url)
    except UnicodeEncodeError:
        return await engine.content("http://")


@pytest.mark.parametrize("url", LITERALS.values(), ids=LITERALS)
async def test_address_is_refused_before_a_name_is_looked_up(url: str) -> None:
    async with running(Network(HERE)) as engine:
        with anyio.fail_after(120):
            result = await engine.content(url)
    assert result.is_error
    assert engine.dialler.dialled == []
    assert engine.resolver.asked == []


@pytest.mark.parametrize("url", list(LITERALS.values())[::4], ids=list(LITERALS)[::4])
@pytest.mark.parametrize(
    ("profile", "tool", "name", "more"),
    [
        ("pages", "web.readFromPage", "url", {"query": "bees"}),
        ("media", "WebFetch", "url", {}),
        ("chatgpt", "fetch", "id", {}),
    ],
    ids=["pages", "media", "chatgpt"],
)
async def test_address_is_refused_by_the_tools_of_other_profiles(
    profile: str, tool: str, name: str, more: dict[str, str], url: str
) -> None:
    chosen = load_profile(profile)
    async with running(Network(HERE), chosen) as engine:
        with anyio.fail_after(120):
            result = await engine.client.call_tool(tool, {name: url, **more})
    assert result.is_error
    assert engine.dialler.dialled == []


async def test_no_link_among_search_results_leads_to_a_private_address() -> None:
    async with running(Network(HERE)) as engine:
        for start in range(0, len(LITERALS), 20):
            urls = tuple(LITERALS.values())[start : start + 20]
            with anyio.fail_after(120):
                result = await engine.search(*urls)
            assert result.structured_content is not None
            found = result.structured_content["results"]
            web = [one for one in found if one["link"].lower().startswith("http")]
            assert [one["link"] for one in web if one["status"] != "refused"] == []
            assert {one["status"] for one in found} <= {"refused", "unsupported"}
    assert engine.dialler.dialled == []
    assert engine.resolver.asked == []


def carried_by_a_header(url: str) -> bool:
    return url.isprintable() or "\u200b" in url


def sending(way: str, urls: list[str]) -> Server:
    """A site whose page number `n` redirects to address number `n`."""

    def site(seen: Seen) -> Answer:
        if seen.target == "/robots.txt":
            return redirecting(urls[int(seen.host.split(".")[0][1:])])
        number = seen.target.rpartition("/")[2]
        if way == "robots" or not number.isdecimal():
            return article(seen)
        if way == "refresh":
            url = escape(urls[int(number)])
            return html(f'<meta http-equiv="refresh" content="0;url={url}">')
        if way == "second redirect" and seen.target.startswith("/first/"):
            return redirecting(f"/second/{number}")
        return redirecting(urls[int(number)])

    return site


@pytest.mark.parametrize("way", ["redirect", "second redirect", "refresh", "robots"])
async def test_no_hop_leads_to_a_private_address(way: str) -> None:
    """Each address again, as the target of a redirect from a public page."""
    rows = [(name, url) for name, url in LITERALS.items() if way == "refresh" or "\n" not in url]
    rows = [(name, url) for name, url in rows if name not in LEADING_HOME and "\r" not in url]
    site = sending(way, [url for _, url in rows])
    names = {f"r{number}.example.com": [[PUBLIC]] for number in range(len(rows))}
    fetched = []
    async with running(Network(names | HERE, site, robots=way == "robots")) as engine:
        for number, (name, _) in enumerate(rows):
            with anyio.fail_after(120):
                result = await engine.content(f"http://r{number}.example.com/first/{number}")
            if not result.is_error:
                fetched.append(name)
    assert engine.private_dials == []
    assert set(engine.resolver.asked) <= names.keys()
    assert fetched == []


async def test_no_address_gets_past_the_guard_through_a_proxy() -> None:
    egress = Egress("http://proxy.corp:3128", "http://proxy.corp:3128")
    async with running(Network(HERE, egress=egress)) as engine:
        for name, url in LITERALS.items():
            with anyio.fail_after(120):
                assert (await engine.content(url)).is_error, name
    assert engine.dialler.dialled == []


def browser_requests() -> list[str]:
    """What a browser would send to its proxy for each address: http requests and tunnels only."""
    requests = []
    for url in LITERALS.values():
        scheme, mark, rest = url.partition("://")
        if mark and scheme.lower() in {"http", "https"}:
            host = rest.partition("/")[0]
            port = "" if host.rpartition("]")[2].count(":") else ":443"
            requests += [f"GET http://{rest} HTTP/1.1", f"CONNECT {host}{port} HTTP/1.1"]
    return requests


async def test_no_request_of_a_browser_reaches_a_private_address() -> None:
    guard = Guard(GuardPolicy(), FakeResolver(HERE))
    allowed = []
    with anyio.fail_after(120):
        async with scripted_net() as net:
            proxy = FilteringProxy(guard, ProxyLimits(), net.dial)
            async with running_proxy(proxy):
                with proxy.session() as session:
                    line = f"Proxy-Authorization: {session.authorization}"
                    for request in browser_requests():
                        head = f"{request}\r\n{line}\r\n\r\n".encode("utf-8", "replace")
                        async with await anyio.connect_tcp("127.0.0.1", proxy.port) as stream:
                            await stream.send(head)
                            if (await stream.receive()).startswith(b"HTTP/1.1 200"):
                                allowed.append(request)
            assert net.dialled == []
    assert allowed == []


@pytest.mark.parametrize("answers", NAMES.values(), ids=NAMES)
async def test_name_never_leads_to_a_private_address(answers: list[list[str]]) -> None:
    """Requested three times, over new connections, as DNS rebinding needs."""

    def site(seen: Seen) -> bytes:
        body = ARTICLE.encode()
        fields = {"Content-Type": "text/html", "Connection": "close"}
        return head_of(200, fields | {"Content-Length": str(len(body))}) + body

    results = []
    async with running(Network({"name.example.com": answers}, site)) as engine:
        for _ in range(3):
            with anyio.fail_after(120):
                results.append(await engine.content("http://name.example.com/"))
    assert engine.private_dials == []
    assert any(result.is_error for result in results)
    assert {address for address, _ in engine.dialler.dialled} <= {PUBLIC}


@pytest.mark.parametrize("answers", NAMES.values(), ids=NAMES)
async def test_name_that_a_redirect_leads_to_is_checked_too(answers: list[list[str]]) -> None:
    def site(seen: Seen) -> Answer:
        if seen.host == SITE:
            return redirecting("http://name.example.com/")
        return Answer(ARTICLE.encode(), headers={"Content-Type": "text/html"})

    async with running(Network(HERE | {"name.example.com": answers}, site)) as engine:
        with anyio.fail_after(120):
            await engine.content(f"http://{SITE}/")
    assert engine.private_dials == []


async def test_a_loader_whose_base_is_private_or_rebinds_dials_nothing_private() -> None:
    bases = {
        "GITHUB_API_URL": "http://10.0.0.1/api",
        "STACKEXCHANGE_API_URL": "http://169.254.169.254",
        "PYPI_URL": "http://name.example.com",
    }
    names = {
        "name.example.com": [["10.0.0.1"]],
        "github.com": [[PUBLIC]],
        "pypi.org": [[PUBLIC]],
        "stackoverflow.com": [[PUBLIC]],
    }
    async with running(Network(names, loaders=LoaderSettings(base_urls=bases))) as engine:
        for url in (
            "https://github.com/a/b/issues/1",
            "https://stackoverflow.com/questions/1/x",
            "https://pypi.org/project/x/",
        ):
            with anyio.fail_after(120):
                await engine.content(url)
    assert engine.private_dials == []


@pytest.mark.parametrize(
    ("blocked", "url"),
    [
        ("bad.example.com", "http://bad.example.com/"),
        ("*.bad.example.com", "http://a.b.bad.example.com/"),
        ("BAD.example.com.", "http://bad.example.com/"),
        ("https://bad.example.com/path", "http://bad.example.com/"),
        ("münchen.example", "http://xn--mnchen-3ya.example/"),
        ("xn--mnchen-3ya.example", "http://münchen.example/"),
        ("münchen.example", "http://www.münchen.example/"),
        ("93.184.215.14", "http://93.184.215.14/"),
        ("[2606:4700::1]", "http://[2606:4700:0::1]/"),
        ("2606:4700::1", "http://[2606:4700::1]/"),
        ("example.com", "http://r.example.net/to-bad"),
    ],
)
async def test_blocked_domain_is_asked_in_no_spelling_and_by_no_redirect(
    blocked: str, url: str
) -> None:
    def site(seen: Seen) -> Answer:
        if seen.target == "/to-bad":
            return redirecting("http://bad.example.com/")
        return html(ARTICLE)

    hosts = ("bad.example.com", "r.example.net", "xn--mnchen-3ya.example")
    names = {host: [[PUBLIC]] for host in hosts}
    policy = GuardPolicy(blocked_domains=(blocked,))
    async with running(Network(names, site, policy)) as engine:
        with anyio.fail_after(120):
            result = await engine.content(url)
    assert result.is_error
    assert all(seen.host == "r.example.net" for seen in engine.dialler.seen)


@pytest.mark.parametrize(
    ("url", "fetched"),
    [
        ("http://good.example.com/", True),
        ("http://www.good.example.com/", True),
        ("http://notgood.example.com/", False),
        ("http://good.example.com.evil.example/", False),
        ("http://93.184.215.14/", False),
        ("http://good.example.com/away", False),
    ],
)
async def test_only_allowed_domains_are_asked_where_there_is_a_list(
    url: str, fetched: bool
) -> None:
    def site(seen: Seen) -> Answer:
        return redirecting("http://evil.example/") if seen.target == "/away" else article(seen)

    hosts = ("www.good.example.com", "notgood.example.com", "good.example.com.evil.example")
    names = {host: [[PUBLIC]] for host in ("good.example.com", "evil.example", *hosts)}
    policy = GuardPolicy(allowed_domains=("good.example.com",))
    async with running(Network(names, site, policy)) as engine:
        with anyio.fail_after(120):
            result = await engine.content(url)
    assert result.is_error is not fetched
    assert all(seen.host.endswith("good.example.com") for seen in engine.dialler.seen)
    assert not any("evil" in seen.host or "not" in seen.host for seen in engine.dialler.seen)


@pytest.mark.parametrize("entry", ["", "*", "a b", "http://", "bad_?.com", "*.*.example.com"])
def test_list_entry_that_names_no_domain_is_a_settings_error(entry: str) -> None:
    with pytest.raises(SettingsError, match="DOMAINS"):
        Guard(GuardPolicy(blocked_domains=(entry,)))


@pytest.mark.parametrize(
    "address",
    [
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::1",
        "2001:0:808:808:0:0:5601:5601",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1::a9fe:a9fe",
        "::169.254.169.254",
        "::ffff:0:169.254.169.254",
        "2a00:1450::5efe:a9fe:a9fe",
        "fe80::1",
    ],
)
async def test_opened_host_still_reaches_no_metadata_through_a_tunnel(address: str) -> None:
    guard = Guard(
        GuardPolicy(allow_private=("wiki.corp",)), FakeResolver({"wiki.corp": [[address]]})
    )
    with pytest.raises(AddressRefused):
        await guard.resolve("wiki.corp", 80)


@pytest.mark.parametrize(
    "network",
    [
        # IANA IPv4 Special-Purpose Address Registry: not globally reachable
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32"),
    ],
)
def test_every_special_purpose_range_is_refused_at_both_ends(network: str) -> None:
    first, last = IPv4Network(network)[0], IPv4Network(network)[-1]
    assert why_not_public(first)
    assert why_not_public(last)
    assert why_not_public(ip_address(f"::ffff:{first}"))
    assert why_not_public(ip_address(f"64:ff9b::{last}"))


async def test_every_unsafe_port_is_refused_and_common_web_ports_are_not() -> None:
    async with running(Network(HERE)) as engine:
        for port in sorted(UNSAFE_PORTS):
            assert (await engine.content(f"http://{SITE}:{port}/")).is_error
        assert engine.dialler.dialled == []
        for port in (80, 443, 3000, 8000, 8080, 8443, 9000):
            with anyio.fail_after(120):
                assert not (await engine.content(f"http://{SITE}:{port}/")).is_error


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
        await fetcher.fetch(parse("https://example.com/"), Deadline.after(60))

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


async def test_refused_hop_is_reported_with_the_url_that_was_asked_for() -> None:
    dialler = FakeDialler(
        lambda seen: Answer(status=302, headers={"Location": "http://192.168.0.1/x"})
    )
    seams = Seams(FakeResolver({"example.com": [[PUBLIC]]}), dialler)

    async with open_fetcher(FetchLimits(respect_robots=False), seams=seams) as fetcher:
        with pytest.raises(AddressRefused) as caught:
            await fetcher.fetch(parse("http://example.com/a"), Deadline.after(60))

    assert caught.value.url == "http://example.com/a"
    assert "192.168.0.1" in caught.value.detail


REACHING = """<!doctype html><title>Bees</title><p>{words}</p><div id=root></div>
<img src="http://{to}/img"><iframe src="http://{to}/frame"></iframe><link rel=stylesheet href="http://{to}/css">
<link rel=prefetch href="http://{to}/prefetch"><link rel=dns-prefetch href="http://{to}/">
<link rel=preconnect href="http://{to}/"><link rel=icon href="http://{to}/favicon.ico">
<script type=speculationrules>{{"prerender":[{{"urls":["http://{to}/prerender"]}}]}}</script>
<script src="http://{to}/script"></script><script>
const quiet = (run) => {{ try {{ const done = run(); if (done && done.catch) done.catch(() => 0); }} catch {{}} }};
quiet(() => new WebSocket("ws://{to}/socket"));
quiet(() => new WebSocket("wss://{to}/socket"));
quiet(() => new EventSource("http://{to}/events"));
quiet(() => new WebTransport("https://{to}/transport"));
quiet(() => fetch("http://{to}/fetch", {{mode: "no-cors"}}));
quiet(() => fetch("https://{to}/fetch", {{mode: "no-cors", keepalive: true}}));
quiet(() => fetch("/r?to=http://{to}/redirected"));
quiet(() => navigator.sendBeacon("http://{to}/beacon", "x"));
quiet(() => new Worker(URL.createObjectURL(new Blob([`importScripts("http://{to}/worker")`]))));
quiet(() => {{ const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:{to}"}}]}});
  peer.createDataChannel("x"); return peer.createOffer().then((offer) => peer.setLocalDescription(offer)); }});
quiet(() => new Audio("http://{to}/audio").play());
quiet(() => document.fonts.add(new FontFace("x", "url(http://{to}/font)")) && document.fonts.load("9px x"));
quiet(() => window.open("http://{to}/window"));
</script>"""


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("to", ["10.0.0.1", "127.0.0.1:8123", "[::1]:8123", "evil.example.com"])
async def test_no_part_of_a_page_in_a_real_browser_reaches_a_private_address(to: str) -> None:
    words = "Bees see ultraviolet light and tell the others by a dance. " * 9
    body = REACHING.format(to=to, words=words).encode()

    async def serve(talk: Talk) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await talk.receive()
        target = received.split(b" ", 2)[1].decode()
        if target.startswith("/r?to="):
            await talk.send(head_of(302, {"Location": target[6:], "Content-Length": "0"}))
            return
        shown = body if target == "/" else b""
        await talk.send(
            head_of(200, {"Content-Type": "text/html", "Content-Length": str(len(shown))}) + shown
        )

    names = {SITE: [[PUBLIC]], "evil.example.com": [["10.0.0.1"], [PUBLIC, "10.0.0.1"]]}
    guard = Guard(GuardPolicy(), FakeResolver(names))
    with tempfile.TemporaryDirectory(prefix="k-") as folder, anyio.fail_after(120):
        environ = {**os.environ, "TMPDIR": folder}
        async with scripted_net(serve) as net:
            seams = BrowserSeams(dial=net.dial)
            chosen = BrowserSettings(settle_s=3)
            async with open_browser(chosen, guard, environ=environ, seams=seams) as pool:
                page = await pool.render(parse(f"http://{SITE}/"), Deadline.after(60))
            dialled = set(net.dialled)
    assert b"ultraviolet" in page.body
    assert {address for address, _ in dialled} == {PUBLIC}


def test_the_page_on_safety_has_every_line_of_the_tables() -> None:
    page = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
    for network, why in (*NEVER, *NOT_PUBLIC):
        what, _, source = why.removesuffix(")").rpartition(" (")
        assert f"| `{network}` | {what} | {source} |" in page
    for suffix, _ in RESERVED_NAMES:
        assert f"| `.{suffix}` |" in page

"""The filtering proxy over loopback, with a fake resolver and a fake dialler."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream

from kindly.errors import AddressRefused, PageTooLarge, PageUnreachable
from kindly.fetch.browser.proxy import (
    VENDOR_HOSTS,
    FilteringProxy,
    ProxyLimits,
    ProxySession,
    running_proxy,
)
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.net.tls import Tls
from tests.support.fetch_fakes import PUBLIC, FakeResolver
from tests.support.streams import ScriptedNet, Server, Talk, hello, scripted_net

pytestmark = pytest.mark.anyio

DNS = {
    "pub.example.com": [[PUBLIC]],
    "two.example.com": [["93.184.215.13", PUBLIC]],
    "evil.example.com": [["10.0.0.1"]],
    "mixed.example.com": [[PUBLIC, "127.0.0.1"]],
    "rebind.example.com": [[PUBLIC], ["127.0.0.1"]],
}


@dataclass
class World:
    """A running proxy and its fake network."""

    proxy: FilteringProxy
    net: ScriptedNet
    admitted: ProxySession

    async def ask(self, request: str, *, authorized: bool = True, then: bytes = b"") -> bytes:
        """The whole response to one request."""
        head = request.replace("\n", "\r\n")
        if authorized:
            head += f"\r\nProxy-Authorization: {self.admitted.authorization}"
        async with await anyio.connect_tcp("127.0.0.1", self.proxy.port) as stream:
            await stream.send(head.encode() + b"\r\n\r\n" + then)
            return await received(stream)


async def received(stream: ByteStream) -> bytes:
    data = b""
    with anyio.fail_after(120):
        while True:
            try:
                data += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return data


@asynccontextmanager
async def world(
    server: Server = hello,
    limits: ProxyLimits | None = None,
    refusing: frozenset[str] = frozenset(),
    policy: GuardPolicy | None = None,
    egress: Egress | None = None,
) -> AsyncIterator[World]:
    guard = Guard(policy or GuardPolicy(), FakeResolver(DNS))
    async with scripted_net(server, refusing) as net:
        proxy = FilteringProxy(guard, limits or ProxyLimits(), net.dial, egress)
        async with running_proxy(proxy):
            with proxy.session() as admitted:
                yield World(proxy, net, admitted)


async def test_request_goes_to_the_checked_address_without_proxy_headers() -> None:
    async with world() as at:
        answer = await at.ask(
            "GET http://pub.example.com/a?b=c HTTP/1.1\nHost: other.example.com\n"
            "Proxy-Connection: keep-alive\nConnection: keep-alive\nAccept: text/html"
        )
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
    assert answer.endswith(b"hello")
    assert at.net.dialled == [(PUBLIC, 80)]
    assert at.net.received == [
        b"GET /a?b=c HTTP/1.1\r\nHost: pub.example.com\r\nConnection: close\r\nAccept: text/html\r\n\r\n"
    ]


async def test_body_is_sent_on_to_its_length_and_not_a_byte_further() -> None:
    async with world() as at:
        await at.ask(
            "POST http://pub.example.com/ HTTP/1.1\nContent-Length: 3",
            then=b"abcGET http://10.0.0.1/ HTTP/1.1\r\n\r\n",
        )
    assert at.net.received[0].endswith(b"\r\n\r\nabc")
    assert at.net.dialled == [(PUBLIC, 80)]


async def test_tunnel_carries_bytes_both_ways() -> None:
    async def echo(talk: Talk) -> None:
        await talk.send((await talk.receive())[::-1])

    async with world(echo) as at, await anyio.connect_tcp("127.0.0.1", at.proxy.port) as stream:
        await stream.send(
            b"CONNECT pub.example.com:443 HTTP/1.1\r\n"
            + f"Proxy-Authorization: {at.admitted.authorization}\r\n\r\n".encode()
        )
        with anyio.fail_after(120):
            assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")
            await stream.send(b"abc")
            assert await received(stream) == b"cba"
    assert at.net.dialled == [(PUBLIC, 443)]


async def test_bytes_sent_right_behind_a_connect_go_into_the_tunnel() -> None:
    async def echo(talk: Talk) -> None:
        await talk.send(await talk.receive())

    async with world(echo) as at:
        answer = await at.ask("CONNECT pub.example.com:443 HTTP/1.1", then=b"early")
    assert answer.endswith(b"\r\n\r\nearly")


@pytest.mark.parametrize(
    "request_line",
    [
        "GET http://10.0.0.1/ HTTP/1.1",
        "GET http://127.0.0.1:8000/ HTTP/1.1",
        "GET http://[::1]/ HTTP/1.1",
        "GET http://169.254.169.254/latest/meta-data/ HTTP/1.1",
        "GET http://localhost/ HTTP/1.1",
        "GET http://evil.example.com/ HTTP/1.1",
        "GET http://mixed.example.com/ HTTP/1.1",
        "CONNECT 10.0.0.1:443 HTTP/1.1",
        "CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1",
        "CONNECT evil.example.com:443 HTTP/1.1",
        "CONNECT pub.example.com:22 HTTP/1.1",
        "GET http://pub.example.com:25/ HTTP/1.1",
        *(f"CONNECT {host}:443 HTTP/1.1" for host in sorted(VENDOR_HOSTS)[:2]),
    ],
)
async def test_what_the_guard_refuses_is_never_dialled(request_line: str) -> None:
    async with world() as at:
        answer = await at.ask(request_line)
        assert [type(error) for error in at.admitted.failures.values()] == [AddressRefused]
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert at.net.dialled == []


@pytest.mark.parametrize(
    "request_line",
    [
        "GET / HTTP/1.1",
        "GET https://pub.example.com/ HTTP/1.1",
        "GET ftp://pub.example.com/ HTTP/1.1",
        "GET http://pub.example.com\\@10.0.0.1/ HTTP/1.1",
        "GET http://a@pub.example.com/ HTTP/1.1",
        "GET http://0x7f.1/ HTTP/1.1",
        "CONNECT pub.example.com/x:443 HTTP/1.1",
        "CONNECT a@pub.example.com:443 HTTP/1.1",
        "GET http://pub.example.com/ HTTP/2",
        "nonsense",
        "GET http://pub.example.com/ HTTP/1.1\nA: 1\n folded",
        "POST http://pub.example.com/ HTTP/1.1\nTransfer-Encoding: chunked",
        "POST http://pub.example.com/ HTTP/1.1\nContent-Length: 1\nContent-Length: 2",
        "POST http://pub.example.com/ HTTP/1.1\nContent-Length: +1",
        "GET http://pub.example.com/ HTTP/1.1\nA: " + "x" * 200_000,
    ],
    ids=lambda line: line[:60],
)
async def test_ambiguous_message_is_refused(request_line: str) -> None:
    async with world() as at:
        answer = await at.ask(request_line)
    assert answer.startswith(b"HTTP/1.1 400 ") or (len(request_line) > 100_000 and answer == b"")
    assert at.net.received == []


async def test_second_look_up_cannot_change_what_was_checked() -> None:
    async with world() as at:
        first = await at.ask("GET http://rebind.example.com/ HTTP/1.1")
        second = await at.ask("GET http://rebind.example.com/ HTTP/1.1")
    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 403")
    assert at.net.dialled == [(PUBLIC, 80)]


async def test_request_without_credentials_is_refused() -> None:
    async with world() as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1", authorized=False)
    assert answer.startswith(b"HTTP/1.1 407 ")
    assert b"\r\nProxy-Authenticate: Basic" in answer
    assert at.net.dialled == []


async def test_pass_is_worth_nothing_after_its_call_and_its_connections_are_closed() -> None:
    async def silent(talk: Talk) -> None:
        await anyio.sleep_forever()

    async with world(silent) as at:
        with at.proxy.session() as short:
            old, at.admitted = at.admitted, short
            stream = await anyio.connect_tcp("127.0.0.1", at.proxy.port)
            await stream.send(
                b"CONNECT pub.example.com:443 HTTP/1.1\r\n"
                + f"Proxy-Authorization: {short.authorization}\r\n\r\n".encode()
            )
            with anyio.fail_after(120):
                assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")
        async with stream:
            assert await received(stream) == b""
        assert (await at.ask("GET http://pub.example.com/ HTTP/1.1")).startswith(b"HTTP/1.1 407")
        assert old.failures == {}


async def test_second_checked_address_is_dialled_when_the_first_refuses() -> None:
    async with world(refusing=frozenset({"93.184.215.13"})) as at:
        answer = await at.ask("GET http://two.example.com/ HTTP/1.1")
    assert answer.startswith(b"HTTP/1.1 200")
    assert at.net.dialled == [("93.184.215.13", 80), (PUBLIC, 80)]


@pytest.mark.parametrize("host", ["pub.example.com", "unknown.example.com"])
async def test_unreachable_host_is_reported(host: str) -> None:
    async with world(refusing=frozenset({PUBLIC})) as at:
        answer = await at.ask(f"GET http://{host}/ HTTP/1.1")
        assert isinstance(at.admitted.failures[host, 80], PageUnreachable)
    assert answer.startswith(b"HTTP/1.1 502 ")


async def test_call_that_used_up_its_bytes_gets_no_more() -> None:
    async def flood(talk: Talk) -> None:
        await talk.receive()
        await talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await talk.send(b"x" * 1_000)

    async with world(flood, ProxyLimits(max_call_bytes=10_000)) as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1")
        assert isinstance(at.admitted.failures["pub.example.com", 80], PageTooLarge)
    assert 0 < len(answer) <= 10_000


async def test_silent_connections_are_closed() -> None:
    async def silent(talk: Talk) -> None:
        await anyio.sleep_forever()

    async with world(silent, ProxyLimits(idle_s=0.05)) as at:
        assert await at.ask("GET http://pub.example.com/ HTTP/1.1") == b""
        async with await anyio.connect_tcp("127.0.0.1", at.proxy.port) as stream:
            assert await received(stream) == b""


async def test_too_many_connections_of_one_call_are_refused() -> None:
    async with world(limits=ProxyLimits(max_connections=0)) as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1")
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert at.net.dialled == []


async def test_server_that_does_not_speak_http_is_a_bad_gateway() -> None:
    async def garbage(talk: Talk) -> None:
        await talk.receive()
        await talk.send(b"\x00\x01\r\n\r\n")

    async with world(garbage) as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1")
    assert answer.startswith(b"HTTP/1.1 502 ")


async def test_interim_answers_are_passed_over() -> None:
    async def patient(talk: Talk) -> None:
        await talk.receive()
        await talk.send(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi")

    async with world(patient) as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1")
    assert answer == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi"


async def test_endless_interim_answers_are_a_bad_gateway() -> None:
    async def endless(talk: Talk) -> None:
        await talk.receive()
        await talk.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2_500)
        await talk.receive()

    async with world(endless) as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1")
    assert answer.startswith(b"HTTP/1.1 502 ")


async def test_opened_private_host_is_let_through() -> None:
    async with world(policy=GuardPolicy(allow_private=("10.0.0.1:8080",))) as at:
        answer = await at.ask("GET http://10.0.0.1:8080/ HTTP/1.1")
    assert answer.startswith(b"HTTP/1.1 200")
    assert at.net.dialled == [("10.0.0.1", 8080)]


UPSTREAM = Egress(
    proxy="http://me:p%40ss@proxy.corp:3128",
    http_proxy="http://me:p%40ss@proxy.corp:3128",
    no_proxy=("two.example.com",),
)
CREDENTIALS = f"Basic {base64.b64encode(b'me:p@ss').decode()}"


def gateway(answer: bytes, then: bytes = b"") -> Server:
    """An upstream proxy with one answer to the first request, and one to what follows."""

    async def serve(talk: Talk) -> None:
        await talk.receive()
        await talk.send(answer)
        if then:
            await talk.receive()
            await talk.send(then)

    return serve


async def test_upstream_proxy_is_given_the_whole_address_and_the_credentials() -> None:
    async with world(egress=UPSTREAM) as at:
        answer = await at.ask("GET http://pub.example.com/a HTTP/1.1\nAccept: text/html")
    assert answer.endswith(b"hello")
    assert at.net.dialled == [("proxy.corp", 3128)]
    (sent,) = at.net.received
    assert sent.startswith(b"GET http://pub.example.com/a HTTP/1.1\r\nHost: pub.example.com\r\n")
    assert sent.count(b"Proxy-Authorization") == 1
    assert f"Proxy-Authorization: {CREDENTIALS}\r\n".encode() in sent


async def test_tunnel_goes_through_the_upstream_proxy() -> None:
    served = gateway(b"HTTP/1.1 200 Connection established\r\n\r\n", b"back")
    async with world(served, egress=UPSTREAM) as at:
        answer = await at.ask("CONNECT pub.example.com:443 HTTP/1.1", then=b"early")
    assert answer.endswith(b"\r\n\r\nback")
    assert at.net.dialled == [("proxy.corp", 3128)]
    assert at.net.received == [
        b"CONNECT pub.example.com:443 HTTP/1.1\r\nHost: pub.example.com:443\r\n"
        + f"Proxy-Authorization: {CREDENTIALS}\r\n\r\n".encode(),
        b"early",
    ]


async def test_proxy_without_credentials_gets_none_and_a_name_that_is_unknown_here_is_its_business() -> (
    None
):
    async with world(egress=Egress(http_proxy="http://proxy.corp:3128")) as at:
        answer = await at.ask("GET http://unknown.example.com/ HTTP/1.1")
    assert answer.endswith(b"hello")
    assert b"Proxy-Authorization" not in at.net.received[0]


@pytest.mark.parametrize(
    ("request_line", "dialled"),
    [
        ("GET http://two.example.com/ HTTP/1.1", ("93.184.215.13", 80)),
        ("CONNECT two.example.com:443 HTTP/1.1", ("93.184.215.13", 443)),
    ],
)
async def test_hosts_that_go_around_the_upstream_proxy_are_dialled_at_their_checked_address(
    request_line: str, dialled: tuple[str, int]
) -> None:
    async with world(egress=UPSTREAM) as at:
        await at.ask(request_line, then=b"x")
    assert at.net.dialled == [dialled]


async def test_proxy_for_https_does_not_carry_http() -> None:
    async with world(egress=Egress(proxy="http://proxy.corp:3128")) as at:
        await at.ask("GET http://pub.example.com/ HTTP/1.1")
    assert at.net.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    "request_line",
    [
        "GET http://10.0.0.1/ HTTP/1.1",
        "GET http://localhost/ HTTP/1.1",
        "GET http://evil.example.com/ HTTP/1.1",
        "CONNECT 169.254.169.254:443 HTTP/1.1",
        "CONNECT mixed.example.com:443 HTTP/1.1",
    ],
)
async def test_what_the_guard_refuses_is_not_sent_to_the_upstream_proxy(request_line: str) -> None:
    async with world(egress=UPSTREAM) as at:
        answer = await at.ask(request_line)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert at.net.dialled == []


@pytest.mark.parametrize(
    ("request_line", "said", "why"),
    [
        ("CONNECT pub.example.com:443", b"HTTP/1.1 407 Auth\r\n\r\nwho?", "credentials"),
        ("CONNECT pub.example.com:443", b"HTTP/1.1 503 Busy\r\n\r\n", "status 503"),
        ("CONNECT pub.example.com:443", b"HTTP/1.1 200 OK\r\n\r\nearly", "could not be reached"),
        ("CONNECT pub.example.com:443", b"\x00\r\n\r\n", "could not be reached"),
        ("CONNECT pub.example.com:443", b"HTTP/1.1", "could not be reached"),
        (
            "GET http://pub.example.com/",
            b"HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic\r\n\r\n",
            "credentials",
        ),
    ],
    ids=["407", "503", "speaks first", "garbage", "hangs up", "407 to a request"],
)
async def test_upstream_proxy_that_will_not_is_a_bad_gateway_with_its_reason(
    request_line: str, said: bytes, why: str
) -> None:
    async with world(gateway(said), egress=UPSTREAM) as at:
        answer = await at.ask(f"{request_line} HTTP/1.1")
        (failure,) = at.admitted.failures.values()
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert isinstance(failure, PageUnreachable)
    assert why in failure.detail
    assert "p@ss" not in failure.detail


@pytest.mark.parametrize(
    ("egress", "why"),
    [
        (UPSTREAM, "could not be reached"),
        (Egress(http_proxy="socks5://proxy.corp"), "HTTPS_PROXY"),
        (Egress(http_proxy="https://proxy.corp", tls=Tls(Path("none.pem"))), "SSL_CERT_FILE"),
    ],
    ids=["refuses", "no http proxy", "unusable authorities"],
)
async def test_unusable_upstream_proxy_is_reported(egress: Egress, why: str) -> None:
    async with world(
        refusing=frozenset({"proxy.corp"} if egress is UPSTREAM else ()), egress=egress
    ) as at:
        answer = await at.ask("GET http://pub.example.com/ HTTP/1.1")
        failure = at.admitted.failures["pub.example.com", 80]
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert isinstance(failure, PageUnreachable)
    assert why in failure.detail


async def test_upstream_proxy_under_tls_must_have_a_certificate_of_a_known_authority() -> None:
    async with world(egress=Egress(http_proxy="https://proxy.corp")) as at:
        await at.ask("GET http://pub.example.com/ HTTP/1.1")
        assert "could not be reached" in at.admitted.failures["pub.example.com", 80].detail
    assert at.net.dialled == [("proxy.corp", 443)]
    assert not any(b"pub.example.com" in piece for piece in at.net.received)

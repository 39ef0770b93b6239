"""TLS, HTTP/2, a corporate authority and a proxy, on loopback."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

import anyio
import h2.config
import h2.connection
import h2.events
import pytest
from anyio.abc import AnyByteStream, SocketAttribute
from anyio.streams.tls import TLSListener
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kindly.budget import Deadline
from kindly.errors import AddressRefused, PageUnreachable, SettingsError
from kindly.fetch import Egress, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.models import Page
from kindly.net.tls import Tls
from kindly.urls import parse
from tests.support.fetch_fakes import PUBLIC, START, FakeDialler, FakeResolver, Seen
from tests.support.site import ARTICLE, Answer, html

pytestmark = pytest.mark.anyio

NAME = "secure.example"
NO_ROBOTS = FetchLimits(respect_robots=False)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A PEM file with the key and certificate of `NAME`, its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(START - timedelta(days=3650))
        .not_valid_after(START + timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "authority.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@dataclass
class SecureSite:
    """An HTTP/2 site that records the server names and authorities of its requests."""

    port: int
    names: list[str] = field(default_factory=list)
    authorities: list[str] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def secure_site(certificate: Path) -> AsyncIterator[SecureSite]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2"])
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as plain:
        site = SecureSite(plain.extra(SocketAttribute.local_port))

        def note(sslobject: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            site.names.append(name or "")

        context.sni_callback = note
        listener = TLSListener(plain, context, standard_compatible=False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(listener.serve, partial(_serve_h2, site)))
            yield site
            tasks.cancel_scope.cancel()


async def _serve_h2(site: SecureSite, stream: AnyByteStream) -> None:
    site.connections += 1
    config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
    connection = h2.connection.H2Connection(config)
    connection.initiate_connection()
    try:
        async with stream:
            await stream.send(connection.data_to_send())
            while True:
                for event in connection.receive_data(await stream.receive()):
                    if isinstance(event, h2.events.RequestReceived):
                        headers = {str(name): str(value) for name, value in event.headers or ()}
                        site.authorities.append(headers[":authority"])
                        answer = [(":status", "200"), ("content-type", "text/html")]
                        connection.send_headers(event.stream_id or 1, answer)
                        connection.send_data(
                            event.stream_id or 1, ARTICLE.encode(), end_stream=True
                        )
                await stream.send(connection.data_to_send() or b"")
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return


async def fetch_secure(site: SecureSite, egress: Egress, *, times: int = 1) -> list[Page]:
    policy = GuardPolicy(allow_private=(NAME,))
    seams = Seams(FakeResolver({NAME: [["127.0.0.1"], ["10.0.0.1"]]}))
    async with open_fetcher(NO_ROBOTS, policy, egress=egress, seams=seams) as fetcher:
        return [
            await fetcher.fetch(parse(f"https://{NAME}:{site.port}/{number}"), Deadline.after(60))
            for number in range(times)
        ]


async def test_pinned_connection_keeps_name_certificate_and_http2(certificate: Path) -> None:
    with anyio.fail_after(120):
        async with secure_site(certificate) as site:
            pages = await fetch_secure(site, Egress(tls=Tls(certificate)), times=2)

    assert [page.body for page in pages] == [ARTICLE.encode()] * 2
    assert site.names == [NAME]
    assert site.authorities == [f"{NAME}:{site.port}"] * 2
    assert site.connections == 1


async def test_certificate_of_an_unknown_authority_is_refused_by_name(certificate: Path) -> None:
    with anyio.fail_after(120):
        async with secure_site(certificate) as site:
            with pytest.raises(PageUnreachable, match="certificate"):
                await fetch_secure(site, Egress())


@pytest.mark.parametrize("text", [None, "no certificate"])
async def test_unusable_authority_file_is_a_settings_error(
    tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if text is not None:
        path.write_text(text)

    async with open_fetcher(
        NO_ROBOTS, egress=Egress(tls=Tls(path)), seams=Seams(dialler=FakeDialler())
    ) as fetcher:
        with pytest.raises(SettingsError, match="SSL_CERT_FILE"):
            await fetcher.fetch(parse("http://8.8.8.8/"), Deadline.after(60))


PROXY = "http://user:secret@proxy.corp:3128"


def through_proxy(seen: Seen) -> Answer:
    return html(f"<p>{seen.target}</p>")


async def ask_proxied(
    url: str, dialler: FakeDialler, egress: Egress, dns: dict[str, list[list[str]]] | None = None
) -> Page:
    seams = Seams(FakeResolver(dns or {}), dialler)
    async with open_fetcher(NO_ROBOTS, egress=egress, seams=seams) as fetcher:
        return await fetcher.fetch(parse(url), Deadline.after(60))


async def test_proxy_is_dialled_and_given_the_whole_url() -> None:
    dialler = FakeDialler(through_proxy)

    seams = Seams(FakeResolver({}), dialler)

    async with open_fetcher(NO_ROBOTS, egress=Egress(http_proxy=PROXY), seams=seams) as fetcher:
        for path in ("a", "b"):
            page = await fetcher.fetch(parse(f"http://example.com/{path}"), Deadline.after(60))

    assert page.body == b"<p>http://example.com/b</p>"
    assert dialler.dialled == [("proxy.corp", 3128)]
    assert any(line.startswith("Proxy-Authorization: Basic ") for line in dialler.seen[0].lines)


async def test_guard_still_checks_what_goes_through_a_proxy() -> None:
    dialler = FakeDialler(through_proxy)
    egress = Egress(http_proxy="http://proxy.corp:3128")

    for url in ("http://10.0.0.1/", "http://localhost/", "http://evil.example.com/"):
        with pytest.raises(AddressRefused):
            await ask_proxied(url, dialler, egress, {"evil.example.com": [["127.0.0.1"]]})

    assert dialler.dialled == []


@pytest.mark.parametrize("no_proxy", ["example.com", ".example.com", "*", "*.example.com"])
async def test_hosts_that_go_around_the_proxy_are_dialled_themselves(no_proxy: str) -> None:
    dialler = FakeDialler(through_proxy)
    egress = Egress(http_proxy=PROXY, no_proxy=(no_proxy,))

    page = await ask_proxied(
        "http://www.example.com/a", dialler, egress, {"www.example.com": [[PUBLIC]]}
    )

    assert page.body == b"<p>/a</p>"
    assert dialler.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize("proxy", ["socks5://proxy:1080", "proxy.corp:3128", "http://", "http://["])
async def test_bad_proxy_address_is_a_settings_error(proxy: str) -> None:
    with pytest.raises(SettingsError, match="HTTPS_PROXY"):
        await ask_proxied("http://8.8.8.8/", FakeDialler(), Egress(http_proxy=proxy))


@pytest.mark.parametrize(
    ("egress", "dialled"),
    [
        (Egress(proxy="http://secure.corp:3128"), (PUBLIC, 80)),
        (Egress(proxy="http://secure.corp:3128", http_proxy=PROXY), ("proxy.corp", 3128)),
    ],
    ids=["only for https", "one for each"],
)
async def test_a_proxy_carries_only_its_own_scheme(
    egress: Egress, dialled: tuple[str, int]
) -> None:
    dialler = FakeDialler(through_proxy)

    await ask_proxied("http://www.example.com/a", dialler, egress, {"www.example.com": [[PUBLIC]]})

    assert dialler.dialled == [dialled]

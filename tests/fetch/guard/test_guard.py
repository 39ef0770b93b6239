"""The SSRF guard: only public addresses, whatever names and redirects say."""

import pytest

from kindly.errors import AddressRefused, PageUnreachable, SettingsError
from kindly.fetch.guard.guard import Guard, GuardPolicy, parse_opened
from kindly.urls import parse
from tests.support.fetch_fakes import PUBLIC, FakeResolver

pytestmark = pytest.mark.anyio

NOT_PUBLIC = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "192.175.48.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:100.100.100.200",
    "::ffff:168.63.129.16",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:a9fe:a9:fe00::",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2a00:1450:4001:81b:0:5efe:a00:1",
    "2a00:1450:4001:81b:200:5efe:7f00:1",
    "2620:4f:8000::1",
    "3ffe::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd12:3456:789a::1",
    "fd20:ce::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]

PUBLIC_ADDRESSES = {
    "8.8.8.8": "8.8.8.8",
    "9.255.255.255": "9.255.255.255",
    "11.0.0.0": "11.0.0.0",
    "100.63.255.255": "100.63.255.255",
    "100.128.0.0": "100.128.0.0",
    "126.255.255.255": "126.255.255.255",
    "128.0.0.1": "128.0.0.1",
    "168.63.129.17": "168.63.129.17",
    "172.15.255.255": "172.15.255.255",
    "172.32.0.0": "172.32.0.0",
    "192.167.255.255": "192.167.255.255",
    "192.169.0.0": "192.169.0.0",
    "198.17.255.255": "198.17.255.255",
    "198.20.0.0": "198.20.0.0",
    "223.255.255.255": "223.255.255.255",
    "2a00:1450:4001:81b::200e": "2a00:1450:4001:81b::200e",
    "2606:4700::6810:84e5": "2606:4700::6810:84e5",
    "64:ff9b::8.8.8.8": "64:ff9b::808:808",
    "::ffff:8.8.8.8": "8.8.8.8",
}

PRIVATE_NAMES = [
    "localhost",
    "foo.localhost",
    "localhost.localdomain",
    "localhost4",
    "ip6-localhost",
    "metadata.google.internal",
    "host.docker.internal",
    "kubernetes.default.svc",
    "app.default.svc.cluster.local",
    "printer.local",
    "nas.lan",
    "router.home.arpa",
    "wiki.corp",
    "wiki.intranet",
    "redis",
    "abc.onion",
]

PUBLIC_NAMES = [
    "example.com",
    "localhost.example.com",
    "internal.example.com",
    "local.example.com",
]


def guard(
    *opened: str,
    answers: tuple[str, ...] = (PUBLIC,),
    blocked: tuple[str, ...] = (),
    allowed: tuple[str, ...] = (),
) -> Guard:
    """A guard whose resolver gives the same answers for every name."""

    class Everywhere(FakeResolver):
        async def __call__(self, host: str, port: int) -> tuple[str, ...]:
            return answers

    return Guard(GuardPolicy(opened, blocked, allowed), Everywhere({}))


def url_of(address: str, port: int = 80) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"http://{host}:{port}/"


@pytest.mark.parametrize("address", NOT_PUBLIC)
async def test_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused):
        guard().check(parse(url_of(address)))
    with pytest.raises(AddressRefused):
        await guard().resolve(address, 80)


@pytest.mark.parametrize("address", NOT_PUBLIC)
async def test_name_that_leads_to_such_an_address_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused):
        await guard(answers=(PUBLIC, address)).resolve("evil.example.com", 80)


@pytest.mark.parametrize(("address", "dialled"), PUBLIC_ADDRESSES.items())
async def test_public_address_is_dialled(address: str, dialled: str) -> None:
    guard().check(parse(url_of(address)))

    assert await guard().resolve(address, 80) == (dialled,)
    assert await guard(answers=(address,)).resolve("example.com", 80) == (dialled,)


@pytest.mark.parametrize("name", PRIVATE_NAMES)
async def test_name_of_a_private_network_is_refused_before_it_is_looked_up(name: str) -> None:
    resolver = FakeResolver({name: [[PUBLIC]]})
    closed = Guard(GuardPolicy(), resolver)

    with pytest.raises(AddressRefused):
        closed.check(parse(f"http://{name}/"))
    with pytest.raises(AddressRefused):
        await closed.resolve(name, 80)
    assert resolver.asked == []


@pytest.mark.parametrize("name", PUBLIC_NAMES)
async def test_public_name_is_looked_up_and_dialled(name: str) -> None:
    guard().check(parse(f"http://{name}/"))

    assert await guard().resolve(name, 80) == (PUBLIC,)


@pytest.mark.parametrize("answer", ["fe80::1%eth0", "not an address", ""])
async def test_odd_answer_of_the_resolver_is_refused(answer: str) -> None:
    with pytest.raises(AddressRefused):
        await guard(answers=(answer,)).resolve("example.com", 80)


async def test_name_without_addresses_is_unreachable() -> None:
    with pytest.raises(PageUnreachable):
        await guard(answers=()).resolve("example.com", 80)


async def test_failing_look_up_is_unreachable() -> None:
    with pytest.raises(PageUnreachable):
        await Guard(GuardPolicy(), FakeResolver({})).resolve("example.com", 80)


@pytest.mark.parametrize(
    ("opened", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:9999/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("::1", "http://[::1]:25/"),
        ("0:0::1", "http://[::1]/"),
        ("LOCALHOST:80", "http://localhost/"),
        ("wiki.corp", "https://wiki.corp/"),
        ("redis:6379", "http://redis:6379/"),
    ],
)
async def test_opened_host_may_be_fetched(opened: str, url: str) -> None:
    parsed = parse(url)
    opening = guard(opened, answers=("10.0.0.7",))

    opening.check(parsed)

    assert await opening.resolve(parsed.host, parsed.port) == (
        (parsed.host,) if parsed.address else ("10.0.0.7",)
    )


@pytest.mark.parametrize(
    ("opened", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8081/"),
        ("127.0.0.1", "http://127.0.0.2/"),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
        ("localhost", "http://127.0.0.1/"),
        ("127.0.0.1", "http://localhost/"),
    ],
)
def test_opening_a_host_opens_nothing_else(opened: str, url: str) -> None:
    with pytest.raises(AddressRefused):
        guard(opened).check(parse(url))


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "168.63.129.16"]
)
async def test_metadata_address_stays_closed_even_when_opened(address: str) -> None:
    with pytest.raises(AddressRefused):
        guard(address).check(parse(url_of(address)))
    with pytest.raises(AddressRefused):
        await guard("wiki.corp", answers=(address,)).resolve("wiki.corp", 80)


async def test_opened_address_does_not_open_names_that_lead_to_it() -> None:
    with pytest.raises(AddressRefused):
        await guard("127.0.0.1", answers=("127.0.0.1",)).resolve("evil.example.com", 80)


def test_refusal_says_how_to_open_the_host() -> None:
    with pytest.raises(AddressRefused) as caught:
        guard().check(parse("http://[::1]:8080/"))

    assert "KINDLY_ALLOW_PRIVATE=[::1]:8080" in caught.value.detail


@pytest.mark.parametrize("port", [22, 25, 6000, 6667, 5060])
def test_port_of_another_service_is_refused(port: int) -> None:
    with pytest.raises(AddressRefused):
        guard().check(parse(f"http://example.com:{port}/"))


@pytest.mark.parametrize("host", ["bad.example", "www.bad.example"])
def test_blocked_domain_is_refused_with_its_subdomains(host: str) -> None:
    closed = guard(host, blocked=("*.bad.example",))

    with pytest.raises(AddressRefused):
        closed.check(parse(f"https://{host}/"))
    closed.check(parse("https://notbad.example/"))


def test_only_allowed_domains_and_opened_hosts_pass_where_there_is_a_list() -> None:
    narrow = guard("10.0.0.1", allowed=("good.example",))

    narrow.check(parse("https://www.good.example/"))
    narrow.check(parse("http://10.0.0.1/"))
    with pytest.raises(AddressRefused):
        narrow.check(parse("https://example.com/"))


@pytest.mark.parametrize(
    ("entry", "opened"),
    [
        ("10.0.0.5", ("10.0.0.5", None)),
        (" 10.0.0.5:80 ", ("10.0.0.5", 80)),
        ("[fd12::1]", ("fd12::1", None)),
        ("fd12:0::1", ("fd12::1", None)),
        ("wiki.corp.:443", ("wiki.corp", 443)),
    ],
)
def test_opened_host_is_read(entry: str, opened: tuple[str, int | None]) -> None:
    assert parse_opened(entry) == opened


@pytest.mark.parametrize("entry", ["", ":80", "http://x/", "10.0.0.0/8", "a:b", "*", "user@host"])
def test_bad_entry_of_opened_hosts_is_named(entry: str) -> None:
    with pytest.raises(SettingsError, match="KINDLY_ALLOW_PRIVATE"):
        Guard(GuardPolicy(allow_private=(entry,)))


async def test_system_resolver_looks_loopback_up() -> None:
    assert "127.0.0.1" in await Guard(GuardPolicy(allow_private=("localhost",))).resolve(
        "localhost", 80
    )

"""URLs: strict parsing, or an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindly.errors import InputError
from kindly.urls import Url, canonical, domain, join, parse, parse_page, without_tracking

PARSED = {
    "plain": ("https://example.com", "https://example.com/"),
    "upper-case": ("HTTPS://EXAMPLE.Com/A", "https://example.com/A"),
    "default-port": ("http://example.com:80/", "http://example.com/"),
    "other-port": ("http://example.com:8080/x", "http://example.com:8080/x"),
    "https-on-80": ("https://example.com:80/", "https://example.com:80/"),
    "fragment": ("https://example.com/a#b?c", "https://example.com/a"),
    "query-only": ("https://example.com?a=1", "https://example.com/?a=1"),
    "query-kept": ("https://example.com/?a[]=1&b=%2F%2f", "https://example.com/?a[]=1&b=%2F%2f"),
    "unicode": ("https://example.com/café?q=ä", "https://example.com/caf%C3%A9?q=%C3%A4"),
    "idn": ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
    "idn-ascii": ("https://xn--mnchen-3ya.example/", "https://xn--mnchen-3ya.example/"),
    "sharp-s": ("https://straße.example/", "https://xn--strae-oqa.example/"),
    "underscore": ("https://foo_bar.example.com/", "https://foo_bar.example.com/"),
    "double-slash": ("https://example.com//a//b", "https://example.com//a//b"),
    "final-dot": ("https://www.example.com./x", "https://www.example.com/x"),
    "final-dot-and-port": ("http://Example.com.:8080/", "http://example.com:8080/"),
    "dots": ("https://example.com/a/./b/../c", "https://example.com/a/c"),
    "dots-encoded": ("https://example.com/a/%2e%2E/c", "https://example.com/c"),
    "dots-at-end": ("https://example.com/a/b/..", "https://example.com/a/"),
    "dots-above-root": ("https://example.com/../../x", "https://example.com/x"),
    "quotes": ('https://example.com/"<x>', "https://example.com/%22%3Cx%3E"),
    "ipv4": ("http://93.184.215.14/", "http://93.184.215.14/"),
    "ipv6": ("http://[2A00:1450:4001:081b::200e]/", "http://[2a00:1450:4001:81b::200e]/"),
    "ipv6-port": ("http://[::1]:8080/x", "http://[::1]:8080/x"),
    "surrounding-blanks": ("  https://example.com/  ", "https://example.com/"),
    "at-in-path": ("https://example.com/@user", "https://example.com/@user"),
    "2k": ("https://example.com/?" + "a" * 2000, "https://example.com/?" + "a" * 2000),
}

REFUSALS = {
    "empty": "",
    "blank": "   ",
    "no-scheme": "www.example.com/page",
    "scheme-only": "http",
    "no-host": "http://",
    "no-host-port": "http://:80/",
    "no-slashes": "http:example.com/",
    "one-slash": "http:/example.com/",
    "three-slashes": "http:///example.com/",
    "file": "file:///etc/passwd",
    "data": "data:text/html,x",
    "javascript": "javascript:alert(1)",
    "nested": "url:http://example.com/",
    "user": "http://user@example.com/",
    "password": "http://user:pw@example.com/",
    "two-at": "http://a@b@example.com/",
    "backslash-at": "http://127.0.0.1\\@example.com/",
    "backslash-path": "http://example.com/a\\b",
    "tab": "http://exam\tple.com/",
    "newline": "http://example.com/\r\nX: 1",
    "inner-blank": "http://example.com/a b",
    "no-break-space": "http://example.com/a\u00a0b",
    "nul": "http://example.com/\x00x",
    "delete": "http://example.com/\x7f",
    "c1-control": "http://example.com/\x85",
    "surrogate": "http://example.com/\ud800",
    "integer-host": "http://2852039166/",
    "hex-host": "http://0x7f000001/",
    "hex-parts": "http://0x7f.0x0.0x0.0x1/",
    "octal": "http://0177.0.0.1/",
    "short": "http://127.1/",
    "zero": "http://0/",
    "overflow": "http://383.0.0.1/",
    "padded": "http://127.000.000.001/",
    "ipv4-dot": "http://127.0.0.1./",
    "five-parts": "http://1.2.3.4.5/",
    "numeric-tld": "http://example.1/",
    "hex-tld": "http://example.0x/",
    "fullwidth-digits": "http://１２７.0.0.1/",
    "fullwidth-dots": "http://127．0．0．1/",
    "ideographic-dots": "http://127。0。0。1/",
    "circled": "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "bold": "http://𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭/",
    "long-s": "http://locaſhost/",
    "ideographic-dot-in-idn": "http://münchen。example/",
    "percent-host": "http://%31%32%37.0.0.1/",
    "percent-crlf": "http://127.0.0.1%0d%0aHost:x/",
    "zone": "http://[fe80::1%25eth0]/",
    "ipvfuture": "http://[v1.127.0.0.1]/",
    "ipv4-in-brackets": "http://[127.0.0.1]/",
    "open-bracket": "http://[::1/",
    "after-bracket": "http://[::1]x/",
    "fullwidth-colons": "http://[：：1]/",
    "semicolon": "http://127.0.0.1;example.com/",
    "leading-dot": "http://.example.com/",
    "two-trailing-dots": "http://example.com../",
    "only-a-dot": "http://./",
    "two-dots": "http://example..com/",
    "port-zero": "http://example.com:0/",
    "port-large": "http://example.com:65536/",
    "port-letters": "http://example.com:8o/",
    "port-fullwidth": "http://example.com:８０/",
    "port-twice": "http://example.com:80:22/",
    "port-empty": "http://example.com:/",
    "port-padded": "http://example.com:080/",
    "long-label": f"http://{'a' * 64}.example.com/",
    "long-host": f"http://{'abcdefghi.' * 30}com/",
    "long-host-encoded": f"http://{'äö' * 22}.{'öü' * 22}.{'üä' * 22}.{'éö' * 22}.{'éä' * 22}.com/",
    "long-idn-label": f"http://{'а' * 5000}.com/",
    "long-idn-one-label": f"http://{'а' * 64}.com/",
    "bad-punycode": "http://xn--a/",
    "huge-punycode": f"http://xn--{'9' * 59}.com/",
    "emoji": "http://i❤️.example/",
    "too-long": "http://example.com/?" + "a" * 8000,
    "too-long-encoded": "http://example.com/?" + "ä" * 3000,
}


@pytest.mark.parametrize(("raw", "sent"), PARSED.values(), ids=PARSED.keys())
def test_a_url_is_parsed_and_serialized(raw: str, sent: str) -> None:
    url = parse(raw)

    assert str(url) == sent
    assert parse(sent) == url


@pytest.mark.parametrize("raw", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_url_that_parsers_may_understand_differently_is_refused(raw: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(raw)

    assert caught.value.field == "url"
    assert len(caught.value.detail) < 200


def test_a_url_has_its_parts() -> None:
    url = parse("https://Example.com:8443/a?b#c")

    assert url == Url("https", "example.com", 8443, "/a?b")
    assert url.origin == "https://example.com:8443"
    assert url.netloc == "example.com:8443"
    assert not url.is_default_port
    assert url.address is None


def test_a_literal_ip_address_is_recognized() -> None:
    assert str(parse("http://[::1]/").address) == "::1"
    assert str(parse("http://10.0.0.1/").address) == "10.0.0.1"


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        url = parse("http://" + text)
    except InputError:
        return
    assert parse(str(url)) == url
    assert str(url).isascii()


JOINS = {
    "absolute": ("https://other.example/y", "https://other.example/y"),
    "no-scheme": ("//other.example/y", "https://other.example/y"),
    "from-root": ("/x?y", "https://example.com/x?y"),
    "beside": ("c", "https://example.com/a/c"),
    "above": ("../c?x=1", "https://example.com/c?x=1"),
    "query": ("?z", "https://example.com/a/b?z"),
    "empty": ("", "https://example.com/a/b?q"),
    "fragment": ("#part", "https://example.com/a/b?q"),
    "unicode": ("/café", "https://example.com/caf%C3%A9"),
    "blank": ("/a b", "https://example.com/a%20b"),
    "colon-in-path": ("/a:b", "https://example.com/a:b"),
}


@pytest.mark.parametrize(("location", "sent"), JOINS.values(), ids=JOINS.keys())
def test_location_is_joined_to_its_base(location: str, sent: str) -> None:
    assert str(join(parse("https://example.com/a/b?q"), location)) == sent


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "\\\\127.0.0.1\\x", "/\\127.0.0.1/", "data:text/html,x", "http:x"],
)
def test_location_with_another_scheme_or_backslashes_is_refused(location: str) -> None:
    with pytest.raises(InputError):
        join(parse("https://example.com/"), location)


CANONICAL = {
    "tracking": ("https://a.example/x?utm_source=m&id=3&fbclid=9", "https://a.example/x?id=3"),
    "only-tracking": ("https://a.example/x?gclid=1", "https://a.example/x"),
    "www": ("https://www.a.example/", "https://a.example"),
    "slash": ("https://a.example/x/", "https://a.example/x"),
    "fragment": ("https://a.example/x#y", "https://a.example/x"),
    "port": ("https://a.example:443/x", "https://a.example/x"),
    "order-kept": ("https://a.example/?b=1&a=2", "https://a.example?b=1&a=2"),
    "unreadable": ("not a url", "not a url"),
}


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://a.example/x?utm_source=m&id=3&fbclid=9#part", "https://a.example/x?id=3#part"),
        ("https://a.example/x?UTM_Medium&gclid=1", "https://a.example/x"),
        ("https://a.example/x?%75tm_source=1", "https://a.example/x"),
        ("https://a.example/x?b=1&&a=2&mc_eid=3", "https://a.example/x?b=1&&a=2"),
        ("https://a.example/x?b=1&&a=2&", "https://a.example/x?b=1&&a=2&"),
        ("https://a.example/x?ref=m&source=n&mc_id=1&pk_id=2", None),
        ("https://a.example/utm_source=1", None),
        ("https://a.example/x#?utm_source=1", None),
        ("/x?yclid=1&q=%26utm_source%3D1", "/x?q=%26utm_source%3D1"),
        ("not a url", None),
    ],
)
def test_tracking_parameters_are_removed_and_the_rest_stays(
    address: str, plain: str | None
) -> None:
    assert without_tracking(address) == (address if plain is None else plain)


def test_the_address_of_a_page_has_no_tracking_parameters() -> None:
    assert str(parse_page("HTTP://a.example?utm_id=1&b=2")) == "http://a.example/?b=2"


@pytest.mark.parametrize(("raw", "key"), CANONICAL.values(), ids=CANONICAL.keys())
def test_spellings_of_one_page_share_a_canonical_form(raw: str, key: str) -> None:
    assert canonical(raw) == key


@pytest.mark.parametrize(
    ("raw", "host"),
    [
        ("https://www.example.com/x", "example.com"),
        ("https://docs.example.com", "docs.example.com"),
        ("ftp://www.example.com/x", "example.com"),
        ("http://[::1", ""),
        ("nothing", ""),
    ],
)
def test_domain_is_the_host_without_www(raw: str, host: str) -> None:
    assert domain(raw) == host

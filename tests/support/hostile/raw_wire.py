"""Hostile HTTP: content codings, framing, headers, redirects, and streams that do not end."""

import gzip
import socket
import zlib
from functools import partial

import anyio
from anyio.abc import SocketAttribute, SocketStream

from tests.support.hostile.case import (
    BLOCKED,
    EMPTY,
    MARK,
    NOT_FOUND,
    OK,
    RATE_LIMITED,
    REFUSED,
    TIMEOUT,
    TOO_LARGE,
    UNREACHABLE,
    Case,
    head,
    late,
    page,
    raw,
    typed,
)
from tests.support.site import (
    ARTICLE,
    HTML,
    Answer,
    Handler,
    SiteRequest,
    bomb,
    compressed,
    redirect,
)

PLAIN = ARTICLE.encode()
CODINGS = ("gzip", "br", "zstd", "deflate")
FOREIGN_CODINGS = ("compress", "exi", "aes128gcm", "rot13", "gzip;q=1", "dcb", "x-bzip2", "utf-8")
HUGE_WINDOW = b"\x28\xb5\x2f\xfd\x00\xff" + b"\x00" * 64
"""A zstd frame that declares a window larger than any memory."""


def coded(body: bytes, coding: str) -> Answer:
    """A page that is declared to have a content coding."""
    return page(body, content_encoding=coding)


def layered(count: int, body: bytes = PLAIN) -> Answer:
    """A page in that many layers of gzip."""
    for _ in range(count):
        body = gzip.compress(body)
    return coded(body, ", ".join(["gzip"] * count))


def bare_deflate() -> bytes:
    """Deflate without its zlib frame, as some servers send it."""
    maker = zlib.compressobj(wbits=-15)
    return maker.compress(PLAIN) + maker.flush()


def codings() -> list[Case]:
    """Bombs, truncated and broken streams, and codings that do not match the body."""
    case = partial(Case, "coding")
    made = [case(f"bomb-{name}", late(partial(_bomb, name)), TOO_LARGE) for name in CODINGS]
    made += [
        case(
            f"truncated-{name}",
            coded(compressed(name, PLAIN * 9)[:-20], name),
            UNREACHABLE if name == "zstd" else OK,
        )
        for name in CODINGS
    ]
    made += [
        case(f"garbage-{name}", coded(b"\xfe\xfd\xfc" * 500, name), UNREACHABLE) for name in CODINGS
    ]
    made += [case(f"plain-as-{name}", coded(PLAIN, name), UNREACHABLE) for name in CODINGS]
    made += [
        case(
            f"not-asked-{name.replace(';', '-').replace('=', '')}", coded(PLAIN, name), UNREACHABLE
        )
        for name in FOREIGN_CODINGS
    ]
    return [
        *made,
        case("br-as-gzip", coded(compressed("br", PLAIN), "gzip"), UNREACHABLE),
        case("gzip-as-br", coded(compressed("gzip", PLAIN), "br"), UNREACHABLE),
        case("zstd-as-gzip", coded(compressed("zstd", PLAIN), "gzip"), UNREACHABLE),
        case("upper-case", coded(compressed("gzip", PLAIN), "GZIP"), OK, MARK),
        case("no-name", coded(PLAIN, ""), OK, MARK),
        case("identity", coded(PLAIN, "identity, identity"), OK, MARK),
        case("bare-deflate", coded(bare_deflate(), "deflate"), OK, MARK),
        case("two-layers", layered(2), OK, MARK),
        case("ten-layers", layered(10), UNREACHABLE),
        case("fifty-layers", layered(50), UNREACHABLE),
        case("bomb-in-two-layers", late(partial(layered, 2, b"<p>x" * 4_000_000)), TOO_LARGE),
        case("rubbish-after-gzip", coded(compressed("gzip", PLAIN) + b"rubbish" * 50, "gzip"), OK),
        case("huge-zstd-window", coded(HUGE_WINDOW, "zstd"), UNREACHABLE),
        case("empty-gzip", coded(gzip.compress(b""), "gzip"), EMPTY),
    ]


def _bomb(name: str) -> Answer:
    return coded(bomb(name), name)


async def _silent(_: SiteRequest, stream: SocketStream) -> None:
    """Never responds."""
    await _until_hung_up(stream)


async def _until_hung_up(stream: SocketStream) -> None:
    try:
        await stream.receive()
    except anyio.EndOfStream:
        return


def dripping(first: bytes, piece: bytes, pause_s: float = 0.05) -> Handler:
    """The start of a response, then a small piece at intervals, forever."""

    async def answer(_: SiteRequest, stream: SocketStream) -> None:
        await stream.send(first)
        while True:
            await stream.send(piece)
            await anyio.sleep(pause_s)

    return answer


def flood(first: bytes, piece: bytes) -> Handler:
    """The start of a response, then pieces as fast as the client reads, forever."""

    async def answer(_: SiteRequest, stream: SocketStream) -> None:
        await stream.send(first)
        while True:
            await stream.send(piece)

    return answer


def _flood_of(piece: bytes) -> Handler:
    return flood(b"", piece * 2_500)


def stalled(*pieces: bytes) -> Handler:
    """Some bytes, and then nothing."""

    async def answer(_: SiteRequest, stream: SocketStream) -> None:
        for piece in pieces:
            await stream.send(piece)
        await _until_hung_up(stream)

    return answer


CLOSING = typed("Connection: close")
CHUNKED = typed("Transfer-Encoding: chunked")
BLOCK = b"<p>" + b"x" * 65_533
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
NO_GZIP = b"\x00\x00\x00\xff\xff"
"""An empty gzip block."""


def streams() -> list[Case]:
    """Responses that do not end, or do not come."""
    case = partial(Case, "stream")
    slow = partial(Case, "stream", outcome=TIMEOUT, slow=True)
    return [
        slow("silence", _silent),
        slow("drip", dripping(CLOSING, b"x")),
        slow("drip-of-a-known-length", dripping(typed("Content-Length: 100000"), b"x")),
        slow("status-line-drip", dripping(b"HTTP/1.1 ", b"2")),
        slow("header-drip", dripping(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x")),
        slow("chunks-of-one-byte", dripping(CHUNKED, b"1\r\nx\r\n")),
        slow("chunk-size-drip", dripping(CHUNKED, b"0")),
        slow("half-a-body", stalled(typed("Content-Length: 5000"), b"<p>half")),
        slow("half-a-chunk", stalled(CHUNKED, b"ff\r\nhalf")),
        slow("no-last-chunk", stalled(CHUNKED, b"4\r\n<p>x\r\n")),
        slow("gzip-drip", dripping(typed("Content-Encoding: gzip") + GZIP_HEAD, NO_GZIP)),
        slow("refusal-drip", dripping(head("Connection: close", status="HTTP/1.1 403 No"), b"x")),
        slow("redirect-drip", dripping(head("Location: /", status="HTTP/1.1 302 Go"), b"x")),
        case("endless-page", flood(CLOSING, BLOCK), OK),
        case("endless-chunks", flood(CHUNKED, b"10000\r\n" + b"x" * 65_536 + b"\r\n"), OK),
        case("endless-tiny-chunks", flood(CHUNKED, b"1\r\nx\r\n" * 10_000), UNREACHABLE),
        case("endless-chunk-extension", flood(CHUNKED + b"1;a=", b"x" * 65_536), UNREACHABLE),
        case("endless-trailers", flood(CHUNKED + b"0\r\n", b"X-T: 1\r\n" * 8_000), UNREACHABLE),
        case("endless-headers", flood(b"HTTP/1.1 200 OK\r\n", b"X-M: 1\r\n" * 8_000), UNREACHABLE),
        case("endless-header", flood(b"HTTP/1.1 200 OK\r\nX-L: ", b"x" * 65_536), UNREACHABLE),
        case("endless-status-line", flood(b"HTTP/1.1 200 ", b"x" * 65_536), UNREACHABLE),
        *(
            case(f"{name}-{code}", answer(f"HTTP/1.1 {code} Wait\r\n\r\n".encode()), UNREACHABLE)
            for code in (100, 102, 103, 199)
            for name, answer in (("endless", _flood_of), ("drip", partial(dripping, b"")))
        ),
        case(
            "endless-hints-with-links",
            flood(b"", head("Link: </a.css>; rel=preload", status="HTTP/1.1 103 Early") * 900),
            UNREACHABLE,
        ),
        case("endless-newline-hints", flood(b"", b"HTTP/1.1 103 Early\n\n" * 900), UNREACHABLE),
        case("some-hints", raw(b"HTTP/1.1 103 Early\r\n\r\n" * 5, CLOSING, PLAIN), OK, MARK),
        case(
            "endless-empty-gzip-blocks",
            flood(typed("Content-Encoding: gzip") + GZIP_HEAD, NO_GZIP * 9_000),
            TOO_LARGE,
        ),
        case("endless-not-found", flood(head(status="HTTP/1.1 404 No"), b"x" * 65_536), NOT_FOUND),
        case("endless-refusal", flood(head(status="HTTP/1.1 403 No"), b"x" * 65_536), BLOCKED),
        case("endless-failure", flood(head(status="HTTP/1.1 500 No"), b"x" * 65_536), UNREACHABLE),
        case(
            "endless-redirect",
            flood(head("Location: /plain", status="HTTP/1.1 302 Go"), b"x" * 65_536),
            OK,
            MARK,
        ),
    ]


async def _reset(_: SiteRequest, stream: SocketStream) -> None:
    """A reset before the first byte of the response."""
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    stream.extra(SocketAttribute.raw_socket).setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


async def _reset_midway(request: SiteRequest, stream: SocketStream) -> None:
    await stream.send(typed("Content-Length: 5000") + b"<p>half")
    await _reset(request, stream)


POISON = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>poison"
"""A second response after the first, for the next request on the same connection."""


def framing() -> list[Case]:
    """Wrong lengths, chunks and status lines."""
    case = partial(Case, "framing")
    size = len(PLAIN)

    def lengths(*values: str, body: bytes = PLAIN) -> Handler:
        return raw(typed(*(f"Content-Length: {value}" for value in values)), body)

    return [
        case("length-too-long", lengths("5000"), UNREACHABLE),
        case("length-too-short", lengths(str(size - 40)), OK, MARK),
        case("length-zero", lengths("0"), EMPTY),
        case("length-negative", lengths("-1"), UNREACHABLE),
        case("length-signed", lengths(f"+{size}"), UNREACHABLE),
        case("length-in-hex", lengths("0x100"), UNREACHABLE),
        case("length-a-word", lengths("many"), UNREACHABLE),
        case("length-empty", lengths(""), UNREACHABLE),
        case("length-beyond-all", lengths("9" * 30), UNREACHABLE),
        case("length-a-gigabyte", stalled(typed("Content-Length: 1000000000")), TOO_LARGE),
        case("two-lengths", lengths(str(size), str(size - 9)), UNREACHABLE),
        case("two-lengths-in-one", lengths(f"{size}, {size - 9}"), UNREACHABLE),
        case("one-length-twice", lengths(str(size), str(size)), OK, MARK),
        case(
            "length-in-other-digits",
            raw(typed()[:-2] + "Content-Length: ٣\r\n\r\n".encode()),
            UNREACHABLE,
        ),
        case(
            "length-and-chunks",
            raw(typed("Content-Length: 3", "Transfer-Encoding: chunked"), chunk(PLAIN)),
            OK,
            MARK,
        ),
        case("chunks-of-garbage", raw(CHUNKED, b"zz\r\n<p>x\r\n0\r\n\r\n"), UNREACHABLE),
        case("chunk-size-negative", raw(CHUNKED, b"-5\r\n<p>x\r\n0\r\n\r\n"), UNREACHABLE),
        case("chunk-size-beyond-all", raw(CHUNKED, b"f" * 40 + b"\r\n<p>x"), UNREACHABLE),
        case("chunk-longer-than-said", raw(CHUNKED, b"2\r\n<p>words\r\n0\r\n\r\n"), UNREACHABLE),
        case("chunk-cut-off", raw(CHUNKED, b"ff\r\n<p>x"), UNREACHABLE),
        case("chunks-without-an-end", raw(CHUNKED, b"4\r\n<p>x\r\n"), UNREACHABLE),
        case("chunk-with-bare-newlines", raw(CHUNKED, b"4\n<p>x\n0\n\n"), UNREACHABLE),
        case("coding-unknown", raw(typed("Transfer-Encoding: gzip"), PLAIN), UNREACHABLE),
        case("coding-misspelt", raw(typed("Transfer-Encoding: xchunked"), PLAIN), UNREACHABLE),
        case("coding-twice", raw(typed("Transfer-Encoding: chunked, chunked"), PLAIN), UNREACHABLE),
        case("http-0.9", raw(PLAIN), UNREACHABLE),
        case("http-9.9", raw(head(status="HTTP/9.9 200 OK"), PLAIN), OK),
        case("http-2-unasked", raw(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" * 9), UNREACHABLE),
        case("not-http", raw(b"220 mail.example ESMTP\r\n"), UNREACHABLE),
        case("tls-alert", raw(b"\x15\x03\x01\x00\x02\x02\x50"), UNREACHABLE),
        case("status-99", raw(head(status="HTTP/1.1 99 Low"), PLAIN), UNREACHABLE),
        case("status-1000", raw(head(status="HTTP/1.1 1000 High"), PLAIN), UNREACHABLE),
        case("status-a-word", raw(head(status="HTTP/1.1 OK 200"), PLAIN), UNREACHABLE),
        case("status-600", page_of(600), UNREACHABLE),
        case("status-204-with-a-body", raw(head(status="HTTP/1.1 204 None"), PLAIN), EMPTY),
        case("status-304-unasked", raw(head(status="HTTP/1.1 304 Same")), UNREACHABLE),
        case("status-101", raw(head("Upgrade: x", status="HTTP/1.1 101 Go")), UNREACHABLE),
        case("no-reason", raw(head("Content-Type: text/html", status="HTTP/1.1 200"), PLAIN), OK),
        case("bare-newlines", raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + PLAIN), OK),
        case("nothing", raw(), UNREACHABLE),
        case("one-byte", raw(b"H"), UNREACHABLE),
        case("reset", _reset, UNREACHABLE),
        case("reset-midway", _reset_midway, UNREACHABLE),
        case(
            "a-second-answer",
            raw(typed(f"Content-Length: {size}"), PLAIN + POISON),
            OK,
            MARK,
            "poison",
        ),
    ]


def chunk(body: bytes) -> bytes:
    """A body as one chunk."""
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def page_of(status: int) -> Answer:
    """A page with a status."""
    return Answer(PLAIN, status)


def headers() -> list[Case]:
    """Too many headers, too long ones, and invalid bytes."""
    case = partial(Case, "header")

    def having(*lines: str) -> Handler:
        return raw(typed(f"Content-Length: {len(PLAIN)}", *lines), PLAIN)

    def limited(value: str) -> Answer:
        return Answer(b"", 429, {"Retry-After": value, "Content-Type": HTML})

    return [
        case("ten-thousand", having(*(f"X-{n}: {n}" for n in range(10_000))), UNREACHABLE),
        case("a-megabyte", having("X-Long: " + "x" * 1_000_000), UNREACHABLE),
        case("nul-in-a-value", having("X-Nul: a\0b"), UNREACHABLE),
        case("nul-in-a-name", having("X\0: a"), UNREACHABLE),
        case("bare-return", having("X-A: a\rX-B: b"), UNREACHABLE),
        case("no-colon", having("X-A"), UNREACHABLE),
        case("no-name", having(": a"), UNREACHABLE),
        case("space-before-the-colon", having("X-A : a"), UNREACHABLE),
        case("folded", having("X-A: a\r\n b"), OK, MARK),
        case("eight-bit", having("X-A: \xe4\xf6\xfc\xff"), OK, MARK),
        case("a-thousand-cookies", having(*["Set-Cookie: a=b"] * 1_000), OK, MARK),
        case("long-type", page(content_type="text/html; " + "x" * 50_000), OK, MARK),
        case("type-of-nothing", page(content_type=";;;,,;charset"), OK, MARK),
        case("long-etag", page(etag='"' + "x" * 50_000 + '"'), OK, MARK),
        case("come-back-negative", limited("-5"), RATE_LIMITED),
        case("come-back-nan", limited("nan"), RATE_LIMITED),
        case("come-back-never", limited("1e999"), RATE_LIMITED),
        case("come-back-nonsense", limited("Fri, 99 Foo 99999 99:99:99"), RATE_LIMITED),
    ]


async def _hops(request: SiteRequest, _: SocketStream) -> Answer:
    """Redirects to another address each time."""
    count = int(request.query.get("n", "0"))
    return redirect(f"{request.path}?n={count + 1}" if count < 1_000 else "/plain")


async def _cookie_wall(request: SiteRequest, _: SocketStream) -> Answer:
    """Redirects to itself until the client sends the cookie, which Kindly never does."""
    if "cookie" in request.headers:
        return page("<p>The cookie came along</p>")
    return Answer(status=302, headers={"Location": request.path, "Set-Cookie": "a=b"})


TARGETS = {
    "file": "file:///etc/passwd",
    "data": "data:text/html,<p>x",
    "script": "javascript:alert(1)",
    "ftp": "ftp://127.0.0.1/x",
    "gopher": "gopher://127.0.0.1:6379/_INFO",
    "private-address": "http://10.0.0.1/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "other-port": "http://127.0.0.1:1/",
    "loopback-v6": "http://[::1]/",
    "mapped-v6": "http://[::ffff:10.0.0.1]/",
    "decimal-address": "http://167772161/",
    "userinfo": "http://a:b@127.0.0.1/",
    "backslashes": "http:\\\\10.0.0.1\\x",
    "bad-port": "http://127.0.0.1:99999/",
    "no-host": "http:///x",
    "only-a-scheme": "http:",
    "spaces": "http://exa mple.com/",
}
"""Targets that no redirect may have."""


def redirects() -> list[Case]:
    """Redirect loops, long chains, and forbidden targets."""
    case = partial(Case, "redirect")

    def meta(target: str) -> Answer:
        return page(f'<meta http-equiv="refresh" content="0; url={target}"><p>Moved')

    here = "/redirect/"
    return [
        *(case(f"to-{name}", redirect(target), REFUSED) for name, target in TARGETS.items()),
        case("circle-of-one", redirect(f"{here}circle-of-one"), UNREACHABLE),
        case("circle-of-one-307", redirect(f"{here}circle-of-one-307", 307), UNREACHABLE),
        case("thousand-hops", _hops, UNREACHABLE),
        case("cookie-wall", _cookie_wall, UNREACHABLE),
        case("nowhere", Answer(status=302, headers={}), UNREACHABLE),
        case("empty-place", redirect(""), UNREACHABLE),
        case("fragment-only", redirect("#x"), UNREACHABLE),
        case("slashes", redirect("////"), REFUSED),
        case("dots", redirect("/" + "../" * 500 + "plain"), OK, MARK),
        case("long-place", redirect("/" + "x" * 60_000), REFUSED),
        case("megabyte-place", redirect("/" + "x" * 1_000_000), UNREACHABLE),
        case("nul-in-place", redirect("/pl\0ain"), UNREACHABLE),
        case("newline-in-place", redirect("/plain%0d%0aX-A:%20b"), NOT_FOUND),
        case(
            "two-places",
            raw(head("Location: /a", "Location: /b", status="HTTP/1.1 302 Go")),
            REFUSED,
        ),
        case("choices", redirect("/plain", 300), UNREACHABLE),
        case("use-proxy", redirect("http://127.0.0.1:1/", 305), UNREACHABLE),
        case("refresh-circle", meta(f"{here}refresh-circle"), OK),
        case("refresh-to-file", meta("file:///etc/passwd"), REFUSED),
        case("refresh-to-private", meta("http://10.0.0.1/"), REFUSED),
        case("refresh-flood", page('<meta http-equiv="refresh" content="0; url=' * 250), EMPTY),
    ]


CASES = (*codings(), *streams(), *framing(), *headers(), *redirects())

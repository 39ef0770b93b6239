import pytest

from kindly.fetch.browser.http1 import BadHead, Head, answer, parse_head


def test_head_has_its_start_line_and_fields() -> None:
    head = parse_head(b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nX-A:  b ")

    assert head.request == ("GET", "http://a.example/")
    assert (head.header("host"), head.header("x-a"), head.header("none")) == ("a.example", "b", "")
    assert head.body_bytes == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n folded: 1",
        b"GET / HTTP/1.1\r\nname : 1",
        b"GET / HTTP/1.1\r\nno field",
        b"GET / HTTP/1.1\r\nA: b\x00c",
    ],
    ids=["folded", "blank before the colon", "no colon", "null byte"],
)
def test_malformed_field_is_refused(raw: bytes) -> None:
    with pytest.raises(BadHead):
        parse_head(raw)


@pytest.mark.parametrize(
    "fields",
    [
        (("Transfer-Encoding", "chunked"),),
        (("Content-Length", "1"), ("Content-Length", "2")),
        (("Content-Length", "+1"),),
        (("Content-Length", "１"),),
    ],
    ids=["chunked", "two lengths", "sign", "other digits"],
)
def test_ambiguous_length_of_a_body_is_refused(fields: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(BadHead):
        _ = Head("POST / HTTP/1.1", fields).body_bytes


def test_forwarded_head_has_no_hop_by_hop_fields() -> None:
    head = Head("", (("Proxy-Authorization", "secret"), ("Host", "old"), ("Accept", "*/*")))

    forwarded = head.forwarded("GET / HTTP/1.1", [("Host", "a.example"), ("Connection", "close")])

    assert forwarded == (
        b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nAccept: */*\r\n\r\n"
    )


def test_answer_without_a_body_closes_the_connection() -> None:
    head = parse_head(answer(403).removesuffix(b"\r\n\r\n"))

    assert head.status == 403
    assert (head.header("content-length"), head.header("connection")) == ("0", "close")

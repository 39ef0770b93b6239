import pytest

from kindly.fetch.browser import driver_protocol


@pytest.mark.parametrize(
    "message",
    [
        driver_protocol.Started("Chromium 1"),
        driver_protocol.StartFailed("no"),
        driver_protocol.Job(1, "http://example.com/", "u", "p", 1.5, 1.0, 10),
        driver_protocol.Cancel(3),
        driver_protocol.Rendered(1, "http://example.com/", 200, "<p>\n\ud800 日本</p>"),
        driver_protocol.RenderFailed(1, "gone", ""),
    ],
    ids=lambda message: type(message).__name__,
)
def test_message_arrives_as_it_was_sent(message: driver_protocol.Message) -> None:
    sent = driver_protocol.line(message)
    assert sent.count(b"\n") == 1
    assert driver_protocol.read(sent) == message


@pytest.mark.parametrize(
    "raw", [b"", b"x", b"1", b"{}", b'{"kind": "Nothing"}', b'{"kind": "Cancel", "x": 1}']
)
def test_anything_else_is_refused(raw: bytes) -> None:
    with pytest.raises(driver_protocol.BrokenDriverPipe):
        driver_protocol.read(raw)

import pytest

from kindly.fetch.browsers import wire


@pytest.mark.parametrize(
    "message",
    [
        wire.Started("Chromium 1"),
        wire.StartFailed("no"),
        wire.Job(1, "http://example.com/", "u", "p", 1.5, 1.0, 10),
        wire.Cancel(3),
        wire.Rendered(1, "http://example.com/", 200, "<p>\n\ud800 日本</p>"),
        wire.RenderFailed(1, "gone", ""),
    ],
    ids=lambda message: type(message).__name__,
)
def test_message_arrives_as_it_was_sent(message: wire.Message) -> None:
    sent = wire.line(message)
    assert sent.count(b"\n") == 1
    assert wire.read(sent) == message


@pytest.mark.parametrize(
    "raw", [b"", b"x", b"1", b"{}", b'{"kind": "Nothing"}', b'{"kind": "Cancel", "x": 1}']
)
def test_anything_else_is_refused(raw: bytes) -> None:
    with pytest.raises(wire.BrokenWire):
        wire.read(raw)

"""The file format of recordings: what is written, what is masked, and which files are refused."""

from pathlib import Path

import pytest

from kindly.errors import SettingsError
from kindly.recording.recording_file import (
    RecordedAnswer,
    Recorder,
    Replay,
    Request,
    body_digest,
    open_recording,
)
from kindly.redact import Redactor
from kindly.settings import Settings

GET = Request("page", "GET", "https://example.com/")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not a recording"),
        ("{}", "is not a recording"),
        ("nonsense", "is not a recording"),
        ('{"kindly_cassette": 2, "recorded_at": "2026-01-01"}', "another version"),
        ('{"kindly_cassette": 1, "recorded_at": "yesterday"}', "is not a recording"),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused_at_start(
    tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "c").write_text(content)
    with pytest.raises(SettingsError, match=words):
        Settings.load({"KINDLY_CASSETTE": str(tmp_path / "c")})


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        Settings.load({"KINDLY_CASSETTE": str(tmp_path)})
    recorder = Recorder(tmp_path / "none" / "c", Redactor.of(()), {})
    with pytest.raises(SettingsError, match="cannot be written"):
        recorder.add(GET, RecordedAnswer(200))
    recorder.close()


@pytest.mark.parametrize("body", [b"plain \xc3\xa9", b"\x89PNG\xff\xfe", b""])
def test_bodies_are_replayed_unchanged_and_the_last_answer_repeats(
    tmp_path: Path, body: bytes
) -> None:
    redactor = Redactor.of(())
    recorder = open_recording(tmp_path / "c", redactor, {})
    recorder.add(
        GET, RecordedAnswer(200, (("content-type", "text/plain"), ("set-cookie", "x=1")), body)
    )
    recorder.add(GET, RecordedAnswer(404))
    recorder.close()
    replay = Replay(tmp_path / "c")
    found = [replay.find(GET) for _ in range(3)]
    assert found[0] == RecordedAnswer(200, (("content-type", "text/plain"),), body)
    assert [one.status for one in found] == [200, 404, 404]


def test_the_digest_of_a_body_does_not_depend_on_the_key() -> None:
    bodies = [b'{"key": "secret-one", "q": "tea"}', b'{"key": "secret-two", "q": "tea"}']
    redactor = Redactor.of(["secret-one", "secret-two"])
    assert len({body_digest(redactor, body) for body in bodies}) == 1
    assert body_digest(redactor, b'{"q": "wine"}') != body_digest(redactor, b'{"q": "tea"}')
    assert body_digest(redactor, b"") == ""

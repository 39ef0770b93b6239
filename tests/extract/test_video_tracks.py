"""Which caption track of a page is read, and what a document says of it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kindly.extract.video_tracks import (
    VideoTrack,
    best_track,
    has_media,
    speaks,
    with_transcript,
)
from kindly.models import Document, Page
from kindly.text.captions import Cue

URL = "https://talks.example/2024/bees"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def page(body: str) -> Page:
    return Page(URL, URL, 200, "text/html", body.encode(), NOW)


@pytest.mark.parametrize(
    ("body", "track"),
    [
        ("<video><track src=en.vtt></video>", VideoTrack("https://talks.example/2024/en.vtt", "")),
        (
            "<html lang='de-AT'><VIDEO src=a.mp4><TRACK KIND='Subtitles' srclang=en src='/en.vtt' default>"
            '<track kind="captions" srclang="de" label="Deutsch &amp; mehr" src="/de.vtt?a=1&amp;b=2"></VIDEO>',
            VideoTrack("https://talks.example/de.vtt?a=1&b=2", "Deutsch & mehr"),
        ),
        (
            "<video><track src=fr.vtt srclang=fr><track src=es.vtt srclang=es default></video>",
            VideoTrack("https://talks.example/2024/es.vtt", "es"),
        ),
        (
            "<audio><track kind=subtitles src=a.srt><track kind=captions src=b.srt></audio>",
            VideoTrack("https://talks.example/2024/b.srt", ""),
        ),
        ("<video><track kind=chapters src=c.vtt><track kind=metadata src=d></video>", None),
        ("<video><track kind=captions></video>", None),
        ("<p>See <code>track</code></p><track src=x.vtt>", None),
        ("<p>Bees</p>", None),
    ],
    ids=[
        "subtitles by default", "language of the page", "default", "captions first", "other kinds",
        "no address", "no video", "no tag",
    ],
)  # fmt: skip
def test_the_track_that_says_best_what_is_spoken_is_chosen(
    body: str, track: VideoTrack | None
) -> None:
    assert best_track(page(body)) == track


@pytest.mark.parametrize(
    ("body", "has", "says"),
    [
        ("<video controls src=a.mp4></video>", True, True),
        ("<video autoplay muted loop src=a.mp4></video>", True, False),
        ("<audio controls></audio>", True, False),
        ("<p>video</p>", False, False),
    ],
)
def test_a_video_that_a_person_can_start_has_something_to_say(
    body: str, has: bool, says: bool
) -> None:
    assert (has_media(page(body)), speaks(page(body))) == (has, says)


def test_a_file_of_another_type_has_no_video() -> None:
    assert not has_media(replace(page("<video>"), media_type="text/plain"))


@pytest.mark.parametrize(
    ("form", "head"), [("markdown", "## Transcript (en)"), ("text", "Transcript (en)")]
)
def test_the_transcript_follows_the_text(form: str, head: str) -> None:
    document = Document(URL, "Bees.\n", NOW, content_hash="old", format=form)  # type: ignore[arg-type]
    shown = with_transcript(document, VideoTrack(URL, "en"), [Cue(0, "Hello"), Cue(65, "Bye")])
    assert shown.text == f"Bees.\n\n{head}\n\n[0:00] Hello\n\n[1:05] Bye"
    assert len(shown.content_hash) == 64

"""YouTube: captions with times, the right track, and videos without any."""

import json
from typing import Any

import pytest

from kindly.errors import KindlyError
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.youtube import (
    NO_CAPTIONS,
    YOUTUBE,
    CaptionTrack,
    best_track,
    cues_of,
    video_of,
)
from kindly.urls import parse
from tests.support.loader_api import DATA, FakeApi, answer, recorded

pytestmark = pytest.mark.anyio

VIDEO = "abcDEF12345"
URL = f"https://www.youtube.com/watch?v={VIDEO}"
PLAYER = "https://www.youtube.com/youtubei/v1/player"
CAPTIONS = "https://www.youtube.com/api/timedtext"


def player(**changed: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DATA / "youtube/player.json").read_text(encoding="utf-8"))
    return loaded | changed


@pytest.mark.parametrize(
    ("url", "video"),
    [
        (URL, VIDEO),
        (f"https://youtube.com/watch?list=x&v={VIDEO}&t=5s", VIDEO),
        (f"https://youtu.be/{VIDEO}", VIDEO),
        (f"https://youtu.be/{VIDEO}?si=x", VIDEO),
        (f"https://www.youtube.com/shorts/{VIDEO}", VIDEO),
        (f"https://www.youtube.com/embed/{VIDEO}?start=5", VIDEO),
        (f"https://www.youtube.com/live/{VIDEO}", VIDEO),
        ("https://www.youtube.com/", None),
        ("https://www.youtube.com/watch", None),
        ("https://www.youtube.com/watch?v=short", None),
        ("https://www.youtube.com/@garden", None),
        ("https://www.youtube.com/playlist?list=x", None),
        (f"https://www.youtube.com/shorts/{VIDEO}x", None),
        (f"https://youtube.com.evil.example/watch?v={VIDEO}", None),
    ],
)
def test_videos_are_known_by_their_address(url: str, video: str | None) -> None:
    assert video_of(parse(url)) == video
    assert YOUTUBE.matches(parse(url)) == (video is not None)


async def test_a_video_reads_as_its_description_and_its_captions_with_times() -> None:
    api = FakeApi(
        {PLAYER: recorded("youtube", "player.json"), CAPTIONS: recorded("youtube", "captions.json")}
    )
    page = await api.load(YOUTUBE, URL)
    assert page.body.decode() == (
        "# How bees ‹find› flowers\n\n"
        "The Garden Channel · 1:02:05\n\n"
        "A talk about bees.\n\n"
        "Slides: https://example.com/bees\n\n"
        "## Transcript\n\n"
        "4 lines in English (United Kingdom), written. "
        "Also in: English (auto-generated), German.\n\n"
        "[0:01] Bees see ultraviolet light. A plain flower may carry bright guides.\n\n"
        "[0:31] A forager dances.\n\n"
        "[1:02:03] Thank you.\n"
    )
    asked, wanted = api.asked
    assert json.loads(asked.body or b"")["videoId"] == VIDEO
    assert "lang=en-GB" in wanted.url.target
    assert wanted.url.target.endswith("fmt=json3")


@pytest.mark.parametrize("captions", [{}, {"playerCaptionsTracklistRenderer": {}}])
async def test_a_video_without_captions_says_so(captions: dict[str, Any]) -> None:
    api = FakeApi({PLAYER: answer(player(captions=captions))})
    text = (await api.load(YOUTUBE, URL)).body.decode()
    assert text.endswith(f"{NO_CAPTIONS}\n")
    assert "A talk about bees." in text
    assert "Transcript" not in text


@pytest.mark.parametrize(
    "changed",
    [
        {"playabilityStatus": {"status": "LOGIN_REQUIRED"}, "captions": {}},
        {"playabilityStatus": {"status": "ERROR"}, "captions": {}},
        {"videoDetails": {}},
    ],
)
async def test_what_cannot_be_shown_is_left_to_the_page(changed: dict[str, Any]) -> None:
    api = FakeApi(
        {PLAYER: answer(player(**changed)), CAPTIONS: recorded("youtube", "captions.json")}
    )
    with pytest.raises(NotLoaded):
        await api.load(YOUTUBE, URL)


@pytest.mark.parametrize(
    "base", ["https://evil.example/api/timedtext?v=x", "http://www.youtube.com/api/timedtext", "x"]
)
async def test_captions_are_read_from_the_player_s_own_site_only(base: str) -> None:
    track = {"baseUrl": base, "languageCode": "en", "name": {"simpleText": "English"}}
    captions = {"playerCaptionsTracklistRenderer": {"captionTracks": [track]}}
    api = FakeApi({PLAYER: answer(player(captions=captions))})
    with pytest.raises(KindlyError):
        await api.load(YOUTUBE, URL)
    assert [request.url.host for request in api.asked] == ["www.youtube.com"]


def track(language: str, *, recognised: bool = False) -> CaptionTrack:
    return CaptionTrack(f"https://x.example/{language}", language, language, recognised)


@pytest.mark.parametrize(
    ("tracks", "best"),
    [
        ([], None),
        ([track("en", recognised=True)], 0),
        ([track("en", recognised=True), track("de")], 1),
        ([track("de"), track("en", recognised=True), track("en-GB")], 2),
        ([track("fr"), track("de")], 0),
    ],
)
def test_the_track_that_says_best_what_is_spoken_is_read(
    tracks: list[CaptionTrack], best: int | None
) -> None:
    assert best_track(tracks) is (None if best is None else tracks[best])


def test_lines_without_words_are_no_lines() -> None:
    body = {"events": [{"tStartMs": 5}, {"tStartMs": 9, "segs": [{"utf8": "\n"}]}, 3]}
    assert cues_of(JsonFields.of(body)) == []

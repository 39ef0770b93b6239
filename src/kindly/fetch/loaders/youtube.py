"""YouTube: a video → its description and its captions with times, or the statement that it has none.

Asks the player's own interface, which lists the caption tracks, and then for one of them: the one that people wrote in
the language of the video, else any that people wrote, else the one that YouTube recognised.
"""

import json
import re
from collections.abc import Sequence
from urllib.parse import parse_qs, parse_qsl, urlencode

from kindly.errors import InputError
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import (
    bounded,
    counted,
    document,
    facts,
    heading,
    line,
    markdown_page,
)
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.text.captions import MAX_LINE, Cue, clock, paragraphs
from kindly.text.plain_line import plain_line
from kindly.urls import Url, parse

HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com"})
SHORT_HOST = "youtu.be"
PATHS = re.compile(r"/(?:shorts|embed|live|v)/([\w-]{11})(?:[/?]|\Z)")
VIDEO = re.compile(r"[\w-]{11}")
CLIENT = {"clientName": "ANDROID", "clientVersion": "20.10.38", "hl": "en"}
"""The player whose answer has caption tracks that can be requested as they are."""
PLAYABLE = "OK"
RECOGNISED = "asr"
NO_CAPTIONS = "This video has no captions, so there is no transcript."
LEFT_OUT = "{} more parts of the transcript are left out."


@frozen
class YouTube:
    """Loads videos through the player's interface."""

    name: str = "youtube"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (("YOUTUBE_URL", "https://www.youtube.com"),)

    def matches(self, url: Url) -> bool:
        return video_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The video's description and transcript."""
        video = video_of(url)
        if video is None:
            raise NotLoaded("The URL does not name a video.", url=str(url))
        player = client.address("YOUTUBE_URL", "/youtubei/v1/player")
        asked = json.dumps({"context": {"client": CLIENT}, "videoId": video}).encode()
        answer = JsonFields.of(await client.json(player, body=asked))
        tracks = tracks_of(answer)
        track = best_track(tracks)
        cues = [] if track is None else await _cues(track, player, client)
        return markdown_page(url, to_text(answer, tracks, track, cues), client.now)


@frozen
class CaptionTrack:
    """The captions of a video in one language."""

    url: str
    language: str
    name: str
    is_recognised: bool
    """Whether YouTube recognised the speech; otherwise people wrote them."""


def video_of(url: Url) -> str | None:
    """The video's id in a URL."""
    path, _, query = url.target.partition("?")
    if url.host == SHORT_HOST:
        video = path[1:].partition("/")[0]
    elif url.host in HOSTS and path == "/watch":
        video = parse_qs(query).get("v", [""])[0]
    elif url.host in HOSTS and (found := PATHS.match(url.target)):
        video = found[1]
    else:
        return None
    return video if VIDEO.fullmatch(video) else None


def tracks_of(answer: JsonFields) -> list[CaptionTrack]:
    """The caption tracks that the player lists."""
    listed = answer.part("captions").part("playerCaptionsTracklistRenderer").parts("captionTracks")
    return [
        CaptionTrack(
            track.text("baseUrl"),
            track.text("languageCode"),
            _name(track.part("name")) or track.text("languageCode"),
            track.text("kind") == RECOGNISED,
        )
        for track in listed
        if track.text("baseUrl")
    ]


def best_track(tracks: Sequence[CaptionTrack]) -> CaptionTrack | None:
    """The track that says best what is spoken."""
    spoken = {_base(track.language) for track in tracks if track.is_recognised}
    written = [track for track in tracks if not track.is_recognised]
    in_own = [track for track in written if _base(track.language) in spoken]
    return next(iter((*in_own, *written, *tracks)), None)


async def _cues(track: CaptionTrack, player: Url, client: LoaderClient) -> list[Cue]:
    """The lines of a track.

    Raises:
        NotLoaded: they are elsewhere than the player, or in another format.
    """
    try:
        listed = parse(track.url)
    except InputError as error:
        raise NotLoaded("The captions have no address.", url=str(player)) from error
    if listed.origin != player.origin:
        raise NotLoaded("The captions are on another site.", url=str(player))
    path, _, query = listed.target.partition("?")
    fields = [(name, value) for name, value in parse_qsl(query) if name != "fmt"]
    wanted = parse(f"{listed.origin}{path}?{urlencode([*fields, ('fmt', 'json3')])}")
    return cues_of(JsonFields.of(await client.json(wanted)))


def cues_of(answer: JsonFields) -> list[Cue]:
    """The lines of a track in the player's JSON."""
    cues = []
    for event in answer.parts("events"):
        text = line("".join(segment.text("utf8") for segment in event.parts("segs")))
        if text:
            cues.append(Cue(event.number("tStartMs") // 1000, text))
    return cues


def to_text(
    answer: JsonFields,
    tracks: Sequence[CaptionTrack],
    track: CaptionTrack | None,
    cues: Sequence[Cue],
) -> str:
    """The page of a video.

    Raises:
        NotLoaded: it has no title, or it cannot be played and has no captions.
    """
    about = answer.part("videoDetails")
    playable = answer.part("playabilityStatus").text("status") == PLAYABLE
    if not cues and not playable:
        raise NotLoaded("The video cannot be played.", url="")
    length = about.text("lengthSeconds")
    told = facts(
        _plain(about.text("author")),
        clock(int(length)) if length.isdecimal() and len(length) < 8 else "",
    )
    return document(
        heading(1, _plain(about.needed("title"))),
        told,
        *map(_plain, about.text("shortDescription").split("\n")),
        *(_transcript(tracks, track, cues) if track is not None and cues else (NO_CAPTIONS,)),
    )


def _transcript(
    tracks: Sequence[CaptionTrack], track: CaptionTrack, cues: Sequence[Cue]
) -> list[str]:
    made = "recognised by YouTube" if track.is_recognised else "written"
    others = [_plain(other.name) for other in tracks if other is not track]
    more = f" Also in: {', '.join(others)}." if others else ""
    said = f"{counted(len(cues), 'line')} in {_plain(track.name)}, {made}.{more}"
    return [heading(2, "Transcript"), said, *bounded(paragraphs(cues), LEFT_OUT)]


def _name(name: JsonFields) -> str:
    return name.text("simpleText") or "".join(run.text("text") for run in name.parts("runs"))


def _base(language: str) -> str:
    return language.lower().partition("-")[0]


def _plain(text: str) -> str:
    """Text of a user as one line without markup."""
    return plain_line(text, MAX_LINE)


YOUTUBE = YouTube()

"""The caption tracks of the videos on a page: which one says best what is spoken, and the transcript in a document."""

import hashlib
import html
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urljoin

from kindly.frozen import frozen
from kindly.models import Document, Page
from kindly.text.captions import Cue, paragraphs
from kindly.text.plain_line import plain_line

MAX_TAGS = 50
MAX_NAME = 80
KINDS = ("captions", "subtitles")
"""The better one first: captions are in the language that is spoken."""
NO_CAPTIONS = "The page has a video without captions, so what is said in it is not in this text."
UNREADABLE = "The captions of the page's video could not be read."
_PLAYER = re.compile(rb"<(?:video|audio)", re.IGNORECASE)
_MEDIA = re.compile(rb"<(?:video|audio)\b([^>]{0,2000})>", re.IGNORECASE)
_TRACK = re.compile(rb"<track\b([^>]{0,2000})>", re.IGNORECASE)
_LANGUAGE = re.compile(rb"<html\b[^>]{0,500}?\blang\s*=\s*[\"']?([\w-]{2,20})", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")


@frozen
class VideoTrack:
    """A caption track that a page names."""

    url: str
    name: str


def has_media(page: Page) -> bool:
    """Whether the page may have a video or audio: a quick look at its bytes."""
    if page.media_type != "text/html":
        return False
    return _PLAYER.search(page.body) is not None


def best_track(page: Page) -> VideoTrack | None:
    """The track of the page's first video or audio that says best what is spoken; None without one."""
    media = _MEDIA.search(page.body)
    if media is None:
        return None
    language = _LANGUAGE.search(page.body[:20_000])
    spoken = language[1].decode().lower().partition("-")[0] if language else ""
    found: list[tuple[tuple[bool, bool, int], VideoTrack]] = []
    for number, tag in enumerate(_TRACK.finditer(page.body, media.end())):
        if number >= MAX_TAGS:
            break
        fields = _attributes(tag[1])
        kind, source = fields.get("kind", "subtitles").lower(), fields.get("src", "")
        if kind in KINDS and source:
            track_language = fields.get("srclang", "").lower().partition("-")[0]
            rank = (track_language != spoken, "default" not in fields, KINDS.index(kind))
            name = plain_line(fields.get("label") or fields.get("srclang", ""), MAX_NAME)
            found.append((rank, VideoTrack(urljoin(page.url, source), name)))
    return min(found, key=lambda one: one[0])[1] if found else None


def speaks(page: Page) -> bool:
    """Whether a video on the page has something to say: a person can start it. Decoration starts by itself."""
    return any(
        tag[0][:6].lower() == b"<video" and "controls" in _attributes(tag[1])
        for tag in _MEDIA.finditer(page.body)
    )


def _attributes(tag: bytes) -> dict[str, str]:
    return {
        name.lower(): html.unescape(double or single or bare)
        for name, double, single, bare in _ATTRIBUTE.findall(tag.decode("utf-8", "replace"))
    }


def with_transcript(document: Document, track: VideoTrack, cues: Sequence[Cue]) -> Document:
    """The document with what is said in the video, after its text."""
    head = "## Transcript" if document.format == "markdown" else "Transcript"
    said = [f"{head} ({track.name})" if track.name else head, *paragraphs(cues)]
    text = "\n\n".join([document.text.rstrip(), *said]).lstrip()
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(document, text=text, content_hash=digest)

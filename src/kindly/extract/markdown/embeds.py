"""Embedded media (videos, audio players, demos) → links with their titles. The tree is changed in place.

Only known players, `video` and `audio` become links; other frames, such as trackers and advertisements, do not.
"""

import re
from itertools import islice
from urllib.parse import urlsplit

from turbohtml import Document, Element

from kindly.text.invisible import clean

EMBED_TAGS = ("iframe", "video", "audio")
MAX_EMBEDS = 50
MAX_TITLE = 120
PLAYERS = {
    "youtube.com": "Video", "youtube-nocookie.com": "Video", "youtu.be": "Video", "vimeo.com": "Video",
    "dailymotion.com": "Video", "loom.com": "Video", "wistia.net": "Video", "wistia.com": "Video", "ted.com": "Video",
    "twitch.tv": "Video", "bilibili.com": "Video", "rumble.com": "Video", "soundcloud.com": "Audio",
    "spotify.com": "Audio", "podcasts.apple.com": "Audio", "codepen.io": "Demo", "codesandbox.io": "Demo",
    "stackblitz.com": "Demo", "jsfiddle.net": "Demo", "slideshare.net": "Slides", "datawrapper.dwcdn.net": "Chart",
}  # fmt: skip
YOUTUBE = re.compile(r"(?:youtube(?:-nocookie)?\.com/embed/|youtu\.be/)([\w-]{6,20})")
VIMEO = re.compile(r"player\.vimeo\.com/video/(\d+)")
GENERIC_TITLE = re.compile(
    r"(?:youtube|vimeo|embedded)?\s*(?:video)?\s*(?:player|iframe|embed(?:ded content)?)?\.?", re.I
)


def replace_embeds(document: Document) -> None:
    """Replace each player by a link with its title."""
    if all(document.select_one(tag) is None for tag in EMBED_TAGS):
        return  # faster to tell than with the loop
    for element in list(islice(document.iter_elements(EMBED_TAGS), MAX_EMBEDS)):
        link = _frame(element) if element.tag == "iframe" else _file(element)
        if link is not None:
            element.replace_with(link)


def _frame(frame: Element) -> Element | None:
    source = frame.attr("src") or frame.attr("data-src") or frame.attr("data-lazy-src") or ""
    source = f"https:{source}" if source.startswith("//") else source
    try:
        host = (urlsplit(source).hostname or "").removeprefix("www.")
    except ValueError:
        return None
    kind = next(
        (kind for name, kind in PLAYERS.items() if host == name or host.endswith(f".{name}")), None
    )
    if kind is None or _is_tiny(frame):
        return None
    return _link(kind, frame.attr("title"), _watch_page(source))


def _file(player: Element) -> Element | None:
    inner = player.select_one("source[src]")
    source = player.attr("src") or (inner.attr("src") if inner is not None else None) or ""
    if not source or source.startswith(("data:", "blob:")) or player.attr("autoplay") is not None:
        return None
    return _link("Audio" if player.tag == "audio" else "Video", player.attr("title"), source)


def _is_tiny(frame: Element) -> bool:
    style = (frame.attr("style") or "").replace(" ", "").lower()
    return (
        frame.attr("width") in ("0", "1")
        or frame.attr("height") in ("0", "1")
        or "display:none" in style
    )


def _watch_page(source: str) -> str:
    """The address of the page that a person would open."""
    if found := YOUTUBE.search(source):
        return f"https://www.youtube.com/watch?v={found.group(1)}"
    if found := VIMEO.search(source):
        return f"https://vimeo.com/{found.group(1)}"
    return source


def _link(kind: str, title: str | None, address: str) -> Element:
    name = " ".join(clean(title or "")[0].split())[:MAX_TITLE]
    link = Element("a", {"href": address})
    link.set_text(kind if GENERIC_TITLE.fullmatch(name) else f"{kind}: {name}")
    return Element("p", children=[link])

"""Sentences about character recognition: which pages were read by it, how sure it is, and how to get it. Pure."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from kindly.version import how_to_install

EXTRA: Final = "ocr"
HOW: Final = how_to_install(EXTRA)
DOUBTFUL: Final = 0.9
MAX_RANGES: Final = 12


def sure(confidence: float) -> str:
    """The remark on a page that was read by character recognition."""
    return f"read by character recognition, {percent(confidence)} sure"


def percent(confidence: float) -> str:
    """A confidence from 0 to 1 as a percentage; never all of it."""
    return f"{min(round(100 * confidence), 99)} %"


def no_text(pages: int, *, installed: bool, late: bool, too_large: bool = False) -> str:
    """Why a file without text cannot be read."""
    on = f"The PDF has no text on its {pages:,} {'page' if pages == 1 else 'pages'}"
    if not installed and late:
        return (
            f"{on}: it is a scan or has only images. To read them by character recognition, {HOW}."
        )
    if late:
        return f"{on}: it is a scan, and there was no time for character recognition."
    if too_large:
        return f"{on}: its pictures have too many pixels to read them."
    return f"{on}, and no picture with text."


def scan_note(
    scans: Mapping[int, float],
    unread: Sequence[int],
    too_large: Sequence[int] = (),
    layers: Sequence[int] = (),
    *,
    installed: bool,
) -> str:
    """What to know about pages without visible text.

    `scans` are those that were read, each with its confidence, `layers` those with invisible text over a picture.
    """
    sentences: list[str] = []
    if scans:
        mean = sum(scans.values()) / len(scans)
        doubtful = [number for number, confidence in scans.items() if confidence < DOUBTFUL]
        least = f", least on {pages(doubtful)}" if 0 < len(doubtful) < len(scans) else ""
        verb = "was" if len(scans) == 1 else "were"
        sentences.append(
            f"{pages(list(scans)).capitalize()} {verb} read by character recognition, {percent(mean)} sure{least}."
        )
    if layers:
        are, their = ("is a picture", "its") if len(layers) == 1 else ("are pictures", "their")
        sentences.append(
            f"{pages(layers).capitalize()} {are}; {their} text is an invisible layer of the file, from character "
            "recognition by its maker, and may have errors."
        )
    if unread:
        verb, pronoun = ("has", "it") if len(unread) == 1 else ("have", "them")
        named = pages(unread).capitalize()
        reason = (
            "there was no time for character recognition"
            if installed
            else f"to read {pronoun} by character recognition, {HOW}"
        )
        sentences.append(f"{named} {verb} no text but pictures; {reason}.")
    if too_large:
        verb = "has" if len(too_large) == 1 else "have"
        sentences.append(
            f"{pages(too_large).capitalize()} {verb} pictures with too many pixels to read them."
        )
    return " ".join(sentences)


def pages(numbers: Sequence[int]) -> str:
    """Page numbers in words: `pages 1–3 and 7`."""
    ordered = sorted(numbers)
    starts = [ordered[0], *(other for one, other in pairwise(ordered) if other > one + 1)]
    ends = [*(one for one, other in pairwise(ordered) if other > one + 1), ordered[-1]]
    ranges = [
        f"{start}" if start == end else f"{start}–{end}"
        for start, end in zip(starts, ends, strict=True)
    ]
    shown = ranges[:MAX_RANGES] + (
        [f"{len(ranges) - MAX_RANGES} more"] if len(ranges) > MAX_RANGES else []
    )
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return f"{'page' if len(ordered) == 1 else 'pages'} {listed}"

"""Invisible Unicode characters: removes zero-width characters, bidi controls, tags and stray variation selectors.

Joiners that a script or an emoji needs are kept. Markup is not interpreted.
"""

import re

SUBDIVISION_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""England, Scotland, Wales: the only tag sequences that fonts render."""

INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, but tab, line feed, return, next line
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, bidi, invisible operators
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # fillers, variation selectors, marks
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # format controls, tags
    "]+"
)

TYPOGRAPHY = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff\u061c")
"""Characters that are common in ordinary pages; a short run of them is removed but not reported as hidden text."""

MAX_TYPOGRAPHY_RUN = 3

PRINTABLE_ASCII = bytes([*range(0x20, 0x7F), *b"\t\n\r"])

KEYCAPS = frozenset("0123456789#*")
LAST_IDEOGRAPHIC = 0xE0120
"""Registered variants of ideographs end here; selectors above can only encode hidden bytes."""

JOINING_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko
    (0x0900, 0x0DFF),  # Indic
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),
)

EMOJI_RANGES = (
    (0x00A9, 0x00AE),
    (0x203C, 0x3299),
    (0x1F000, 0x1FAFF),
)


def clean(text: str) -> tuple[str, int]:
    """The text without invisible characters, and the number of removed runs that may be hidden text."""
    if text.isascii() and text.isprintable():
        return text, 0
    if not INVISIBLE.search(_unusual(text)):
        return text, 0
    reported = 0
    pieces: list[str] = []
    position = 0
    for found in INVISIBLE.finditer(text):
        run = found.group()
        kept = _visible_part(text, found.start(), found.end())
        reported += not kept and _is_payload(run)
        pieces += (text[position : found.start()], kept)
        position = found.end()
    pieces.append(text[position:])
    return "".join(pieces), reported


def _unusual(text: str) -> str:
    """The text without printable ASCII; much faster than testing each character."""
    unusual = text.encode("utf-8", "surrogatepass").translate(None, PRINTABLE_ASCII)
    return unusual.decode("utf-8", "surrogatepass")


def _visible_part(text: str, start: int, end: int) -> str:
    """The part of the run `text[start:end]` that is rendered or shapes its neighbours."""
    run = text[start:end]
    before = text[start - 1] if start else ""
    after = text[end] if end < len(text) else ""
    if before == "\U0001f3f4" and (flag := SUBDIVISION_FLAGS.match(text, start - 1)):
        return text[start : flag.end()]
    if run in ("\ufe0e", "\ufe0f"):
        return run if before in KEYCAPS or _in(before, EMOJI_RANGES) else ""
    if run in ("\u200d", "\ufe0f\u200d"):
        return run if _joins(before, after) else ""
    if run == "\u200c":
        return run if _in(before, JOINING_SCRIPTS) and _in(after, JOINING_SCRIPTS) else ""
    if len(run) == 1 and 0xE0100 <= ord(run) <= LAST_IDEOGRAPHIC:
        return run if _in(before, ((0x3400, 0x9FFF), (0x20000, 0x3FFFF))) else ""
    return ""


def _joins(before: str, after: str) -> bool:
    """Whether a zero-width joiner between these two combines them."""
    return any(
        _in(before, ranges) and _in(after, ranges) for ranges in (EMOJI_RANGES, JOINING_SCRIPTS)
    )


def _in(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return character != "" and any(low <= ord(character) <= high for low, high in ranges)


def _is_payload(run: str) -> bool:
    return len(run) > MAX_TYPOGRAPHY_RUN or not TYPOGRAPHY.issuperset(run)

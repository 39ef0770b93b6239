"""Text from the web → one line of plain characters, for use outside a fence: no Markdown, HTML or control characters.

Pure. What has a meaning in Markdown or HTML is left out where it is markup, and replaced by a similar sign where it may
be text: `<T>` reads `‹T›`, `2*3*4` reads `2∗3∗4`. Addresses are percent-encoded instead, so that they still work.
"""

import re
import unicodedata
from functools import lru_cache

from kindly.text import invisible

MAX_TITLE, MAX_SNIPPET, MAX_ADDRESS = 200, 500, 2_000
"""Characters of a title or heading, of a snippet, and of an address."""
MOST_MARKUP = 20
"""Characters that are looked at for each one that is shown; markup is longer than its text."""
ELLIPSIS = "…"

ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
COMMENT = re.compile(r"<!--.*?(?:-->|$)")
SILENT = re.compile(
    r"<(script|style|iframe|object|template|noscript)\b[^<>]*>.{0,2000}?</\1\s*>", re.IGNORECASE
)
"""Elements whose content is no text."""
ACTIVE = re.compile(
    r"<(?:(?:img|image|script|style|iframe|object|embed|svg|video|audio)[\s/]|[a-z][^<>]*[\s/\"']on[a-z]+\s*=)"
    r"[^<>]*(?:>|$)",
    re.IGNORECASE,
)
"""Tags that load or run something."""
PAIR = re.compile(r"<([a-z][a-z0-9]*)(?:\s[^<>]*)?>([^<>]*)</\1\s*>", re.IGNORECASE)
AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]*:[^\s<>]*)>", re.IGNORECASE)
OPENING = re.compile(r"<(?![\s=-]|$)")
CLOSING = re.compile(r"(?<![\s=-])(?<!^)>")
LINK = re.compile(
    r"(!?)\[([^\[\]]*)\]\(((?:[^()\s]|\([^()\s]*\))*)(?:\s+[\"'(][^()]*(?:\([^()]*\))?[^()]*)?\)"
)
CUT_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[a-z][a-z0-9+.-]*:|/)\S*$", re.IGNORECASE)
"""A link whose address was cut, as in a heading that is stored up to a length."""
TARGET = re.compile(r"[:/.#?]")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*]*[^\s*])\1(?![\w*])")
UNDERLINED = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^_]*[^\s_])\1(?!\w)")
STRUCK = re.compile(r"~{2,}")
STAR = re.compile(r"(?<!\*)\*{3}(?![\w*])|(?<=\S)\*|\*(?=\S)")
MASK = "***"
"""What stands for a secret is no emphasis."""
REFERENCE = re.compile(r"^(\[[^\]]*\]):")
LEADING = re.compile(r"^(?:(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$))\s*)+")
RULER = re.compile(r"[\s=_*~#>+-]*")
CREDENTIALS = re.compile(r"\b([a-z][a-z0-9+.-]{1,20}://)[^\s/?#@\\]{1,300}@", re.IGNORECASE)
REMEMBERED_LINES = 256
"""An answer is built several times until it fits, each time with the same titles and headings."""
NESTING = 3
"""Levels of markup inside markup that are resolved; deeper brackets are only replaced."""

AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]*:)//([^/?#\\]*)", re.IGNORECASE)
ADDRESS_SIGNS = frozenset("-._~:/?#@!$&'()*+,;=%")


def plain_line(text: str, limit: int) -> str:
    """At most `limit` characters of the text, as one plain line; an ellipsis shows that it was cut."""
    return _plain_line(text[: limit * MOST_MARKUP], limit)


@lru_cache(maxsize=REMEMBERED_LINES)
def _plain_line(text: str, limit: int) -> str:
    visible, _ = invisible.clean(text)
    line = ESCAPED.sub(r"\1", " ".join(unicodedata.normalize("NFC", visible).split()))
    line = _without_markdown(_without_html(CREDENTIALS.sub(r"\1", line)))
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - len(ELLIPSIS)].rstrip() + ELLIPSIS


def plain_address(url: str) -> str:
    """The address without user name and password, percent-encoded where it could imitate markup."""
    match = AUTHORITY.match(url)
    if match is None:
        return "".join(map(_encoded, url))
    scheme, authority = match.groups()
    host = authority.rpartition("@")[2]
    rest = url[match.end() :]
    if rest.startswith("\\"):
        rest = "/" + rest[1:]
    shown_host = "".join(sign if sign in "[]" else _encoded(sign) for sign in host)
    return f"{scheme}//{shown_host}{''.join(map(_encoded, rest))}"


def clipped_address(url: str) -> str:
    """The plain address, cut with an ellipsis if it is too long to show."""
    address = plain_address(url)
    return address if len(address) <= MAX_ADDRESS else address[: MAX_ADDRESS - 1] + ELLIPSIS


def _encoded(sign: str) -> str:
    """The character, percent-encoded unless it is a letter, a digit, or has a meaning in addresses."""
    if sign in ADDRESS_SIGNS or unicodedata.category(sign)[0] in "LMN":
        return sign
    return percent_encoded(sign)


def percent_encoded(sign: str) -> str:
    """The bytes of a character, each as a percent sign and two digits."""
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))


def _without_html(line: str) -> str:
    if "<" not in line and ">" not in line:
        return line
    line = ACTIVE.sub(" ", SILENT.sub(" ", COMMENT.sub(" ", line)))
    for _ in range(NESTING):
        line = PAIR.sub(r"\2", line)
    line = OPENING.sub("‹", AUTOLINK.sub(r"\1", line))
    return CLOSING.sub("›", line)


def _without_markdown(line: str) -> str:
    for _ in range(NESTING):
        line = LINK.sub(_link_text, line)
    line = CUT_LINK.sub(r"\1", line)
    line = line.replace("](", "] (").replace("][", "] [").replace("![", "[").replace("`", "")
    line = UNDERLINED.sub(_underlined, EMPHASIS.sub(r"\2", line))
    line = STRUCK.sub("", line).strip()
    if RULER.fullmatch(line):
        return ""
    line = REFERENCE.sub(r"\1 :", LEADING.sub("", line))
    hashes = len(line) - len(line.lstrip("#"))
    line = "＃" * hashes + line[hashes:]
    return STAR.sub(lambda match: MASK if match[0] == MASK else "∗", line)


def _link_text(match: re.Match[str]) -> str:
    """The text of a link or an image; code such as `f[0](x)` stays."""
    image, text, target = match.groups()
    return text if image or TARGET.search(target) else f"[{text}] {match[0][len(text) + 2 :]}"


def _underlined(match: re.Match[str]) -> str:
    """The text that underscores emphasise; a name such as `__init__` stays."""
    emphasised: str = match[2]
    return emphasised if " " in emphasised else match[0]

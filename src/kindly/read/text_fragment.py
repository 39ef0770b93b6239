"""Text fragments: a passage → a link that scrolls to it, `#:~:text=start,end`.

The passage is Markdown, the page is not: markup, addresses and code fences are removed. The words come from one line,
because a browser does not find text that spans two blocks.
"""

import re
from urllib.parse import quote

MARKUP = re.compile(
    r"!\[[^\]]*\]\([^)]*\)"  # images
    r"|\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\[(?=[^\[\]]*\]\()"  # the address of a link, and its bracket
    r"|[*`~]{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|\\(?=[^a-zA-Z0-9\s])|</?[a-zA-Z][^<>:]{0,200}>"
)
LINE_START = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+)?")
SEPARATOR = re.compile(r"^[\s|:*_-]*$")
FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
WORDS_EACH_END = 4
WHOLE_WORDS = 9
MAX_WHOLE = 120
"""Characters of a line without spaces that is used whole."""
CLAUSE = re.compile(r"[^，。、；：！？｡､,;:!?\s]{2,}")
MIN_CHARACTERS = 12


def text_fragment(url: str, text: str) -> str:
    """The address with a text fragment for the passage; without one if the passage has no words."""
    base = url.partition("#")[0]
    line = _best_line(text)
    if not line:
        return base
    words = line.split()
    if len(words) <= WHOLE_WORDS and len(line) > MAX_WHOLE:
        return base + _unspaced(line)
    if len(words) <= WHOLE_WORDS:
        return f"{base}#:~:text={_quoted(line)}"
    start, end = words[:WORDS_EACH_END], words[-WORDS_EACH_END:]
    return f"{base}#:~:text={_quoted(' '.join(start))},{_quoted(' '.join(end))}"


def _unspaced(line: str) -> str:
    """From the first clause to the last: a browser matches whole words, and clauses end at word boundaries."""
    first, *_, last = CLAUSE.findall(line) * 2
    return f"#:~:text={_quoted(first)}" + (f",{_quoted(last)}" if last != first else "")


def _best_line(text: str) -> str:
    """The first line that is long enough, or else the longest."""
    lines: list[str] = []
    for raw in text.splitlines():
        if FENCE.match(raw) or SEPARATOR.match(raw):
            continue
        lines.extend(_plain(cell) for cell in _cells(raw))
    for line in lines:
        if len(line) >= MIN_CHARACTERS:
            return line
    return max(lines, key=len, default="")


def _cells(line: str) -> list[str]:
    """The cells of a table row; any other line whole."""
    if line.lstrip().startswith("|"):
        return line.strip().strip("|").split("|")
    return [LINE_START.sub("", line)]


def _plain(line: str) -> str:
    return " ".join(MARKUP.sub("", line).split())


def _quoted(words: str) -> str:
    """Percent-encoded, including the hyphen, which has a meaning in text fragments."""
    return quote(words, safe="").replace("-", "%2D")

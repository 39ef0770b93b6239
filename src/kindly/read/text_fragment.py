"""A passage → a link that scrolls to it: `#:~:text=start,end`, in words that a reader sees on the page.

The passage is Markdown, the page is not: marks, addresses and code fences are taken off, and words are taken from one
line only, as a browser does not find a text that runs over two blocks.
"""

import re
from urllib.parse import quote

MARK = re.compile(
    r"!\[[^\]]*\]\([^)]*\)"  # images
    r"|\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\[(?=[^\[\]]*\]\()"  # the address of a link, and its bracket
    r"|[*`~]{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|\\(?=[^a-zA-Z0-9\s])|</?[a-zA-Z][^<>:]{0,200}>"
)
LEAD = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+)?")
RULE = re.compile(r"^[\s|:*_-]*$")
FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
WORDS_EACH_END = 4
WHOLE_WORDS = 9
MAX_WHOLE = 120
"""Characters of a line that is asked for whole, where it has no spaces to cut it at."""
CLAUSE = re.compile(r"[^，。、；：！？｡､,;:!?\s]{2,}")
MIN_CHARACTERS = 12


def text_fragment(url: str, text: str) -> str:
    """The address with a directive that finds the passage; the bare address if it has no words to find."""
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
    """From its first clause to its last: a browser finds whole words only, and only it knows where words end."""
    first, *_, last = CLAUSE.findall(line) * 2
    return f"#:~:text={_quoted(first)}" + (f",{_quoted(last)}" if last != first else "")


def _best_line(text: str) -> str:
    """The first line of prose that is long enough, else the longest of all."""
    lines: list[str] = []
    for raw in text.splitlines():
        if FENCE.match(raw) or RULE.match(raw):
            continue
        lines.extend(_plain(cell) for cell in _cells(raw))
    for line in lines:
        if len(line) >= MIN_CHARACTERS:
            return line
    return max(lines, key=len, default="")


def _cells(line: str) -> list[str]:
    """A table's row in its cells; any other line as it is."""
    if line.lstrip().startswith("|"):
        return line.strip().strip("|").split("|")
    return [LEAD.sub("", line)]


def _plain(line: str) -> str:
    return " ".join(MARK.sub("", line).split())


def _quoted(words: str) -> str:
    """Percent-encoded, with the characters that mean something in a directive too."""
    return quote(words, safe="").replace("-", "%2D")

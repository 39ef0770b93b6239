"""Texts → how well they agree: words, word groups, snippets, and structure that survived."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape

from turbohtml import Element, parse

TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
WORD = re.compile(r"\w+")
NOT_A_WORD = re.compile(r"[\W_]+")
FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
IMAGE = re.compile(r"!\[[^\]]*\]\((?:[^()]|\([^()]*\))*\)")
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,400}>")
LINE_MARK = re.compile(r"^\s*(?:>\s?|[-*+]\s+)*(?:#{1,6}\s+)?")
TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]*-{2,}[\s:|-]*\|?\s*$")
ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~<>$&:=])")
EMPHASIS = re.compile(r"\*+|`+|~~|(?<!\w)_+|_+(?!\w)")
HEADING_LINE = re.compile(r"^\s*#{1,6}\s")
ITEM_LINE = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(.*)")
SHINGLE = 4
MOST_TARGETS = 40
KINDS = ("code", "table", "heading", "item", "link")

Score = tuple[float, float, float]
"""Precision, recall and their harmonic mean."""
Targets = dict[str, list[object]]


def plain(markdown: str) -> str:
    """The words a reader of this Markdown sees; code as it stands."""
    lines: list[str] = []
    for line, in_code in _lines(markdown):
        if in_code:
            lines.append(line)
        elif not TABLE_RULE.match(line):
            lines.append(_plain_line(line))
    return "\n".join(lines)


def _plain_line(line: str) -> str:
    line = LINK.sub(r"\1", LINK.sub(r"\1", IMAGE.sub(" ", line)))
    line = LINE_MARK.sub("", TAG.sub(" ", line))
    if line.count("|") > 1:
        line = re.sub(r"(?<!\\)\|", " ", line)
    return unescape(EMPHASIS.sub("", ESCAPE.sub(r"\1", line)))


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """The lines outside fences, and with True those inside; the fences themselves go."""
    fence = ""
    for line in markdown.split("\n"):
        found = FENCE.match(line)
        if not fence and found:
            fence = found.group(1)
        elif fence and found and found.group(1).startswith(fence):
            fence = ""
        else:
            yield line, bool(fence)


def agreement(hits: float, given: float, wanted: float) -> Score:
    """Precision, recall, F1 from counts."""
    precision = hits / given if given else 0.0
    recall = hits / wanted if wanted else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def word_score(text: str, truth: str) -> Score:
    """Agreement of two texts as bags of words."""
    given, wanted = Counter(TOKEN.findall(text.lower())), Counter(TOKEN.findall(truth.lower()))
    return agreement((given & wanted).total(), given.total(), wanted.total())


def shingle_score(text: str, truth: str) -> Score:
    """Agreement of two texts as bags of four-word groups."""
    given, wanted = _shingles(text), _shingles(truth)
    return agreement((given & wanted).total(), given.total(), wanted.total())


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = WORD.findall(text)
    count = max(1, len(words) - SHINGLE + 1)
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(count) if words)


def snippet_counts(
    text: str, wanted: Iterable[str], unwanted: Iterable[str]
) -> tuple[int, int, int]:
    """How many wanted snippets are there, how many unwanted ones, and how many wanted ones there are."""
    whole = " ".join(text.split())
    needles = [" ".join(snippet.split()) for snippet in wanted]
    thorns = [" ".join(snippet.split()) for snippet in unwanted]
    return sum(n in whole for n in needles), sum(n in whole for n in thorns), len(needles)


def _norm(text: str) -> str:
    return NOT_A_WORD.sub(" ", text.lower()).strip()


def structure_targets(markup: str, truth: str) -> Targets:
    """What of a page's structure is in its truth: code, table rows, headings, list items, links in running text."""
    document = parse(markup, positions=False)
    document.remove("script, style, noscript, template, svg, nav, footer, aside")
    hay = f" {_norm(truth)} "
    lines = {
        _norm(re.sub(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+", "", line)) for line in truth.split("\n")
    }
    found: Targets = {
        "code": [
            pre.text.strip("\n")
            for pre in document.select("pre")
            if len(_norm(pre.text)) > 14 and f" {_norm(pre.text)} " in hay
        ],
        "table": [row for table in document.select("table") for row in _rows(table, hay)],
        "heading": _standing(document.select("h1, h2, h3, h4, h5, h6"), lines, 3, 150),
        "item": _standing(
            [li for li in document.select("li") if li.select_one("ul, ol, p, div, pre") is None],
            lines,
            9,
            300,
        ),
        "link": [
            _norm(link.text)
            for link in document.select("p a[href^=http], p a[href^='/'], dd a[href^=http]")
            if 5 < len(_norm(link.text)) < 120 and _in_prose(link, hay)
        ],
    }
    return {kind: targets[:MOST_TARGETS] for kind, targets in found.items()}


def _standing(elements: Iterable[Element], lines: set[str], least: int, most: int) -> list[object]:
    keys = dict.fromkeys(_norm(element.text) for element in elements)
    return [key for key in keys if least <= len(key) < most and key in lines]


def _rows(table: Element, hay: str) -> Iterator[object]:
    if table.select_one("table, pre") is not None:
        return
    for row in table.select("tr"):
        cells = [key for cell in row.select("td, th") if (key := _norm(cell.text))]
        if len(cells) > 1 and all(f" {cell} " in hay for cell in cells):
            yield " ".join(cells)


def _in_prose(link: Element, hay: str) -> bool:
    around = link.closest("p, dd")
    text = _norm(around.text) if around is not None else ""
    return len(text) > 1.5 * len(link.text) + 10 and f" {text} " in hay


def structure_kept(markdown: str, targets: Targets) -> dict[str, tuple[int, int]]:
    """For each kind how many targets the Markdown still has as such, and how many there are."""
    bare = LINK.sub(r"\1", IMAGE.sub(" ", markdown)).split("\n")
    code = {line.rstrip() for line, in_code in _lines(markdown) if in_code}
    shown = {
        "table": [f" {_norm(TAG.sub(' ', line))} " for line in bare if "|" in line],
        "heading": {_norm(line) for line in bare if HEADING_LINE.match(line)},
        "item": {_norm(found.group(1)) for line in bare if (found := ITEM_LINE.match(line))},
        "link": {_norm(label) for label in LINK.findall(markdown)},
    }
    kept: dict[str, tuple[int, int]] = {}
    for kind, wanted in targets.items():
        if kind == "code":
            held = sum(_holds_code(code, str(target)) for target in wanted)
        elif kind == "table":
            held = sum(any(f" {target} " in row for row in shown["table"]) for target in wanted)
        else:
            held = sum(target in shown[kind] for target in wanted)
        kept[kind] = (held, len(wanted))
    return kept


def _holds_code(code: set[str], target: str) -> bool:
    """Whether nearly all lines are in code blocks as they were, indentation included."""
    lines = [line.rstrip() for line in target.split("\n") if line.strip()]
    return sum(line in code for line in lines) >= 0.9 * len(lines)

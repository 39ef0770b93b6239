"""Scores of extracted text against the ground truth: words, word 4-grams, snippets and kept structure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from statistics import fmean
from typing import NamedTuple

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
MAX_TARGETS = 40
KINDS = ("code", "table", "heading", "item", "link")

Targets = dict[str, list[object]]


class Score(NamedTuple):
    """Precision, recall and F1."""

    precision: float
    recall: float
    f1: float


def plain(markdown: str) -> str:
    """The words of Markdown without its marks; code is verbatim."""
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
    """The lines without fences, each with whether it is code."""
    fence = ""
    for line in markdown.split("\n"):
        found = FENCE.match(line)
        if not fence and found:
            fence = found.group(1)
        elif fence and found and found.group(1).startswith(fence):
            fence = ""
        else:
            yield line, bool(fence)


def score_of(hits: float, given: float, wanted: float) -> Score:
    """Precision, recall and F1 from counts."""
    precision = hits / given if given else 0.0
    recall = hits / wanted if wanted else 0.0
    both = precision + recall
    return Score(precision, recall, 2 * precision * recall / both if both else 0.0)


def mean_score(scores: Sequence[Score]) -> Score:
    """The mean of each part of the scores."""
    return Score(*map(fmean, zip(*scores, strict=True)))


def word_score(text: str, truth: str) -> Score:
    """The score of two texts as bags of words."""
    given, wanted = Counter(TOKEN.findall(text.lower())), Counter(TOKEN.findall(truth.lower()))
    return score_of((given & wanted).total(), given.total(), wanted.total())


def shingle_score(text: str, truth: str) -> Score:
    """The score of two texts as bags of word 4-grams."""
    given, wanted = _shingles(text), _shingles(truth)
    return score_of((given & wanted).total(), given.total(), wanted.total())


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = WORD.findall(text)
    count = max(1, len(words) - SHINGLE + 1)
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(count) if words)


def snippet_counts(
    text: str, wanted: Iterable[str], unwanted: Iterable[str]
) -> tuple[int, int, int]:
    """The number of wanted and unwanted snippets in the text, and of all wanted ones."""
    normalised = " ".join(text.split())
    wanted_texts = [" ".join(snippet.split()) for snippet in wanted]
    unwanted_texts = [" ".join(snippet.split()) for snippet in unwanted]
    hits = sum(snippet in normalised for snippet in wanted_texts)
    false_hits = sum(snippet in normalised for snippet in unwanted_texts)
    return hits, false_hits, len(wanted_texts)


def _normalised(text: str) -> str:
    return NOT_A_WORD.sub(" ", text.lower()).strip()


def structure_targets(markup: str, truth: str) -> Targets:
    """The structure in the ground truth of a page: code, table rows, headings, list items, links in prose."""
    document = parse(markup, positions=False)
    document.remove("script, style, noscript, template, svg, nav, footer, aside")
    haystack = f" {_normalised(truth)} "
    lines = {
        _normalised(re.sub(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+", "", line))
        for line in truth.split("\n")
    }
    found: Targets = {
        "code": [
            pre.text.strip("\n")
            for pre in document.select("pre")
            if len(_normalised(pre.text)) > 14 and f" {_normalised(pre.text)} " in haystack
        ],
        "table": [row for table in document.select("table") for row in _rows(table, haystack)],
        "heading": _on_own_line(document.select("h1, h2, h3, h4, h5, h6"), lines, 3, 150),
        "item": _on_own_line(
            [li for li in document.select("li") if li.select_one("ul, ol, p, div, pre") is None],
            lines,
            9,
            300,
        ),
        "link": [
            _normalised(link.text)
            for link in document.select("p a[href^=http], p a[href^='/'], dd a[href^=http]")
            if 5 < len(_normalised(link.text)) < 120 and _in_prose(link, haystack)
        ],
    }
    return {kind: targets[:MAX_TARGETS] for kind, targets in found.items()}


def _on_own_line(
    elements: Iterable[Element], lines: set[str], least: int, most: int
) -> list[object]:
    keys = dict.fromkeys(_normalised(element.text) for element in elements)
    return [key for key in keys if least <= len(key) < most and key in lines]


def _rows(table: Element, haystack: str) -> Iterator[object]:
    if table.select_one("table, pre") is not None:
        return
    for row in table.select("tr"):
        cells = [key for cell in row.select("td, th") if (key := _normalised(cell.text))]
        if len(cells) > 1 and all(f" {cell} " in haystack for cell in cells):
            yield " ".join(cells)


def _in_prose(link: Element, haystack: str) -> bool:
    around = link.closest("p, dd")
    text = _normalised(around.text) if around is not None else ""
    return len(text) > 1.5 * len(link.text) + 10 and f" {text} " in haystack


def structure_kept(markdown: str, targets: Targets) -> dict[str, tuple[int, int]]:
    """For each kind the number of targets that the Markdown keeps, and the number of all."""
    bare = LINK.sub(r"\1", IMAGE.sub(" ", markdown)).split("\n")
    code = {line.rstrip() for line, in_code in _lines(markdown) if in_code}
    shown = {
        "table": [f" {_normalised(TAG.sub(' ', line))} " for line in bare if "|" in line],
        "heading": {_normalised(line) for line in bare if HEADING_LINE.match(line)},
        "item": {_normalised(found.group(1)) for line in bare if (found := ITEM_LINE.match(line))},
        "link": {_normalised(label) for label in LINK.findall(markdown)},
    }
    kept: dict[str, tuple[int, int]] = {}
    for kind, wanted in targets.items():
        if kind == "code":
            kept_count = sum(_has_code(code, str(target)) for target in wanted)
        elif kind == "table":
            kept_count = sum(
                any(f" {target} " in row for row in shown["table"]) for target in wanted
            )
        else:
            kept_count = sum(target in shown[kind] for target in wanted)
        kept[kind] = (kept_count, len(wanted))
    return kept


def _has_code(code: set[str], target: str) -> bool:
    """Whether nearly all lines are in code blocks verbatim, including indentation."""
    lines = [line.rstrip() for line in target.split("\n") if line.strip()]
    return sum(line in code for line in lines) >= 0.9 * len(lines)

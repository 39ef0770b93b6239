"""Training pages: blocks as the product segments them, labelled with the share of each that is in the ground truth."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

from turbohtml import Document, Element

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions, html
from kindly.extract.content.blocks import Blocks, read_blocks
from kindly.extract.content.page_kind import Hints
from kindly.extract.repeats import copies

TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
SHINGLE = 4
NEIGHBOURS = 6
MIN_COVER = 0.3


@dataclass(slots=True)
class TrainingPage:
    """One page with its ground truth."""

    source: str
    """The name of its data set."""
    site: str
    page_type: str
    blocks: Blocks
    hints: Hints
    tokens: list[list[str]]
    truth: Counter[str]
    labels: list[float]
    """The share of each block that is content."""


def site_of(url: str) -> str:
    """The registrable domain, approximately: the last two labels, or three below a short second level."""
    labels = (urlsplit(url).hostname or url).split(".")
    keep = 3 if len(labels) > 2 and len(labels[-2]) <= 3 and len(labels[-1]) == 2 else 2
    return ".".join(labels[-keep:])


def tokens_of(text: str) -> list[str]:
    """Words, and single characters where a script has no spaces."""
    return TOKEN.findall(text.lower())


def read_rows(path: Path) -> Iterator[dict[str, object]]:
    """The lines of a data set."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def blocks_of(markup: str, url: str) -> tuple[Blocks, Hints] | None:
    """The blocks and hints that the product passes to main content extraction; None if it refuses the page earlier."""
    captured: list[tuple[Blocks, Hints]] = []

    def capture(document: Document, hints: Hints = Hints()) -> Element:  # noqa: B008
        body = document.select_one("body") or Element("body")
        captured.append((read_blocks(body), hints))
        return body

    with patch.object(html, "main_content", capture), suppress(KindlyError):
        html.read_html(markup, ExtractOptions(), url)
    return captured[0] if captured else None


def read_pages(data: Path, source: str) -> Iterator[TrainingPage]:
    """The pages of a data set that have a ground truth."""
    for row in read_rows(data / source / "dev.jsonl.gz"):
        truth = row["truth"]
        if isinstance(truth, dict) and truth.get("text"):
            yield training_page(row, source, truth["text"])


def training_page(row: dict[str, object], source: str, truth_text: str) -> TrainingPage:
    """A line of a data set as a training page; a page without text has no blocks."""
    url = str(row["url"] or f"https://{row['id']}.example/")
    blocks, hints = blocks_of(str(row["html"]), url) or (Blocks(), Hints())
    tokens = [tokens_of(text) for text in blocks.texts]
    labels = label_once(blocks.texts, tokens, truth_text)
    blocks.elements, blocks.nodes = [], []
    return TrainingPage(
        source,
        site_of(url),
        str(row["page_type"]),
        blocks,
        hints,
        tokens,
        Counter(tokens_of(truth_text)),
        labels,
    )


def label_once(texts: list[str], tokens: list[list[str]], truth_text: str) -> list[float]:
    """The labels of the blocks; a copy, which the product drops, has the label of the original."""
    found = copies(texts, [True] * len(texts))
    labels = label([[] if at in found else words for at, words in enumerate(tokens)], truth_text)
    for at, original in found.items():
        labels[at] = labels[original]
    return labels


def label(blocks: list[list[str]], truth_text: str) -> list[float]:
    """For each block the share of its words that is in the ground truth; each word of the truth is used once.

    Blocks are matched in order of trust: long blocks that occur verbatim in the truth first, then short blocks, which
    may match by chance, with those near content before others.
    """
    truth = tokens_of(truth_text)
    lines = {tuple(tokens_of(line)) for line in truth_text.split("\n")}
    shingles = {
        size: {tuple(truth[i : i + size]) for i in range(len(truth) - size + 1)}
        for size in range(1, SHINGLE + 1)
    }
    cover = [_cover(tokens, shingles, lines) for tokens in blocks]
    weight = [min(len(tokens), 40) for tokens in blocks]
    left = Counter(truth)

    def density(index: int) -> float:
        near = range(max(0, index - NEIGHBOURS), min(len(blocks), index + NEIGHBOURS + 1))
        mass = sum(weight[i] for i in near if i != index)
        return sum(weight[i] * cover[i] for i in near if i != index) / mass if mass else 0.0

    densities = [density(index) for index in range(len(blocks))]
    trust = [
        cover[i] * min(len(blocks[i]), 20) / 20 + densities[i] * (1.0 if cover[i] else 0.0)
        for i in range(len(blocks))
    ]
    labels = [0.0] * len(blocks)
    for index in sorted(range(len(blocks)), key=lambda i: -trust[i]):
        tokens = blocks[index]
        if not tokens or cover[index] < MIN_COVER:
            continue
        matched = Counter(tokens) & left
        share = sum(matched.values()) / len(tokens)
        if share >= MIN_COVER:
            left -= matched
            labels[index] = share
    return labels


def _cover(
    tokens: list[str],
    shingles: dict[int, set[tuple[str, ...]]],
    lines: set[tuple[str, ...]],
) -> float:
    """The share of a block's words that are part of a word shingle of the ground truth."""
    if not tokens:
        return 0.0
    if tuple(tokens) in lines:
        return 1.0
    size = min(SHINGLE, len(tokens))
    known = shingles[size]
    covered = [False] * len(tokens)
    for i in range(len(tokens) - size + 1):
        if tuple(tokens[i : i + size]) in known:
            covered[i : i + size] = [True] * size
    share = sum(covered) / len(tokens)
    return share if size == SHINGLE else share * 0.8

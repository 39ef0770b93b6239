"""Our extractor beside those on PyPI: agreement with the truth by page type, structure kept, speed, failures.

    python -m bench.extract [--data ../shared/data/extract] [--set wcxb] [--limit 200] [--only kindly,trafilatura]

Every extractor reads every page in one run. Speed is CPU time as a multiple of lexbor's parse of the same page at the
same moment. Extractors that are not installed are named and left out. `wcxb` is what the shipped model was trained on:
for pages it has not seen, see the cross-validation that `python -m tools.train_extractor --check` prints.
"""

import argparse
import gzip
import json
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from turbohtml import parse

from bench.extract_scores import (
    KINDS,
    Score,
    agreement,
    plain,
    shingle_score,
    snippet_counts,
    structure_kept,
    structure_targets,
    word_score,
)

SHARED = Path(__file__).parents[1] / "../shared/data/extract"
NOWHERE = "https://unknown.example/"
Extractor = Callable[[str, str], str]
T = TypeVar("T")


def kindly() -> Extractor:
    """This project."""
    from kindly.extract import ExtractOptions
    from kindly.extract.html import read_html

    return lambda markup, url: read_html(markup, ExtractOptions(), url).text


def trafilatura() -> Extractor:
    """trafilatura, Markdown."""
    from trafilatura import extract

    return lambda markup, url: (
        extract(markup, url=url, output_format="markdown", include_links=True) or ""
    )


def rs_trafilatura() -> Extractor:
    """rs-trafilatura, Markdown."""
    extract = import_module("rs_trafilatura").extract
    return lambda markup, url: extract(markup, url=url, output_markdown=True).content_markdown or ""


def resiliparse() -> Extractor:
    """resiliparse, plain text."""
    extract = import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda markup, _: str(extract(markup, main_content=True))


def readability_lxml() -> Extractor:
    """readability-lxml, its HTML rendered by us."""
    document = import_module("readability").Document
    return lambda markup, _: parse(document(markup).summary(html_partial=True)).to_markdown()


def html_to_markdown() -> Extractor:
    """html-to-markdown: the whole page, without a choice of content."""
    from html_to_markdown import convert

    def read(markup: str, _: str) -> str:
        result = convert(markup)
        return str(getattr(result, "content", result) or "")

    return read


EXTRACTORS: tuple[Callable[[], Extractor], ...] = (
    kindly,
    trafilatura,
    rs_trafilatura,
    resiliparse,
    readability_lxml,
    html_to_markdown,
)


@dataclass(slots=True)
class Tally:
    """What one extractor did over a data set."""

    words: dict[str, list[Score]] = field(default_factory=lambda: defaultdict(list))
    shingles: list[Score] = field(default_factory=list)
    snippets: list[tuple[int, int, int]] = field(default_factory=list)
    structure: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    ratios: list[float] = field(default_factory=list)
    empty: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Truth:
    """What a page should give."""

    page_type: str
    text: str
    wanted: list[str]
    unwanted: list[str]
    targets: dict[str, list[object]]


def cpu_ms(work: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and the CPU milliseconds it took."""
    before = time.process_time()
    result = work()
    return result, (time.process_time() - before) * 1e3


def read_set(path: Path, limit: int) -> Iterator[dict[str, object]]:
    """The pages of a set, or a fixed random part of them."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(lines)
    if limit:
        rows = random.Random(7).sample(rows, min(limit, len(rows)))
    yield from map(json.loads, rows)


def truth_of(row: dict[str, object]) -> Truth:
    """The truth of a line, with the structure to be kept."""
    truth = row["truth"]
    assert isinstance(truth, dict)
    text = truth.get("text") or plain(truth.get("markdown") or "")
    return Truth(
        str(row["page_type"]),
        text,
        truth.get("with") or [],
        truth.get("without") or [],
        structure_targets(str(row["html"]), text) if text else {},
    )


def run(extract: Extractor, markup: str, url: str, tally: Tally) -> str:
    """What an extractor gives; a failure is counted and gives nothing."""
    try:
        text = extract(markup, url)
    except Exception:  # noqa: BLE001  whatever an extractor raises is a result here
        tally.failed += 1
        return ""
    tally.empty += not text.strip()
    return text


def score(tally: Tally, output: str, truth: Truth) -> None:
    """Add a page's result."""
    text = plain(output)
    if truth.text:
        tally.words[truth.page_type].append(word_score(text, truth.text))
        tally.shingles.append(shingle_score(text, truth.text))
        for kind, counts in structure_kept(output, truth.targets).items():
            tally.structure[kind].append(counts)
    if truth.wanted or truth.unwanted:
        tally.snippets.append(snippet_counts(text, truth.wanted, truth.unwanted))


def measure(
    rows: Iterator[dict[str, object]], extractors: dict[str, Extractor]
) -> dict[str, Tally]:
    """Every extractor over every page."""
    from selectolax.lexbor import LexborHTMLParser

    tallies = {name: Tally() for name in extractors}
    for row in rows:
        markup, url, truth = str(row["html"]), str(row["url"] or NOWHERE), truth_of(row)
        for name, extract in extractors.items():
            floor = cpu_ms(partial(LexborHTMLParser, markup))[1]
            output, spent = cpu_ms(partial(run, extract, markup, url, tallies[name]))
            tallies[name].ratios.append(spent / max(floor, 1e-3))
            score(tallies[name], output, truth)
    return tallies


def show(name: str, tally: Tally) -> None:
    """Print one extractor's figures."""
    ratios = sorted(tally.ratios)
    print(
        f"{name:18} empty {tally.empty}  failed {tally.failed}  CPU {statistics.median(ratios):.1f} x lexbor"
        f" (p95 {ratios[int(len(ratios) * 0.95)]:.1f})"
    )
    pages = [page for pages in tally.words.values() for page in pages]
    if pages:
        precision, recall, f1 = (statistics.fmean(page[at] for page in pages) for at in range(3))
        kinds = {k: statistics.fmean(p[2] for p in v) for k, v in sorted(tally.words.items())}
        print(
            f"  words F1 {f1:.3f}  P {precision:.3f}  R {recall:.3f}  macro {statistics.fmean(kinds.values()):.3f}"
        )
        print("  " + "  ".join(f"{kind} {mean:.3f}" for kind, mean in kinds.items()))
        given, wanted = (statistics.fmean(s[at] for s in tally.shingles) for at in range(2))
        print(f"  4-gram F1 {statistics.harmonic_mean((given, wanted)):.3f}")
        totals = {k: [sum(c[at] for c in tally.structure[k]) for at in (0, 1)] for k in KINDS}
        print(
            "  kept: " + "  ".join(f"{k} {a / b:.2f} of {b}" for k, (a, b) in totals.items() if b)
        )
    if tally.snippets:
        hits, thorns, wanted_count = (
            sum(counts[at] for counts in tally.snippets) for at in range(3)
        )
        precision, recall, f1 = agreement(hits, hits + thorns, wanted_count)
        print(f"  snippets F1 {f1:.3f}  P {precision:.3f}  R {recall:.3f}")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--set", default="wcxb")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    path = options.data / options.set / "dev.jsonl.gz"
    if not path.is_file():
        parser.exit(2, f"There is no data set {options.set} in {options.data}.\n")
    extractors: dict[str, Extractor] = {}
    for make in EXTRACTORS:
        if options.only and make.__name__ not in options.only.split(","):
            continue
        try:
            extractors[make.__name__] = make()
        except ImportError:
            print(f"{make.__name__:18} not installed")
    for name, tally in measure(read_set(path, options.limit), extractors).items():
        show(name, tally)


if __name__ == "__main__":
    main()

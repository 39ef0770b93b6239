"""Benchmark of extractors: F1 against the ground truth by page type, kept structure, speed and failures.

    python -m bench.extract [--data ../shared/data/extract] [--set wcxb] [--limit 200] [--only kindly,trafilatura]

Every extractor reads every page in one run. Speed is CPU time relative to lexbor's parse of the same page, measured
directly before. Extractors that are not installed are skipped. The shipped model was trained on `wcxb`: for unseen
pages, see the cross-validation of `python -m tools.train_extractor --check`.

A page counts as refused if Kindly names a reason (a bot check, no text without scripts), and as failed if an extractor
raises any other exception.
"""

import argparse
import gzip
import json
import random
import statistics
import time
from collections import Counter, defaultdict
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
    mean_score,
    plain,
    score_of,
    shingle_score,
    snippet_counts,
    structure_kept,
    structure_targets,
    word_score,
)
from kindly.errors import KindlyError

SHARED = Path(__file__).parents[1] / "../shared/data/extract"
DEFAULT_URL = "https://unknown.example/"
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
    """The results of one extractor over a data set."""

    words: dict[str, list[Score]] = field(default_factory=lambda: defaultdict(list))
    shingles: list[Score] = field(default_factory=list)
    snippets: list[tuple[int, int, int]] = field(default_factory=list)
    structure: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    ratios: list[float] = field(default_factory=list)
    empty: int = 0
    refused: list[str] = field(default_factory=list)
    """The reasons."""
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Truth:
    """The ground truth of a page."""

    page_type: str
    text: str
    wanted: list[str]
    unwanted: list[str]
    targets: dict[str, list[object]]


def cpu_ms(work: Callable[[], T]) -> tuple[T, float]:
    """The result of a call, and its CPU time in milliseconds."""
    before = time.process_time()
    result = work()
    return result, (time.process_time() - before) * 1e3


def read_set(path: Path, limit: int) -> Iterator[dict[str, object]]:
    """The pages of a set, or a fixed random sample."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(lines)
    if limit:
        rows = random.Random(7).sample(rows, min(limit, len(rows)))
    yield from map(json.loads, rows)


def truth_of(row: dict[str, object]) -> Truth:
    """The ground truth of a line, with the structure to keep."""
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
    """The output of an extractor; a refusal or a failure is counted and has no output."""
    try:
        text = extract(markup, url)
    except KindlyError as error:
        tally.refused.append(type(error).__name__)
        return ""
    except Exception:  # noqa: BLE001  any exception of an extractor is a result
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
    """Run every extractor on every page."""
    from selectolax.lexbor import LexborHTMLParser

    tallies = {name: Tally() for name in extractors}
    for row in rows:
        markup, url, truth = str(row["html"]), str(row["url"] or DEFAULT_URL), truth_of(row)
        for name, extract in extractors.items():
            parse_ms = cpu_ms(partial(LexborHTMLParser, markup))[1]
            output, extract_ms = cpu_ms(partial(run, extract, markup, url, tallies[name]))
            tallies[name].ratios.append(extract_ms / max(parse_ms, 1e-3))
            score(tallies[name], output, truth)
    return tallies


def show(name: str, tally: Tally) -> None:
    """Print one extractor's figures."""
    ratios = sorted(tally.ratios)
    print(
        f"{name:18} empty {tally.empty}  refused {len(tally.refused)}  failed {tally.failed}"
        f"  CPU {statistics.median(ratios):.1f} x lexbor (p95 {ratios[int(len(ratios) * 0.95)]:.1f})"
    )
    for reason, count in Counter(tally.refused).most_common():
        print(f"  refused: {reason} {count}")
    pages = [page for pages in tally.words.values() for page in pages]
    if pages:
        mean = mean_score(pages)
        kinds = {k: mean_score(scores).f1 for k, scores in sorted(tally.words.items())}
        print(
            f"  words F1 {mean.f1:.3f}  P {mean.precision:.3f}  R {mean.recall:.3f}"
            f"  macro {statistics.fmean(kinds.values()):.3f}"
        )
        print("  " + "  ".join(f"{kind} {f1:.3f}" for kind, f1 in kinds.items()))
        shingles = mean_score(tally.shingles)
        f1 = statistics.harmonic_mean((shingles.precision, shingles.recall))
        print(f"  4-gram F1 {f1:.3f}")
        totals = {
            k: (sum(kept for kept, _ in tally.structure[k]), sum(n for _, n in tally.structure[k]))
            for k in KINDS
        }
        print(
            "  kept: " + "  ".join(f"{k} {a / b:.2f} of {b}" for k, (a, b) in totals.items() if b)
        )
    if tally.snippets:
        hits, false_hits, expected = map(sum, zip(*tally.snippets, strict=True))
        snippets = score_of(hits, hits + false_hits, expected)
        print(
            f"  snippets F1 {snippets.f1:.3f}  P {snippets.precision:.3f}  R {snippets.recall:.3f}"
        )


def main() -> None:
    """Parse the arguments and measure."""
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

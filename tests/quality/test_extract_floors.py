"""Quality floors of extraction: word F1 against the ground truth, and kept structure. Floors only go up."""

import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import fmean

import pytest
from bench.extract_scores import plain, structure_kept, structure_targets, word_score

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.html import read_html
from tests.support.paths import SHARED_DATA
from tests.support.shared_data import REASON

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
OWN_FLOOR = 0.98
OWN_WORST = 0.85
DEV = SHARED_DATA / "extract"
DEV_FLOORS = {"wcxb": 0.917, "scrapinghub": 0.985, "readability": 0.977}
STRUCTURE_FLOORS = {"code": 0.98, "table": 0.99, "heading": 0.96, "item": 0.958, "link": 0.988}
"""The share of the structure of WCXB pages that is kept."""
EVERY = {"wcxb": 22, "scrapinghub": 4, "readability": 4}
"""Every n-th page is read, to save time."""


def text_of(markup: str, url: str) -> str:
    try:
        return read_html(markup, ExtractOptions(), url).text
    except KindlyError:
        return ""


def score(markup: str, truth: str, url: str) -> float:
    return word_score(plain(text_of(markup, url)), truth).f1


def own_score(path: Path) -> float:
    truth = path.with_suffix(".txt").read_text(encoding="utf-8")
    markup = path.read_text(encoding="utf-8")
    return score(markup, truth, f"https://site.example/{path.stem}")


def test_own_pages_of_every_type_reach_the_floor() -> None:
    scores = {path.stem: own_score(path) for path in PAGES}
    assert len({name.split("-")[0] for name in scores}) == 7
    assert fmean(scores.values()) >= OWN_FLOOR
    assert min(scores.values()) >= OWN_WORST, scores


def dev_pages(name: str) -> list[tuple[str, str, str]]:
    """Markup, ground truth and URL of a part of a data set."""
    path = DEV / name / "dev.jsonl.gz"
    if not path.is_file():
        pytest.skip(REASON)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, EVERY[name])]
    return [
        (row["html"], row["truth"]["text"], row["url"] or "https://site.example/")
        for row in rows
        if row["truth"].get("text")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DEV_FLOORS))
def test_public_pages_reach_the_floor(name: str) -> None:
    assert fmean(score(*page) for page in dev_pages(name)) >= DEV_FLOORS[name]


@pytest.mark.slow
def test_kept_structure_of_public_pages_reaches_the_floor() -> None:
    kept: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for markup, truth, url in dev_pages("wcxb"):
        targets = structure_targets(markup, truth)
        for kind, (kept_count, count) in structure_kept(text_of(markup, url), targets).items():
            kept[kind] += kept_count
            wanted[kind] += count
    shares = {kind: kept[kind] / wanted[kind] for kind in STRUCTURE_FLOORS}
    assert all(shares[kind] >= floor for kind, floor in STRUCTURE_FLOORS.items()), shares

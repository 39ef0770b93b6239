"""Quality floors of extraction: word F1 against the ground truth, and kept structure. Floors only go up."""

import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from bench.extract_scores import plain, structure_kept, structure_targets, word_score
from turbohtml import parse

from kindly.errors import KindlyError, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.html import read_html
from tests.support.paths import SHARED_DATA
from tests.support.shared_data import REASON

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
OWN_FLOOR = 0.98
OWN_WORST = 0.85
DEV = SHARED_DATA / "extract"
DEV_FLOORS = {"wcxb": 0.917, "scrapinghub": 0.985, "readability": 0.9765}
STRUCTURE_FLOORS = {"code": 0.985, "table": 0.995, "heading": 0.969, "item": 0.958, "link": 0.99}
"""The share of the structure of WCXB pages that is kept."""
EVERY = {"wcxb": 22, "scrapinghub": 4, "readability": 4}
"""Every n-th page is read, to save time."""
EVERY_READ = {"wcxb": 40, "magic_html": 8, "trafilatura_eval": 30, "defuddle": 6}


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


def rows(name: str, every: int) -> list[dict[str, Any]]:
    """Every n-th line of a data set."""
    path = DEV / name / "dev.jsonl.gz"
    if not path.is_file():
        pytest.skip(REASON)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, 0, None, every)]


def dev_pages(name: str) -> list[tuple[str, str, str]]:
    """Markup, ground truth and URL of a part of a data set."""
    return [
        (row["html"], row["truth"]["text"], row["url"] or "https://site.example/")
        for row in rows(name, EVERY[name])
        if row["truth"].get("text")
    ]


def has_text(markup: str) -> bool:
    """Whether the body of a page has text without scripts."""
    document = parse(markup, positions=False)
    document.remove("head, script, style, template, noscript")
    return bool(document.text.strip())


def read(row: dict[str, Any]) -> str:
    """The extract of a page, or the name of the wall that it shows instead."""
    try:
        return read_html(row["html"], ExtractOptions(), row["url"] or "https://site.example/").text
    except PageWalled as error:
        return str(error.kind)
    except NoContent:
        return ""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DEV_FLOORS))
def test_public_pages_reach_the_floor(name: str) -> None:
    assert fmean(score(*page) for page in dev_pages(name)) >= DEV_FLOORS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EVERY_READ))
def test_every_public_page_with_text_has_an_extract(name: str) -> None:
    pages = rows(name, EVERY_READ[name])
    assert pages
    empty = [row["id"] for row in pages if has_text(row["html"]) and not read(row)]
    assert empty == []


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

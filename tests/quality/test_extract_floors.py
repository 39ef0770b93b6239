"""Quality that may not fall: word F1 of the text against what a person would call the content. Floors only go up."""

import gzip
import json
from itertools import islice
from pathlib import Path
from statistics import fmean

import pytest
from bench.extract_scores import plain, word_score

from kindly.errors import KindlyError
from kindly.extract.html import read_html
from kindly.extract.options import ExtractOptions

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
OWN_FLOOR = 0.95
OWN_WORST = 0.80
DEV = Path(__file__).parents[2] / ".." / "shared" / "data" / "extract"
DEV_FLOORS = {"wcxb": 0.88, "scrapinghub": 0.95, "readability": 0.92}
EVERY = {"wcxb": 22, "scrapinghub": 4, "readability": 4}
"""One page in so many is read, to stay quick."""


def score(markup: str, truth: str, url: str) -> float:
    try:
        text = read_html(markup, ExtractOptions(), url).text
    except KindlyError:
        return 0.0
    return word_score(plain(text), truth)[2]


def own_score(path: Path) -> float:
    truth = path.with_suffix(".txt").read_text(encoding="utf-8")
    markup = path.read_text(encoding="utf-8")
    return score(markup, truth, f"https://site.example/{path.stem}")


def test_own_pages_of_every_type_are_read_well() -> None:
    scores = {path.stem: own_score(path) for path in PAGES}
    assert len({name.split("-")[0] for name in scores}) == 7
    assert fmean(scores.values()) >= OWN_FLOOR
    assert min(scores.values()) >= OWN_WORST, scores


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DEV_FLOORS))
def test_public_pages_are_read_well(name: str) -> None:
    path = DEV / name / "dev.jsonl.gz"
    if not path.is_file():
        pytest.skip("the extraction corpora are not beside the checkout")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, EVERY[name])]
    scores = [
        score(row["html"], row["truth"]["text"], row["url"] or "https://site.example/")
        for row in rows
        if row["truth"].get("text")
    ]
    assert fmean(scores) >= DEV_FLOORS[name]

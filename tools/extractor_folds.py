"""Whole pages by folds: the Markdown of each page, read with the models that were not trained on its site."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from statistics import fmean
from unittest.mock import patch

from bench.extract_scores import (
    KINDS,
    Score,
    mean_score,
    plain,
    shingle_score,
    structure_kept,
    structure_targets,
    word_score,
)

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.content import classify
from kindly.extract.content.classify import ContentModel
from kindly.extract.html import read_html
from tools.extractor_pages import site_of


def read_by_folds(
    rows: Iterable[dict[str, object]], models: list[ContentModel], fold_of: Callable[[str], int]
) -> list[str]:
    """Lines with the word F1 by page type, the 4-gram F1 and the share of the structure that is kept."""
    words: dict[str, list[float]] = defaultdict(list)
    shingles: list[Score] = []
    kept: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for row in rows:
        truth = row["truth"]
        if not isinstance(truth, dict) or not truth.get("text"):
            continue
        url = str(row["url"] or f"https://{row['id']}.example/")
        markdown = _markdown(str(row["html"]), url, models[fold_of(site_of(url))])
        words[str(row["page_type"])].append(word_score(plain(markdown), truth["text"]).f1)
        shingles.append(shingle_score(plain(markdown), truth["text"]))
        targets = structure_targets(str(row["html"]), truth["text"])
        for kind, (kept_count, count) in structure_kept(markdown, targets).items():
            kept[kind] += kept_count
            wanted[kind] += count
    means = {kind: fmean(scores) for kind, scores in sorted(words.items())}
    pages = [score for scores in words.values() for score in scores]
    return [
        f"F1 {fmean(pages):.4f}  macro {fmean(means.values()):.4f}"
        f"  4-gram {_f1_of_means(shingles):.4f}",
        "  ".join(f"{kind} {mean:.3f}" for kind, mean in means.items()),
        "  ".join(f"{kind} {kept[kind] / wanted[kind]:.4f}" for kind in KINDS if wanted[kind]),
    ]


def _markdown(markup: str, url: str, model: ContentModel) -> str:
    with patch.object(classify, "load_model", lambda: model):
        try:
            return read_html(markup, ExtractOptions(), url).text
        except KindlyError:
            return ""


def _f1_of_means(scores: list[Score]) -> float:
    mean = mean_score(scores)
    return 2 * mean.precision * mean.recall / (mean.precision + mean.recall)

"""How often a question about a table gets the row that answers it.

    python -m bench.table_questions [--limit N]

Pages, grids and questions are beside the checkout, in `../shared/data/tables`. A question counts if it has one answer
that is no small number, and one row of the grid has it as a cell. `row@500`: the passages of `read_page`, cut at 500
tokens, have that row; `head@500` counts only those that have the table's head, too. `any`: one of all passages has the
row. `answered`: the page is said to answer.
"""

import argparse
import csv
import gzip
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bench.retrieval import ask, mean
from kindly.budget import count_tokens
from kindly.extract import ExtractOptions
from kindly.extract.html import read_html
from kindly.read.ranking.rank import Ranking

DATA = Path(__file__).parents[1] / "../shared/data/tables/wtq.dev.jsonl.gz"
URL = "https://en.wikipedia.org/wiki/Page"
ENOUGH = 0.8
"""The share of a row's cells that must be in one row of a passage."""
HALF = 0.5
"""The share of the head's cells that must be in the text."""
BUDGETS = (500, 1000)
_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)")
_MARKUP = re.compile(r"\[\^?\w+\]|[*_`\\]|<br ?/?>")
_COUNT = re.compile(r"\d{1,2}")
"""An answer that may be in a row by chance: of questions how many rows there are."""
_CELLS = re.compile(r"(?<!\\)\|")


class TableQuestion(NamedTuple):
    """A question, the page's text, and the row of the table that answers."""

    page: str
    text: str
    question: str
    row: tuple[str, ...]
    head: tuple[str, ...]


def plain(cell: str) -> str:
    """Letters and digits only, without markup."""
    cell = _MARKUP.sub("", _LINK.sub(r"\1", cell))
    return re.sub(r"\W+", "", unicodedata.normalize("NFKC", cell).lower())


def questions(limit: int | None = None) -> Iterator[TableQuestion]:
    """The questions that one row answers."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for item in map(json.loads, islice(lines, limit)):
            grid = [
                tuple(plain(cell) for cell in row)
                for row in csv.reader(io.StringIO(item["csv"]), escapechar="\\", doublequote=False)
            ]
            title = item["title"]
            main = f"<main><article><h1>{title}</h1>{item['html']}</article></main>"
            page = f"<!doctype html><title>{title}</title>{main}"
            text = ""
            for one in item["questions"]:
                answers = [plain(answer) for answer in one["answer"]]
                rows = [row for row in grid[1:] if answers[0] and answers[0] in row]
                if len(answers) == 1 and len(rows) == 1 and not _COUNT.fullmatch(answers[0]):
                    text = text or read_html(page, ExtractOptions(), URL).text
                    yield TableQuestion(item["id"], text, one["question"], rows[0], grid[0])


def has_row(text: str, row: Sequence[str]) -> bool:
    """Whether a row of a table in the text has nearly all cells of a row."""
    wanted = [cell for cell in row if cell]
    return any(
        sum(cell in cells for cell in wanted) >= ENOUGH * len(wanted)
        for line in text.splitlines()
        if line.lstrip().startswith("|")
        for cells in [{plain(cell) for cell in _CELLS.split(line)}]
    )


def row_span(one: TableQuestion) -> tuple[int, int] | None:
    """Where the row that answers is in the text; None if it is not there."""
    at = 0
    for line in one.text.splitlines(keepends=True):
        if has_row(line, one.row):
            return at, at + len(line.rstrip())
        at += len(line)
    return None


def has_head(text: str, head: Sequence[str]) -> bool:
    """Whether the text has most of the names of the columns."""
    here, wanted = plain(text), [cell for cell in head if cell]
    return sum(cell in here for cell in wanted) >= HALF * len(wanted)


def cut(ranking: Ranking, budget: int) -> str:
    """The first so many tokens of the passages."""
    kept: list[str] = []
    for passage in ranking.passages:
        cost = count_tokens(passage.text)
        kept.append(passage.text if cost <= budget else passage.text[: 4 * max(0, budget)])
        budget -= cost
    return "\n\n".join(kept)


def measure(one: TableQuestion) -> dict[str, float]:
    """The figures of one question."""
    ranking = ask(one.text, one.question)
    figures: dict[str, float] = {}
    for budget in BUDGETS:
        text = cut(ranking, budget)
        figures[f"row@{budget}"] = float(has_row(text, one.row))
        figures[f"head@{budget}"] = float(has_row(text, one.row) and has_head(text, one.head))
    figures["any"] = float(has_row(cut(ranking, 10**6), one.row))
    figures["on page"] = float(has_row(one.text, one.row))
    figures["answered"] = float(ranking.answered)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the average over all questions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args(arguments)
    if not DATA.is_file():
        print("Skipped, because ../shared/data/tables is not beside this checkout.")
        return 0
    rows = [measure(one) for one in questions(options.limit)]
    print(len(rows), "  ".join(f"{key} {value:.3f}" for key, value in mean(rows).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

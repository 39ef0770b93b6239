"""The questions of the scoreboard, each with its page as HTML in the frame of a site."""

import csv
import gzip
import html
import io
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from bench import retrieval, table_questions
from bench.realistic_pages import Writer
from bench.scoreboard.evidence import Evidence, TableRow, plain, spans

LONG_PAGES = {
    "squad2": "encyclopaedia",
    "nqpages": "wiki pages",
    "covidqa": "papers",
    "policyqa": "policies",
    "cuad": "contracts",
    "anthdocs": "documentation",
    "chroma5": "very long texts",
}
"""Sets of `../shared/data/retrieval` and what their pages are."""
TABLES = "tables"


@dataclass(frozen=True, slots=True)
class AskedPage:
    """A question, the HTML of the page that answers it, and the evidence."""

    kind: str
    question: str
    page: str
    evidence: Evidence


def asked_pages(count: int, kinds: Sequence[str]) -> Iterator[AskedPage]:
    """So many questions of each kind, always the same ones, the kinds in turn."""
    sets = [_long_pages(name, kind, count) for name, kind in LONG_PAGES.items() if kind in kinds]
    sets += [_tables(count)] if TABLES in kinds else []
    for row in zip_longest(*sets):
        yield from filter(None, row)


def _long_pages(name: str, kind: str, count: int) -> Iterator[AskedPage]:
    data = retrieval.load(name, count)
    for number, case in enumerate(data.cases):
        text = data.pages[case.page]
        page = framed(f"{name} {number}", case.page, as_html(text))
        yield AskedPage(kind, case.query, page, spans(text, case.evidence))


def _tables(count: int) -> Iterator[AskedPage]:
    found: list[AskedPage] = []
    with gzip.open(table_questions.DATA, "rt", encoding="utf-8") as lines:
        for item in map(json.loads, lines):
            page = ""
            grid = csv.reader(io.StringIO(item["csv"]), escapechar="\\", doublequote=False)
            rows = [tuple(plain(cell) for cell in row) for row in grid][1:]
            for one in item["questions"]:
                answers = [plain(answer) for answer in one["answer"]]
                fitting = [row for row in rows if answers[0] and answers[0] in row]
                if len(answers) == 1 == len(fitting) and not answers[0].isdigit():
                    body = f"<h1>{html.escape(item['title'])}</h1>{item['html']}"
                    page = page or framed(item["id"], item["title"], body)
                    evidence = TableRow(answers[0], tuple(filter(None, fitting[0])))
                    found.append(AskedPage(TABLES, one["question"], page, evidence))
    yield from random.Random(TABLES).sample(found, min(count, len(found)))


def framed(seed: str, title: str, body: str) -> str:
    """A page as sites send it: menus, scripts, a style sheet, a sidebar and a footer around the content."""
    write = Writer(random.Random(seed))
    menu = "".join(f"<li>{write.link()}</li>" for _ in range(48))
    related = "".join(f"<li>{write.link()}</li>" for _ in range(20))
    name = html.escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{''.join(write.style(9_000))}</style>{''.join(write.script(20_000))}</head><body>"
        f'<header class="site-header">{write.wrapped(f"<nav><ul>{menu}</ul></nav>", 3)}</header>'
        f'<div class="layout"><main id="content"><article>{write.wrapped(body, 2)}</article></main>'
        f'<aside class="sidebar"><h2>Related</h2><ul>{related}</ul></aside></div>'
        f"<footer>{write.icon()}<p>{write.sentences(300)}</p></footer>"
        f"{''.join(write.script(10_000))}</body></html>"
    )


def as_html(text: str) -> str:
    """The text of a page with headings, lists, tables and paragraphs as elements."""
    blocks = []
    for block in text.split("\n\n"):
        for kind, lines in groupby(filter(str.strip, block.split("\n")), _kind):
            blocks.append(_element(kind, [html.escape(line.strip()) for line in lines]))
    return "".join(blocks)


def _kind(line: str) -> str:
    start = line.lstrip()
    if start.startswith("#"):
        return "heading"
    if start.startswith(("- ", "* ")):
        return "list"
    return "table" if start.startswith("|") else "text"


def _element(kind: str, lines: Sequence[str]) -> str:
    if kind == "heading":
        return "".join(
            f"<h{level}>{line.lstrip('# ')}</h{level}>"
            for line in lines
            for level in [min(6, len(line) - len(line.lstrip("#")))]
        )
    if kind == "list":
        return f"<ul>{''.join(f'<li>{line[2:]}</li>' for line in lines)}</ul>"
    if kind == "table":
        rows = (line.strip("|").split("|") for line in lines)
        cells = ("".join(f"<td>{cell.strip()}</td>" for cell in row) for row in rows)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    return f"<p>{' '.join(lines)}</p>"

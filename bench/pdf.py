"""PDF files: how much of their structure is kept, and how long a page takes.

    python -m bench.pdf [--set generated|shared|long|all] [--only NAME,…] [--keep FOLDER]

`shared` are the reviewed documents in `../shared/data/pdf`, by the bench that comes with them. `generated` are the
documents of `bench.pdf_documents`, printed to PDF by Chromium and, if it is installed, by WeasyPrint, in one and two
columns, so that the truth is exact: headings (found and true), list items, table cells, lines of code. `long` is a
filing of 500 pages, each with prose and a table: CPU time of a page, what is read of the file, and how long the first
question about it takes. Other tools run beside it if they are installed: pymupdf4llm, markitdown, opendataloader-pdf.
They and WeasyPrint are no dependencies: `pip install --group bench-pdf`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import anyio
from tests.support.pdf_files import PROSE, line, lines, pdf
from tests.support.site import Answer, running_site

from bench.front_door import ProcessTree
from bench.hostile_load import descendants
from bench.pdf_documents import Printable, Truth, documents
from kindly.app import open_app
from kindly.budget import Deadline
from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.formats.pdf.pdf_reader import PdfLimits, read_pdf
from kindly.pipeline import read as read_page
from kindly.settings import Settings
from kindly.text.page_marks import PAGE_MARK

SHARED = Path(__file__).parents[1] / "../shared"
URL = "https://documents.example/file.pdf"
HEADING = re.compile(r"^#{1,6} +(.+)$", re.M)
ITEM = re.compile(
    r"^ *(?:[-*+]|\d{1,3}[.)]) +(.+(?:\n(?! *(?:[-*+]|\d{1,3}[.)]) |\n|#|\|| *```).+)*)", re.M
)
FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.M | re.S)
ROW = re.compile(r"^\|(.+)\|[ \t]*$", re.M)

UNHURRIED = ExtractOptions(seconds=300)
"""A busy machine must not change what is read."""
LONG_PAGES = 500
ANSWER_PAGE = 400
ANSWER = (
    "In March the company closed its shipyard in Lisbon, which had employed 312 people,",
    "and moved the repair of ferries to the harbour of Setubal.",
)
QUESTION = "How many people did the shipyard in Lisbon employ?"

Reader = Callable[[bytes], str]


def kindly(body: bytes) -> str:
    """The Markdown of a file."""
    return read_pdf(body, UNHURRIED, URL).text


def _markitdown() -> Reader:
    converter = import_module("markitdown").MarkItDown()

    def read(body: bytes) -> str:
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(body)
            file.flush()
            return str(converter.convert(file.name).text_content)

    return read


def _pymupdf4llm() -> Reader:
    fitz, writer = import_module("pymupdf"), import_module("pymupdf4llm")
    return lambda body: str(writer.to_markdown(fitz.open(stream=body, filetype="pdf")))


def _opendataloader() -> Reader:
    module = import_module("opendataloader_pdf")

    def read(body: bytes) -> str:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.pdf").write_bytes(body)
            module.convert(input_path=[f"{folder}/a.pdf"], output_dir=folder, format="markdown")
            return next(Path(folder).glob("*.md")).read_text()

    return read


OTHERS = {
    "pymupdf4llm": _pymupdf4llm,
    "markitdown": _markitdown,
    "opendataloader_pdf": _opendataloader,
}


def readers(only: str) -> dict[str, Reader]:
    """Kindly and the other tools that are installed."""
    found: dict[str, Reader] = {"kindly": kindly}
    for name, opened in OTHERS.items():
        if find_spec(name) is not None:
            found[name] = opened()
    wanted = only.split(",") if only else list(found)
    return {name: read for name, read in found.items() if name in wanted}


def printed(folder: Path) -> Iterator[tuple[str, Printable, bytes]]:
    """The generated documents as PDF files, with the name of the printer."""
    for columns in (1, 2):
        for document in documents(columns):
            if find_spec("weasyprint") is not None:
                body = import_module("weasyprint").HTML(string=document.html).write_pdf()
                yield f"weasyprint, {columns} col.", document, body
            if browser := which("chromium") or which("google-chrome"):
                source, target = folder / "a.html", folder / f"{document.name}.pdf"
                source.write_text(document.html, encoding="utf-8")
                subprocess.run(
                    [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                     f"--print-to-pdf={target}", source.as_uri()],
                    check=True, capture_output=True, timeout=120,
                )  # fmt: skip
                yield f"chromium, {columns} col.", document, target.read_bytes()


def plain(text: str) -> str:
    """Text without Markdown."""
    return " ".join(re.sub(r"\\(?=[^\w\s])|<br>|[*`]", " ", text).replace("\\", "").split())


def squeezed(text: str) -> str:
    """Text without Markdown and spaces."""
    return re.sub(r"\s+", "", plain(text))


def score(text: str, truth: Truth) -> dict[str, tuple[int, int]]:
    """Found and wanted, by kind."""
    headings = [squeezed(found) for found in HEADING.findall(text)]
    items = Counter(squeezed(found) for found in ITEM.findall(FENCE.sub("", text)))
    rows = [Counter(map(squeezed, row.split("|"))) for row in ROW.findall(text)]
    code = Counter(line.rstrip() for block in FENCE.findall(text) for line in block.splitlines())
    wanted = [squeezed(heading) for heading in truth.headings]
    cells = [Counter(map(squeezed, row)) for table in truth.tables for row in table]
    return {
        "headings": (sum((Counter(wanted) & Counter(headings)).values()), len(wanted)),
        "true headings": (sum((Counter(wanted) & Counter(headings)).values()), len(headings)),
        "items": (sum((Counter(map(squeezed, truth.items)) & items).values()), len(truth.items)),
        "cells": (
            sum(max((sum((row & found).values()) for found in rows), default=0) for row in cells),
            sum(row.total() for row in cells),
        ),
        "code": (sum((Counter(truth.code) & code).values()), len(truth.code)),
    }


def generated(tools: dict[str, Reader], keep: Path | None) -> None:
    """Print the scores of each tool for each printer."""
    with tempfile.TemporaryDirectory() as folder:
        files = list(printed(Path(folder)))
    totals: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(
        lambda: defaultdict(lambda: [0, 0])
    )
    spent: dict[str, float] = defaultdict(float)
    for printer, document, body in files:
        if keep is not None:
            stem = f"{document.name}-{printer.split(',')[0]}"
            (keep / f"{stem}.pdf").write_bytes(body)
            (keep / f"{stem}.html").write_text(document.html, encoding="utf-8")
        for name, read in tools.items():
            began = time.process_time()
            text = read(body)
            spent[name] += time.process_time() - began
            if keep is not None:
                (keep / f"{stem}.{name}.md").write_text(text, encoding="utf-8")
            for kind, (found, wanted) in score(text, document.truth).items():
                for key in (printer, "all"):
                    totals[name, key][kind][0] += found
                    totals[name, key][kind][1] += wanted
    for (name, printer), kinds in sorted(totals.items()):
        figures = " ".join(
            f"{kind} {found / max(wanted, 1):.3f}" for kind, (found, wanted) in kinds.items()
        )
        print(f"{name:18} {printer:20} {figures}")
    print(
        "CPU",
        ", ".join(f"{name} {seconds:.1f} s" for name, seconds in spent.items()),
        f"for {len(files)} files",
    )


def filing(pages: int) -> bytes:
    """A filing: on each page a heading, prose, a table of numbers and a page number."""
    return pdf([_filing_page(number) for number in range(1, pages + 1)])


def _filing_page(number: int) -> str:
    parts = [
        line(f"Item {number}. Results of operations", size=16, y=740),
        lines(PROSE * 4, y=715, size=10),
        lines(PROSE * 4, y=250, size=10),
        line(f"Page {number} of {LONG_PAGES}", y=30, size=8),
    ]
    if number == ANSWER_PAGE:
        parts.append(lines(ANSWER, y=150, size=10))
    for row in range(18):
        cells = [
            f"Row {row}",
            *(f"{(row * 7 + n * 13 + number) * 101 % 99_999:,}" for n in range(4)),
        ]
        parts += [
            line(cell, x=72 + 100 * n, y=540 - 14 * row, size=9) for n, cell in enumerate(cells)
        ]
    return "\n".join(parts)


def long() -> None:
    """Print the CPU time of a page of a long file, the least of three runs."""
    body = filing(LONG_PAGES)
    least, text = 1e9, ""
    for _ in range(3):
        began = time.process_time()
        text = read_pdf(body, UNHURRIED, URL, limits=PdfLimits(seconds=300)).text
        least = min(least, time.process_time() - began)
    marks, rows = len(PAGE_MARK.findall(text)), len(ROW.findall(text))
    print(f"long: {1000 * least / LONG_PAGES:.1f} ms a page; {marks} pages, {rows} table rows read")
    for name, whole_first in (("all pages first", True), ("chosen pages", False)):
        runs = [anyio.run(first_answer, body, whole_first) for _ in range(3)]
        wall, cpu = (min(run[n] for run in runs) for n in (0, 1))
        print(f"first answer, {name}: {wall:.1f} s, {cpu:.1f} s of CPU time; from {runs[0][2]}")


async def first_answer(body: bytes, whole_first: bool) -> tuple[float, float, str]:  # noqa: FBT001 - for `anyio.run`
    """Seconds and CPU seconds of all processes until a question is answered, and where the answer is."""
    tree = ProcessTree(set(descendants(os.getpid(), 0)))
    async with running_site() as site:
        url = site.add("/filing.pdf", Answer(body, headers={"Content-Type": "application/pdf"}))
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings.load({"DATA_DIR": folder, "KINDLY_ALLOW_PRIVATE": site.host})
            async with open_app(settings) as app:
                stages = replace(app.stages, deferred=None) if whole_first else app.stages
                await read_page(stages, site.url("/article"), [QUESTION], Deadline.after(60))
                began, spent = time.perf_counter(), cpu_seconds(tree)
                try:
                    found = await read_page(stages, url, [QUESTION], Deadline.after(60))
                    place = found.findings[0].citations[0].passage.section[-1]
                except KindlyError as error:
                    place = f"nowhere: {error.detail}"
                wall, cpu = time.perf_counter() - began, cpu_seconds(tree) - spent
    return wall, cpu, place


def cpu_seconds(tree: ProcessTree) -> float:
    """Of this process, its children, and those that have ended."""
    return sum(os.times()[:4]) + tree.cpu_ms() / 1000


def shared(tools: Sequence[str]) -> None:
    """Run the bench of the shared set for each tool."""
    for name in tools:
        print(name, flush=True)
        subprocess.run(
            [sys.executable, str(SHARED / "bench/pdf/bench.py"), "--target", f"bench.pdf:{name}"],
            check=False, cwd=Path(__file__).parents[1],
        )  # fmt: skip


def __getattr__(name: str) -> Reader:
    """The other tools by name, for the bench of the shared set."""
    if name in OTHERS:
        return OTHERS[name]()
    raise AttributeError(name)


def main() -> None:
    """Run the bench."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--set", choices=("generated", "shared", "long", "all"), default="all")
    options.add_argument("--only", default="")
    options.add_argument("--keep", type=Path)
    chosen = options.parse_args()
    tools = readers(chosen.only)
    if chosen.set in ("shared", "all"):
        shared(list(tools))
    if chosen.set in ("generated", "all"):
        generated(tools, chosen.keep)
    if chosen.set in ("long", "all"):
        long()


if __name__ == "__main__":
    main()

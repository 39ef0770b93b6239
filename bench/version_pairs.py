"""`changes` on versions of real Markdown documentation: `python -m bench.version_pairs --folder FOLDER`.

The packages are fetched with `npm pack` into the folder, unless they are there. Each Markdown file that both versions
have is read, stored twice and compared as `changes` does. The truth comes from another parser (markdown-it), which
finds the headings: a section changed if no section of the other version has its title and its text.
"""

import argparse
import re
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import anyio
from markdown_it import MarkdownIt

from kindly.crawl.page_checks import changes
from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.models import Document, Page
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.evidence.section_changes import SectionChange
from kindly.read.library import Library
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store

PACKAGES = {
    "axios": ("0.21.0", "1.6.0"),
    "chalk": ("4.0.0", "5.3.0"),
    "chokidar": ("3.4.0", "4.0.0"),
    "commander": ("8.0.0", "12.0.0"),
    "cors": ("2.7.0", "2.8.5"),
    "debug": ("3.0.0", "4.3.4"),
    "dotenv": ("8.2.0", "16.4.0"),
    "fastify": ("4.0.0", "4.28.0"),
    "formidable": ("1.2.0", "3.5.0"),
    "glob": ("8.1.0", "10.3.0"),
    "helmet": ("4.0.0", "7.1.0"),
    "ioredis": ("4.28.0", "5.3.0"),
    "jsonwebtoken": ("8.5.0", "9.0.0"),
    "marked": ("1.0.0", "12.0.0"),
    "minimatch": ("5.0.0", "9.0.0"),
    "multer": ("1.4.0", "1.4.5-lts.1"),
    "nock": ("12.0.0", "13.5.0"),
    "node-fetch": ("2.6.0", "3.3.0"),
    "pino": ("7.0.0", "9.0.0"),
    "semver": ("6.3.0", "7.6.0"),
    "superagent": ("5.3.0", "9.0.0"),
    "undici": ("5.0.0", "6.0.0"),
    "uuid": ("7.0.0", "9.0.0"),
    "winston": ("3.2.0", "3.11.0"),
    "ws": ("7.0.0", "8.17.0"),
    "yargs": ("15.0.0", "17.7.0"),
    "zod": ("3.10.0", "3.22.0"),
}
FILES = 4
"""Of one package, the largest ones."""
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
SPACE = re.compile(r"\s+")
MARKUP = re.compile(r"[^\w]+")
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
URL = "https://e.com/page.md"

Section = tuple[str, str]
"""Title and text."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One file in two versions."""

    name: str
    before: str
    after: str


def unpacked(folder: Path, name: str, version: str) -> dict[str, str]:
    """The Markdown files of a package."""
    file = folder / f"{name}-{version}.tgz"
    if not file.is_file():
        subprocess.run(
            ["npm", "pack", f"{name}@{version}", "--silent"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    found = {}
    with tarfile.open(file) as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            if member.isfile() and path.lower().endswith(".md") and "node_modules" not in path:
                data = archive.extractfile(member)
                assert data is not None
                found[path.lower()] = data.read().decode("utf-8", "replace")
    return found


def pairs(folder: Path) -> Iterator[Pair]:
    """The files that both versions of a package have and that changed."""
    for name, (old, new) in PACKAGES.items():
        before, after = unpacked(folder, name, old), unpacked(folder, name, new)
        shared = [path for path in before if path in after and before[path] != after[path]]
        for path in sorted(shared, key=lambda one: -len(after[one]))[:FILES]:
            yield Pair(f"{name} {path}", before[path], after[path])


def plain(text: str) -> str:
    """Words only, because markup is written in several ways."""
    return MARKUP.sub(" ", text).strip()


def truth(text: str) -> list[Section]:
    """The sections, by another parser."""
    bare = COMMENT.sub("", text)
    lines = bare.splitlines()
    starts: list[tuple[int, int, str]] = [(0, 0, "")]
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(bare)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            first, body = token.map
            starts.append((first, body, inline.content))
    ends = [first for first, _, _ in starts[1:]] + [len(lines)]
    return [
        (title, SPACE.sub(" ", "\n".join(lines[body:end])).strip())
        for (_, body, title), end in zip(starts, ends, strict=True)
    ]


def titles(sections: Iterable[Section], others: Iterable[Section]) -> Counter[str]:
    """The titles of sections that the other version does not have."""
    left = Counter(sections) - Counter(others)
    return Counter(plain(title) for title, body in left.elements() if title or body)


def in_words(sections: Iterable[Section]) -> list[Section]:
    """The sections without punctuation and markup."""
    return [(plain(title), plain(body)) for title, body in sections]


async def reported(pair: Pair) -> Sequence[SectionChange]:
    """What `changes` says about a page that was read in both versions."""
    library = Library(open_store("memory", StoreSettings(None)), LocalEmbedder())
    for day, text in enumerate((pair.before, pair.after)):
        document = read(text)
        await library.keep(URL, replace(document, fetched_at=NOON + timedelta(days=day)))
    report = await changes(library, URL, None)
    return report.pages[0].changes if report.pages else ()


def read(text: str) -> Document:
    """The document of a Markdown file."""
    page = Page(URL, URL, 200, "text/markdown", text.encode(), NOON, charset="utf-8")
    return extract(page, ExtractOptions())


def judged(pair: Pair, found: Sequence[SectionChange]) -> tuple[int, list[str]]:
    """How many sections changed, and what is missing or too much in the report.

    A section whose words changed must be reported, and one that is the same must not; where only punctuation or markup
    changed, either is right.
    """
    before, after = truth(pair.before), truth(pair.after)
    removed, shown = Counter[str](), Counter[str]()
    for one in found:
        kind = removed if one.kind == "removed" else shown
        kind[plain(one.section[-1] if one.section else "")] += 1
    wanted = titles(in_words(after), in_words(before))
    gone = titles(in_words(before), in_words(after))
    faults = [f"missing: {title!r}" for title in (wanted - shown).elements()]
    faults += [f"unchanged: {title!r}" for title in (shown - titles(after, before)).elements()]
    faults += [f"not removed: {title!r}" for title in (removed - titles(before, after)).elements()]
    altered = sum(one.kind == "altered" for one in found)
    if removed.total() + altered < gone.total():
        faults.append(f"{gone.total() - altered - removed.total()} sections that are gone")
    return wanted.total() + removed.total(), faults


async def measure(folder: Path) -> None:
    """Compare all pairs."""
    count = sections = wrong = 0
    for pair in pairs(folder):
        try:
            found = await reported(pair)
        except KindlyError as error:
            print(f"{pair.name}: {error.detail}")
            continue
        total, faults = judged(pair, found)
        count, sections, wrong = count + 1, sections + total, wrong + len(faults)
        for fault in faults:
            print(f"{pair.name}: {fault}")
    print(f"{count} pairs, {sections} changed sections, {wrong} faults")


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path, required=True)
    chosen = options.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    anyio.run(measure, chosen.folder)


if __name__ == "__main__":
    main()

"""`verify` on quotes from real documentation: `python -m bench.quotes`.

Sentences of the pages of `../shared/data/docs_search`, as a reader sees them (without markup): 1,000 true ones, 1,000
with a changed number, name, negation or date, and 1,000 of other pages. A changed or foreign one that the page does say
is left out: whether it does is decided by comparing letters and digits only.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from random import Random

import anyio
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench.documentation import MARKUP, document, pages
from kindly.budget import Deadline
from kindly.crawl.page_checks import verify
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.evidence.quotes import Verdict
from kindly.read.library import Library
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store
from kindly.stages import Stages

SENTENCE = re.compile(r"(?<=[.!?])\s+")
YEAR = re.compile(r"(?<![\w.,/-])(?:19|20)\d\d(?![\w.,/-])")
DATE = re.compile(r"(?<![\w.])(?:19|20)\d\d-\d\d-\d\d(?!\w)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?![\w.])")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]{2,}")
VERB = re.compile(r"\b(?:is|are|can|will|should|must|does|do|was|may)\b(?! not)")
NEGATED = re.compile(r"\b(?:not|never|cannot|without)\b ?")
SIGNS = re.compile(r"[^a-z0-9]+")
NAMES = ("Fortran", "Lisbon", "Haskell", "Ada", "Zanzibar")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote, the page that it is checked against, and how it was changed."""

    url: str
    text: str
    kind: str


Change = Callable[[str, Random], str | None]


def date(text: str, chance: Random) -> str | None:
    """Another day or year."""
    if found := DATE.search(text) or YEAR.search(text):
        year = int(found[0][:4]) + chance.choice((-10, -1, 1, 7))
        return f"{text[: found.start()]}{year}{text[found.start() + 4 :]}"
    return None


def number(text: str, chance: Random) -> str | None:
    """Another number."""
    found = [one for one in NUMBER.finditer(text) if not YEAR.fullmatch(one[0])]
    if not found:
        return None
    one = chance.choice(found)
    parts = one[0].split(".")
    parts[-1] = str(int(parts[-1]) + chance.choice((1, 3, 10)))
    return text[: one.start()] + ".".join(parts) + text[one.end() :]


def name(text: str, chance: Random) -> str | None:
    """Another name."""
    found = list(NAME.finditer(text))
    if not found:
        return None
    one = chance.choice(found)
    return text[: one.start()] + chance.choice(NAMES) + text[one.end() :]


def negation(text: str, chance: Random) -> str | None:
    """The opposite."""
    if found := NEGATED.search(text):
        return text[: found.start()] + text[found.end() :]
    verbs = list(VERB.finditer(text))
    if not verbs:
        return None
    one = chance.choice(verbs)
    return f"{text[: one.end()]} not{text[one.end() :]}"


CHANGES: dict[str, Change] = {"date": date, "name": name, "negation": negation, "number": number}
LAST = "number"
"""Fills up what the others lack: dates are rare."""


def letters(text: str) -> str:
    """Letters and digits only, without the addresses of links."""
    return SIGNS.sub("", MARKUP.sub(r"\1", text).lower())


def sentences(text: str) -> Iterator[str]:
    """The sentences of the paragraphs of a Markdown text as a reader sees them."""
    for before, token in pairwise(MarkdownIt("commonmark").enable("table").parse(text)):
        if before.type == "paragraph_open":
            plain = " ".join("".join(map(shown, token.children or ())).split())
            for sentence in SENTENCE.split(plain):
                if 6 <= len(sentence.split()) <= 40 and sentence[:1].isupper():
                    yield sentence


def shown(token: Token) -> str:
    """The text of a part of a paragraph."""
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    return token.content if token.type in {"text", "code_inline"} else ""


def quotes(texts: dict[str, str], count: int, chance: Random) -> list[Quote]:
    """True, changed and foreign quotes, as many of each."""
    said = {url: letters(text) for url, text in texts.items()}
    known = [
        (url, one)
        for url, text in texts.items()
        for one in sentences(text)
        if letters(one) in said[url]
    ]
    chance.shuffle(known)
    made = [Quote(url, one, "true") for url, one in known[:count]]
    for kind, change in CHANGES.items():
        changed = (
            Quote(url, other, kind)
            for url, one in known
            if (other := change(one, chance)) and letters(other) not in said[url]
        )
        made += islice(changed, 2 * count - len(made) if kind == LAST else count // len(CHANGES))
    addresses = list(texts)
    foreign = (
        Quote(other, one, "foreign")
        for url, one in known
        if (other := chance.choice(addresses)) != url and letters(one) not in said[other]
    )
    return [*made, *islice(foreign, count)]


async def measure(count: int, size: int) -> None:
    """Check all quotes against the stored pages."""
    chance = Random(20)
    library = Library(open_store("memory", StoreSettings(None)), LocalEmbedder())
    texts: dict[str, str] = {}
    chosen = list(pages())
    chance.shuffle(chosen)
    for page in chosen[:size]:
        if (read := document(page)) is not None:
            await library.keep(page["url"], read)
            texts[page["url"]] = read.text
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # nothing is fetched
    verdicts: dict[str, Counter[Verdict]] = {}
    for quote in quotes(texts, count, chance):
        report = await verify(stages, library, quote.text, quote.url, Deadline.after(60))
        verdicts.setdefault(quote.kind, Counter())[report.verdict] += 1
        is_true = quote.kind == "true"
        if is_true is not (report.verdict is Verdict.EXACT):
            print(f"{quote.kind} {report.verdict}: {quote.text} ({quote.url})")
    print(f"{len(texts)} pages")
    for kind, counts in verdicts.items():
        print(f"{kind}: {counts.total()} quotes, {_shares(counts)}")


def _shares(counts: Counter[Verdict]) -> str:
    shown: Sequence[Verdict] = (Verdict.EXACT, Verdict.NEAR, Verdict.ALTERED, Verdict.ABSENT)
    return ", ".join(f"{verdict} {counts[verdict]}" for verdict in shown if counts[verdict])


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=1_000, help="quotes of each kind")
    options.add_argument("--pages", type=int, default=200)
    chosen = options.parse_args()
    anyio.run(measure, chosen.count, chosen.pages)


if __name__ == "__main__":
    main()

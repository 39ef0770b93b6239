"""Questions with known pages: those in `page_questions.txt`, and questions made from the pages of a site.

Made questions have words of a page and the page as their answer: names that it defines, words of a heading and of the
text below it, words of the title and of the first sentence, words of one sentence. They are always the same.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from kindly.models import StoredPageInfo
from kindly.read.pages.page_outline import LISTING, RELEASES, kind_of, plain, title_of
from kindly.read.ranking.segment import blocks, sentences
from kindly.read.store import StoredPage
from kindly.text.terms import terms
from tools.page_training.page_sites import DocumentationSite

WRITTEN = Path(__file__).with_name("page_questions.txt")
PER_SITE = 160
"""Made questions of one site."""
WRITTEN_WEIGHT = 10.0
"""What a written question counts for, compared with a made one."""
ENDINGS = ("", "", "", " example", " usage", " how to use", " error", " options")
BEGINNINGS = ("", "", "", "how to ", "how does ", "what is ", "why ")
STOP = frozenset(
    terms(
        "the a an and or of to in on for with is are be by as at it its this that from you your can will not if we how"
        " what when which use using used has have may must should also one all any more see new"
    )
)
_NAME = re.compile(r"\b(?:[A-Za-z_]+[._])*[A-Za-z]*(?:[a-z][A-Z]|_|\.)[A-Za-z_]+\b")
_WORD = re.compile(r"[A-Za-z][A-Za-z_.'-]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question, the addresses of the pages that answer it, and what it counts for."""

    text: str
    pages: tuple[str, ...]
    weight: float = 1.0


def written(site: DocumentationSite) -> Iterator[PageQuestion]:
    """The questions about a site in `page_questions.txt`."""
    for line in WRITTEN.read_text("utf-8").splitlines():
        if line.startswith(f"{site.name} | "):
            _, question, paths = line.split(" | ")
            pages = tuple(site.address(path + ".html") for path in paths.split(", "))
            yield PageQuestion(question, pages, WRITTEN_WEIGHT)


def made(pages: Sequence[StoredPage], name: str) -> list[PageQuestion]:
    """Questions about the pages of a site."""
    dice = Random(name)  # noqa: S311 - to choose, not to hide
    useful = [
        one
        for one in pages
        if one.chunks and not kind_of(one.entry.url, one.entry.title) & (RELEASES | LISTING)
    ]
    uses = Counter(term for one in useful for term in set(terms(_text(one))))
    found = [question for one in useful for question in _of_page(one, uses, dice)]
    dice.shuffle(found)
    return found[:PER_SITE]


def _of_page(page: StoredPage, uses: Counter[str], dice: Random) -> Iterator[PageQuestion]:
    own = (page.entry.url,)
    for text in filter(
        None, (kind(page, uses, dice) for kind in (_name, _heading, _title, _sentence))
    ):
        yield PageQuestion(text, own)


def _name(page: StoredPage, uses: Counter[str], dice: Random) -> str:
    """A name in a heading or in bold that hardly any other page has."""
    lines = [line for line in _text(page).splitlines() if line.startswith(("#", "**"))]
    names = [
        name for line in lines for name in _NAME.findall(plain(line)) if uses[terms(name)[-1]] <= 3
    ]
    return dice.choice(names) + dice.choice(ENDINGS) if names else ""


def _heading(page: StoredPage, uses: Counter[str], dice: Random) -> str:
    """Some words of a heading, and some of the text below it."""
    chunk = dice.choice(page.chunks)
    if not chunk.section:
        return ""
    heading = _words(plain(chunk.section[-1]))
    below = _rare(chunk.text, uses, dice, dice.randint(0, 2))
    kept = [word for word in heading if dice.random() < 0.75]
    if len(kept) + len(below) < 2:
        return ""
    return dice.choice(BEGINNINGS) + " ".join(word.lower() for word in (*kept, *below))


def _title(page: StoredPage, uses: Counter[str], dice: Random) -> str:
    """Some words of the title, and some of the first sentence."""
    first = page.chunks[0].text
    title = _words(_own_title(page.entry, first))[:8]
    kept = [word for word in title if dice.random() < 0.6]
    extra = _rare(first[:600], uses, dice, dice.randint(1, 2))
    return dice.choice(BEGINNINGS) + " ".join((*kept, *extra)) if kept and extra else ""


def _sentence(page: StoredPage, uses: Counter[str], dice: Random) -> str:
    """Words of one sentence."""
    text = dice.choice(page.chunks).text
    spans = [
        text[start:end]
        for block in blocks(text)
        if block.kind == "prose"
        for start, end in sentences(text, block.start, block.end)
        if 50 < end - start < 300
    ]
    if not spans:
        return ""
    chosen = _rare(dice.choice(spans), uses, dice, dice.randint(3, 5))
    return dice.choice(BEGINNINGS) + " ".join(chosen) if len(chosen) > 2 else ""


def _own_title(entry: StoredPageInfo, first: str) -> str:
    return re.split(r" [—|·–-] ", title_of(entry, first))[0]


def _rare(text: str, uses: Counter[str], dice: Random, count: int) -> list[str]:
    """The rarest words of a text, in its order, with some luck."""
    words = list(dict.fromkeys(word for word in _words(plain(text[:1500])) if len(word) > 2))
    by_use = sorted(words, key=lambda word: uses[terms(word)[-1]] * dice.uniform(0.3, 3))
    chosen = set(by_use[:count])
    return [word for word in words if word in chosen]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if terms(word)[:1] and terms(word)[0] not in STOP]


def _text(page: StoredPage) -> str:
    return "\n".join(chunk.text for chunk in page.chunks)

"""Documentation sites and questions with known pages → the weights of `kindly.read.pages.page_model`.

    python -m tools.train_pages --packages FOLDER [--libraries FOLDER] [--check]

`--packages` has the unpacked packages of `tools.page_training.page_sites`. Each site becomes a library of its own that
stays in `--libraries` for the next run, and so do the articles of `../shared/data/retrieval`: there the text decides,
not the title. The questions are put to each library as `recall` puts them, and the weights learn to rank the page that
answers first (softmax over the candidate pages). Sites are in folds, and the results of each fold come from weights of
the others. The graded questions of `../shared/data/docs_search` are only measured. With `--check` nothing is written.
The same data give the same file.
"""

import argparse
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
from bench import documentation
from bench.retrieval import load

from kindly.models import Document
from kindly.read.answering import CANDIDATES, stacked
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.library import Library
from kindly.read.pages.page_features import PageColumn
from kindly.read.pages.page_model import DATA
from kindly.read.pages.page_order import PageOrder
from kindly.read.ranking.rank import Index
from kindly.read.ranking.ranker_model import Weights, relative
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.text.terms import terms
from tools.page_training.page_questions import WRITTEN_WEIGHT, PageQuestion, made, written
from tools.page_training.page_sites import SITES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

FOLDER = Path(__file__).parents[1] / "src/kindly/read/pages"
ARTICLES = ("squad2", "covidqa", "nqpages", "anthdocs", "cuad", "piaf_fr", "drcd_zhtw")
PER_ARTICLES = 60
"""Questions of each set of articles."""
ARTICLE_WEIGHT = 2.0
"""What a question about articles counts for, compared with a made one about documentation."""
FOLDS = 3
HIDDEN = 4
MEMBERS = 3
EPOCHS = 100
STEP = 0.02
DECAY = 4e-3
HARDEST = 18
"""Pages of a question that the weights learn from: the right ones, and others that look most like it."""
SMALLEST = 150
"""Characters of the shortest page."""


@dataclass(frozen=True, slots=True)
class PageExample:
    """A question with its candidate pages."""

    group: str
    rows: "Floats"
    right: "NDArray[np.bool_]"
    weight: float
    text: str
    known: bool
    """Whether there is a right page among the candidates."""
    urls: tuple[str, ...]


def say(*words: object) -> None:
    """Print at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def filled(store: Store, documents: "Callable[[], Iterator[tuple[str, Document]]]") -> None:
    """Store the pages unless they are stored already."""
    if not (await store.stats()).pages:
        library = Library(store, LocalEmbedder())
        for url, document in documents():
            await library.keep(url, document)


def site_documents(packages: Path, number: int) -> Iterator[tuple[str, Document]]:
    """The pages of a site."""
    for url, file in SITES[number].pages(packages):
        kind = "text/html" if file.suffix == ".html" else "text/markdown"
        body = file.read_text("utf-8", "replace")
        read = documentation.document({"url": url, "media_type": kind, "body": body})
        if read is not None and len(read.text) > SMALLEST:
            yield url, read


def article_documents() -> Iterator[tuple[str, Document]]:
    """The pages of all sets of articles, in one library."""
    for name in ARTICLES:
        for page, text in load(name).pages.items():
            url = _article(page)
            yield url, Document(url, text, documentation.NOON)


def _article(page: str) -> str:
    return "https://articles.example/" + page.replace("https://", "").replace(":", "/")


def graded_documents(library: str) -> Iterator[tuple[str, Document]]:
    """The pages of one documentation in `../shared/data/docs_search`."""
    for page in documentation.pages():
        if page["library"] == library and (read := documentation.document(page)) is not None:
            yield page["url"], read


async def examples(
    group: str, store: Store, questions: Sequence[PageQuestion]
) -> AsyncIterator[PageExample]:
    """The questions as `recall` puts them."""
    embedder = LocalEmbedder()
    for question in questions:
        vector = (await embedder.embed([question.text]))[0]
        candidates = await store.candidates(terms(question.text), vector, CANDIDATES)
        if not candidates:
            continue
        order = PageOrder(candidates)
        found: list[Floats] = []

        def keep(
            text: str, asked: Any, *best: "Floats", order: Any = order, found: Any = found
        ) -> "Floats":
            found.append(order.features(text, asked, *best))
            return np.zeros(len(best[0]), dtype=np.float32)

        chunks = [one.chunk for one in candidates]
        vectors = {one.chunk.id: one.vector for one in candidates if one.vector is not None}
        Index(chunks, stacked(chunks, vectors)).ask(question.text, vector, limit=1, pages=keep)
        if found:
            answers = {same(url) for url in question.pages}
            right = np.array([same(url) in answers for url in order.urls])
            yield PageExample(
                group,
                found[0],
                right,
                question.weight,
                question.text,
                bool(right.any()),
                tuple(order.urls),
            )


def same(url: str) -> str:
    """An address without what tells two spellings of one page apart."""
    return (
        url.partition("#")[0]
        .removesuffix("/")
        .removesuffix(".html")
        .removesuffix(".md")
        .removesuffix("/index")
    )


async def of_site(packages: Path, libraries: Path, number: int) -> list[PageExample]:
    """The examples of a site."""
    site = SITES[number]
    async with aclosing(open_store("sqlite", StoreSettings(libraries / site.name))) as store:
        await filled(store, lambda: site_documents(packages, number))
        pages = [page async for page in store.pages()]
        known = {page.entry.url for page in pages}
        questions = list(written(site))
        for one in questions:
            if not known & set(one.pages):
                say("  no such page:", site.name, one.text, one.pages)
        questions += made(pages, site.name)
        return [one async for one in examples(site.name, store, questions)]


async def of_articles(libraries: Path) -> list[PageExample]:
    """The examples of all articles."""
    async with aclosing(open_store("sqlite", StoreSettings(libraries / "articles"))) as store:
        await filled(store, article_documents)
        found = []
        for name in ARTICLES:
            questions = [
                PageQuestion(case.query, (_article(case.page),), ARTICLE_WEIGHT)
                for case in load(name, PER_ARTICLES).cases
            ]
            found += [one async for one in examples(f"articles {name}", store, questions)]
        return found


async def of_graded(libraries: Path) -> list[PageExample]:
    """The examples that are only measured."""
    found = []
    for library in ("react", "python", "fastapi"):
        async with aclosing(open_store("sqlite", StoreSettings(libraries / library))) as store:
            await filled(store, partial(graded_documents, library))
            questions = [
                PageQuestion(one["query"], tuple(right["url"] for right in one["relevant"]))
                for one in documentation.graded()
                if one["library"] == library
            ]
            found += [one async for one in examples(f"graded {library}", store, questions)]
    return found


def train(found: Sequence[PageExample]) -> Weights:
    """The mean of several networks, by full passes with Adam."""
    usable = [one for one in found if one.known]
    rows = [relative(one.rows) for one in usable]
    every = np.concatenate(rows).astype(np.float32)
    mean, scale = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-3)
    kept = [_hardest(one) for one in usable]
    edges = np.cumsum([0, *map(len, kept)])
    inputs = [one[places] for one, places in zip(rows, kept, strict=True)]
    data = _Batch(
        (np.concatenate(inputs) - mean) / scale,
        np.concatenate([one.right[places] for one, places in zip(usable, kept, strict=True)]),
        edges[:-1],
        np.repeat(np.arange(len(rows)), np.diff(edges)),
        np.array([one.weight for one in usable]),
    )
    members = [_member(data, seed) for seed in range(MEMBERS)]
    hidden = np.concatenate([one[0] for one in members], axis=1)
    bias = np.concatenate([one[1] for one in members])
    out = np.concatenate([one[2] for one in members]) / MEMBERS
    linear = np.mean([one[3] for one in members], axis=0)
    return Weights(mean, scale, hidden, bias, out, linear)


def _hardest(one: PageExample) -> "NDArray[np.intp]":
    """The right pages, and the others whose passages, title and headings have most of the question."""
    words = (PageColumn.TITLE, PageColumn.SLUG_FIT, PageColumn.TITLE_AND_HEADINGS)
    likely = one.rows[:, PageColumn.BEST] + 3 * one.rows[:, words].sum(axis=1)
    order = np.argsort(-np.where(one.right, np.inf, likely), kind="stable")
    return np.sort(order[: max(HARDEST, int(one.right.sum()))])


@dataclass(frozen=True, slots=True)
class _Batch:
    inputs: "Floats"
    right: "NDArray[np.bool_]"
    starts: "NDArray[np.intp]"
    question: "NDArray[np.intp]"
    weights: "Floats"


def _member(data: _Batch, seed: int) -> "list[Floats]":
    dice = np.random.default_rng(seed)
    width = data.inputs.shape[1]
    values: list[Floats] = [
        dice.normal(0, 0.3 / np.sqrt(width), (width, HIDDEN)),
        np.zeros(HIDDEN),
        dice.normal(0, 0.3, HIDDEN),
        np.zeros(width),
    ]
    first = [np.zeros_like(one) for one in values]
    second = [np.zeros_like(one) for one in values]
    for turn in range(1, EPOCHS + 1):
        step = STEP * (1 - turn / (EPOCHS + 1))
        for one, slope, low, high in zip(values, _slopes(data, values), first, second, strict=True):
            low += 0.1 * (slope - low)
            high += 0.001 * (slope**2 - high)
            one -= step * (low / (1 - 0.9**turn)) / (np.sqrt(high / (1 - 0.999**turn)) + 1e-8)
    return values


def _slopes(data: _Batch, values: "list[Floats]") -> "list[Floats]":
    """The slopes of the loss: minus the log of the probability of the right pages, and the decay."""
    hidden, bias, out, linear = values
    inner = np.tanh(data.inputs @ hidden + bias)
    scores = inner @ out + data.inputs @ linear
    share = _softmax(scores, data)
    right = np.where(data.right, share, 0)
    of_right = right / np.maximum(np.add.reduceat(right, data.starts)[data.question], 1e-9)
    back = (share - of_right) * (data.weights / data.weights.sum())[data.question]
    deeper = np.outer(back, out) * (1 - inner**2)
    slopes = [data.inputs.T @ deeper, deeper.sum(axis=0), inner.T @ back, data.inputs.T @ back]
    return [slope + DECAY * one for slope, one in zip(slopes, values, strict=True)]


def _softmax(scores: "Floats", data: _Batch) -> "Floats":
    top = np.maximum.reduceat(scores, data.starts)
    power = np.exp(scores - top[data.question])
    return np.asarray(power / np.add.reduceat(power, data.starts)[data.question])


def place_of(one: PageExample, scores: "Floats") -> int:
    """The rank of the first right page, from 0; a large number if there is none."""
    if not one.known:
        return 10**6
    order = np.argsort(-scores, kind="stable")
    return int(np.flatnonzero(one.right[order])[0])


def report(
    name: str, found: Sequence[PageExample], score: "Callable[[PageExample], Floats]"
) -> None:
    """MRR over the first five, hit@1 and hit@5, by this order of the pages."""
    places = np.array([place_of(one, score(one)) for one in found])
    mrr = np.where(places < 5, 1 / (1 + places), 0).mean()
    say(
        f"  {name:28} {len(found):5}  MRR {mrr:.3f}  hit@1 {(places < 1).mean():.3f}  hit@5 {(places < 5).mean():.3f}"
    )


def both(name: str, found: Sequence[PageExample], score: "Callable[[PageExample], Floats]") -> None:
    """The results of the best passages alone, and of an order of pages."""
    report(f"{name}, passages", found, lambda one: one.rows[:, PageColumn.BEST])
    report(f"{name}, pages", found, score)


def measure(found: Sequence[PageExample], graded: Sequence[PageExample]) -> None:
    """The results on sites that the weights have not seen."""
    groups = sorted({one.group for one in found})
    orders = {}
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        weights = train([one for one in found if one.group not in held])
        orders.update(dict.fromkeys(held, weights))

    def unseen(one: PageExample) -> "Floats":
        return orders[one.group].scores(one.rows)

    both("written", [one for one in found if one.weight == WRITTEN_WEIGHT], unseen)
    both("made", [one for one in found if one.weight == 1], unseen)
    for group in groups:
        if group.startswith("articles"):
            both(group, [one for one in found if one.group == group], unseen)
    if graded:
        weights = train(found)
        both("graded", graded, lambda one: weights.scores(one.rows))


def write(weights: Weights) -> None:
    """The weights as they are in the package."""
    held = {one.name: np.round(getattr(weights, one.name), 4).tolist() for one in fields(weights)}
    text = json.dumps({"columns": [one.name for one in PageColumn], "weights": held})
    (FOLDER / DATA).write_text(text + "\n", "utf-8")


async def collect(packages: Path, libraries: Path) -> tuple[list[PageExample], list[PageExample]]:
    """All examples to learn from, and those that are only measured."""
    found = []
    for number, site in enumerate(SITES):
        if (packages / site.root).is_dir():
            found += await of_site(packages, libraries, number)
            say(site.name, len(found))
    found += await of_articles(libraries)
    graded = await of_graded(libraries) if documentation.DATA.is_dir() else []
    return found, graded


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--libraries", type=Path, default=Path("page-libraries"))
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args(arguments)
    found, graded = anyio.run(collect, wanted.packages, wanted.libraries)
    measure(found, graded)
    if not wanted.check:
        write(train(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())

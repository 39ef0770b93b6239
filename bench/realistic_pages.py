"""Generated web pages with the sizes and the structure of real ones.

The targets are the quantiles of 200 saved articles, forums, shops and documentation pages (median of the whole page
123 KB, 90 % quantile 452 KB, largest 1.8 MB; of the visible text 9.4 KB; 887 elements, 150 links, 184 `div`, 99 `li`,
33 `p`; half of the pages have inline style sheets, two thirds inline scripts).
"""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate


def listed(words: str) -> list[str]:
    """Words that are separated by spaces."""
    return words.split()


SYLLABLES = listed(
    "ba be bi bo ca ce co da de di do fa fe fi fo ga ge go la le li lo ma me mi mo na ne ni no pa pe pi "
    "po ra re ri ro sa se si so ta te ti to va ve vi vo lin ter mar con per tion ment ness ing er"
)
VOCABULARY = 8_000
COMMON = listed(
    "the of and to in is for that on with as it was by are this from or have be not at which but its an "
    "also can were has more when they their other than one new some been there two these all most may "
    "after into such only"
)
PROPERTIES = (
    "color:#3a3a3a",
    "margin:0 auto 12px",
    "padding:8px 16px",
    "display:flex",
    "font:400 15px/1.5 sans-serif",
    "border-bottom:1px solid #ddd",
    "background:#fff",
    "max-width:720px",
    "transition:opacity .2s",
    "grid-template-columns:1fr 2fr",
)
CLASSES = listed(
    "container row col-md-8 wrapper module card card__body card__title list-item nav-link btn "
    "btn--primary media teaser teaser__headline meta byline u-hidden-mobile grid grid--3 widget "
    "widget-area share-tools ad-slot"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of each kind of content a page has."""

    text_chars: int
    paragraphs: int
    links: int
    wrappers: int
    images: int
    icons: int
    script_bytes: int
    style_bytes: int
    table_rows: int


def shape(dice: random.Random) -> Shape:
    """A shape, drawn from the distributions of real pages; large pages are large in everything."""
    size = dice.gauss(0, 1)

    def drawn(median: float, spread: float, shared: float, most: int) -> int:
        own = math.sqrt(1 - shared**2) * dice.gauss(0, 1)
        return min(round(median * math.exp(spread * (shared * size + own))), most)

    return Shape(
        text_chars=drawn(9_400, 0.75, 0.45, 90_000),
        paragraphs=max(drawn(33, 0.9, 0.3, 400), 3),
        links=drawn(120, 0.75, 0.6, 1_200),
        wrappers=drawn(150, 0.95, 0.7, 2_000),
        images=drawn(18, 1.1, 0.4, 300),
        icons=drawn(12, 1.2, 0.6, 600) if dice.random() < 0.35 else 0,
        script_bytes=drawn(60_000, 1.1, 0.5, 1_200_000) if dice.random() < 0.68 else 0,
        style_bytes=drawn(14_000, 1.9, 0.5, 1_000_000) if dice.random() < 0.52 else 0,
        table_rows=drawn(6, 0.9, 0.0, 120) if dice.random() < 0.12 else 0,
    )


class Writer:
    """Words, sentences and markup of one page, from one random generator."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self._count = 0

    def words(self, count: int) -> str:
        return " ".join(self.dice.choices(WORDS, cum_weights=WEIGHTS, k=count))

    def sentences(self, chars: int) -> str:
        parts: list[str] = []
        while (left := chars - sum(map(len, parts))) > 0:
            words = max(3, min(round(self.dice.gauss(18, 7)), left // 4))
            parts.append(self.words(words).capitalize() + ". ")
        return "".join(parts)

    def link(self) -> str:
        self._count += 1
        slug = self.words(3).replace(" ", "-")
        return (
            f'<a class="{self.classes()}" href="/section/{self._count}/{slug}"'
            f' data-track="{self._count}:{slug}" title="{self.words(4)}">{self.words(self.dice.randint(1, 5))}</a>'
        )

    def image(self) -> str:
        name = self.words(2).replace(" ", "-")
        sizes = ", ".join(
            f"/media/{name}-{width}.jpg {width}w" for width in (320, 480, 640, 960, 1280, 1920)
        )
        return (
            f'<figure class="{self.classes()}"><img src="/media/{name}.jpg" srcset="{sizes}" loading="lazy"'
            f' alt="{self.words(4)}"><figcaption>{self.words(8)}</figcaption></figure>'
        )

    def icon(self) -> str:
        path = " ".join(
            f"L{self.dice.uniform(0, 24):.2f} {self.dice.uniform(0, 24):.2f}" for _ in range(24)
        )
        return f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="M0 0 {path}Z"/></svg>'

    def classes(self) -> str:
        return " ".join(self.dice.sample(CLASSES, k=self.dice.randint(1, 4)))

    def wrapped(self, html: str, depth: int) -> str:
        """The markup inside nested elements, as page builders write them."""
        for _ in range(depth):
            style = f' style="{self.dice.choice(PROPERTIES)}"' if self.dice.random() < 0.15 else ""
            html = f'<div class="{self.classes()}"{style}>{html}</div>'
        return html

    def script(self, size: int) -> Iterator[str]:
        """Inline scripts: configuration as JSON and minified code."""
        while size > 0:
            keys = ",".join(
                f'"{self.words(1)}_{n}":{{"id":{self.dice.randrange(10**9)},"path":"/{self.words(2)}"}}'
                for n in range(40)
            )
            code = f"(function(w,d){{var c={{{keys}}};w.q=w.q||[];w.q.push(c);d.cookie='s='+c.id}})(window,document);"
            yield f"<script>{code}</script>"
            size -= len(code)

    def style(self, size: int) -> Iterator[str]:
        """An inline style sheet: many rules, a few with media queries."""
        while size > 0:
            name, other = self.dice.sample(CLASSES, k=2)
            rule = f".{name} .{other}-{self.dice.randrange(400)}{{{';'.join(self.dice.sample(PROPERTIES, k=3))}}}"
            if self.dice.random() < 0.1:
                rule = f"@media (max-width:{self.dice.randrange(320, 1400)}px){{{rule}}}"
            yield rule
            size -= len(rule)


def vocabulary() -> list[str]:
    """Common words, then invented ones."""
    dice = random.Random("vocabulary")
    invented = {"".join(dice.choices(SYLLABLES, k=dice.randint(2, 4))) for _ in range(VOCABULARY)}
    return [*COMMON, *sorted(invented)]


WORDS = vocabulary()
WEIGHTS = list(accumulate(1 / (rank + 3) for rank in range(len(WORDS))))
"""Frequencies by Zipf's law."""


def realistic_page(number: int) -> str:
    """The HTML of a page; the same for the same number."""
    write = Writer(random.Random(f"page {number}"))
    has = shape(write.dice)
    title = write.words(7).capitalize()
    menu, related = has.links * 2 // 5, has.links // 4
    inline = has.links - menu - related
    depth = max(1, has.wrappers // (has.paragraphs // 3 + has.images + 4))
    parts = list(_main(write, has, inline, depth))
    head = (
        f'<meta charset="utf-8"><title>{title}</title><meta name="description" content="{write.sentences(140)}">'
        f'<meta property="og:title" content="{title}"><link rel="stylesheet" href="/site.css">'
        f"<style>{''.join(write.style(has.style_bytes))}</style>"
    )
    return (
        f'<!doctype html><html lang="en"><head>{head}{"".join(write.script(has.script_bytes // 2))}</head><body>'
        f"<header>{write.wrapped(_list(write, write.link, menu), depth)}</header>"
        f"<main><article><h1>{title}</h1>{''.join(parts)}</article></main>"
        f"<aside><h2>Related</h2>{write.wrapped(_list(write, write.link, related), depth)}</aside>"
        f"<footer>{''.join(write.icon() for _ in range(has.icons))}<p>{write.sentences(300)}</p></footer>"
        f"{''.join(write.script(has.script_bytes // 2))}</body></html>"
    )


def _main(write: Writer, has: Shape, links: int, depth: int) -> Iterator[str]:
    """The content: paragraphs with links in them, headings, lists, images and a table."""
    chars = has.text_chars * 2 // 5 // has.paragraphs
    image_every = max(1, has.paragraphs // max(1, has.images))
    images = has.images
    for number in range(has.paragraphs):
        text = write.sentences(chars)
        if links > 0 and number % 2:
            text += write.link()
            links -= 1
        yield write.wrapped(f"<p>{text}</p>", depth if number % 3 == 0 else 0)
        if number % 6 == 5:
            yield f"<h2>{write.words(5).capitalize()}</h2>"
        if number % 12 == 7:
            yield _list(write, lambda: write.words(9), 5)
        if images and number % image_every == 0:
            yield write.wrapped(write.image(), depth)
            images -= 1
    yield "".join(write.wrapped(write.image(), depth) for _ in range(images))
    yield _list(write, write.link, max(links, 0))
    if has.table_rows:
        rows = "".join(
            f"<tr><td>{write.words(2)}</td><td>{write.dice.randrange(10_000)}</td><td>{write.words(1)}</td></tr>"
            for _ in range(has.table_rows)
        )
        yield f"<table><tr><th>Name</th><th>Count</th><th>Kind</th></tr>{rows}</table>"


def _list(write: Writer, item: Callable[[], str], count: int) -> str:
    items = "".join(f'<li class="{write.classes()}">{item()}</li>' for _ in range(count))
    return f"<ul>{items}</ul>" if items else ""

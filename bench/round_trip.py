"""Markdown → site generator → HTML → `get_content`, compared with the Markdown it started from.

The documents are the project's own and generated ones with every construct. Headings, code, table rows, list items and
links are compared as bags (F1); of the titles of boxes and tabs, the share that is there; and all words as a bag. The
pages that the generators built are in `tests/data/round_trip`; `--build` installs the generators and builds them again.

    python -m bench.round_trip [--only vitepress] [--show 20] [--build]
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench.extract_scores import Score, plain, score_of, word_score
from bench.round_trip_build import BUILDERS, SITE, BuiltPage, build, load, save
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.models import Page

DATA = Path(__file__).parents[1] / "tests" / "data" / "round_trip"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
COMPARED = ("heading", "code", "table", "item", "link", "formula", "footnote")
KINDS = (*COMPARED, "label", "words")
FLOOR = 0.99
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\w)", re.S)
NOTE = re.compile(r"^\[\^(\w+)\]:\s*(.+)", re.M)
NOTE_MARK = re.compile(r"\[\^[\w-]+\]:?")
QUOTES = str.maketrans("‘’“”", "''\"\"")
LANGUAGES = {"py": "python", "js": "javascript", "ts": "typescript", "shell": "bash", "sh": "bash"}
TEX_SPELLINGS = (
    (re.compile(r"\\(le|ge)(?![a-zA-Z])"), r"\\\1q"),
    (re.compile(r"\\mid(?![a-zA-Z])"), "|"),
    (re.compile(r"\\left|\\right|\\[,;:!]|\s+"), ""),
    (re.compile(r"(?<=[_^])\{(\w)\}"), r"\1"),
    (re.compile(r"\{(\((?:[^{}]|\{[^{}]*\})*\))\}(?=\^)"), r"\1"),
    (re.compile(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}"), r"(\1)"),
)
Key = tuple[str, ...]
Parts = dict[str, Counter[Key]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What of a page's source came back, and what differs."""

    counts: dict[str, tuple[int, int, int]]
    """Of each kind: how many are in both, in the text, in the source."""
    words: Score
    lost: list[tuple[str, Key]] = field(default_factory=list)
    added: list[tuple[str, Key]] = field(default_factory=list)


def text_of(page: BuiltPage) -> str:
    """The Markdown that `get_content` makes of a built page."""
    fetched = Page(page.url, page.url, 200, "text/html", page.html.encode(), NOON, charset="utf-8")
    return extract(fetched, ExtractOptions()).text


def compare(page: BuiltPage, text: str) -> Comparison:
    """Compare the text of a page with its source."""
    given, wanted = parts(text, page.url), parts(page.source, page.url)
    counts = {
        kind: ((given[kind] & wanted[kind]).total(), given[kind].total(), wanted[kind].total())
        for kind in COMPARED
    }
    found = [label for label in page.labels if _is_shown(label, text)]
    counts["label"] = (len(found), len(found), len(page.labels))
    missing = set(page.labels) - set(found)
    return Comparison(
        counts,
        word_score(plain(text), plain(page.source)),
        [(kind, key) for kind in COMPARED for key in (wanted[kind] - given[kind]).elements()]
        + [("label", (label,)) for label in sorted(missing)],
        [(kind, key) for kind in COMPARED for key in (given[kind] - wanted[kind]).elements()],
    )


def _is_shown(label: str, text: str) -> bool:
    """Whether a label has a line of its own."""
    lines = (line.strip(" >*#:-`|").replace("\\", "") for line in text.split("\n"))
    return label in lines


def parts(markdown: str, url: str) -> Parts:
    """The parts of a document that are compared, as bags."""
    found: Parts = {kind: Counter() for kind in COMPARED}
    found["formula"].update(_formulas(markdown))
    found["footnote"].update((_plain_text(note[2]),) for note in NOTE.finditer(markdown))
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    for token, heading in zip(tokens, [None, *tokens], strict=False):
        if token.type in ("fence", "code_block"):
            found["code"][_code(token.content), _language(token.info)] += 1
        elif token.type == "inline":
            found["link"].update(_links(token, url))
            if heading is not None and heading.type == "heading_open":
                found["heading"][heading.tag, _text(token)] += 1
    found["table"].update(_rows(tokens))
    found["item"].update(_items(tokens))
    return found


def _code(text: str) -> str:
    """Code without spaces at the ends of lines, which generators leave behind."""
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def _language(information: str) -> str:
    name = information.split()[0].lower() if information.strip() else "text"
    return LANGUAGES.get(name, name)


def _text(inline: Token) -> str:
    """The text of a line without marks."""
    shown = (
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in inline.children or ()
        if child.type != "image"
    )
    return _normalised("".join(shown))


def _normalised(text: str) -> str:
    text = FORMULA.sub(lambda found: f"${_canonical(found[1] or found[2])}$", text)
    text = NOTE_MARK.sub("", text).replace("\\", "").replace("…", "...")
    return " ".join(text.translate(QUOTES).split())


def _plain_text(markdown: str) -> str:
    return " ".join(
        _text(token) for token in MarkdownIt("commonmark").parse(markdown) if token.type == "inline"
    )


def _formulas(markdown: str) -> Iterator[Key]:
    prose = re.sub(r"^[ >]*(`{3,}).*?^[ >]*\1|`[^`\n]+`", "", markdown, flags=re.M | re.S)
    for found in FORMULA.finditer(prose):
        yield (_canonical(found[1] or found[2]),)


def _canonical(tex: str) -> str:
    """TeX in one spelling: generators that keep only MathML lose optional braces and spaces."""
    for pattern, spelling in TEX_SPELLINGS:
        tex = pattern.sub(spelling, tex)
    return tex


def _links(inline: Token, url: str) -> Iterator[Key]:
    """The links of a line, without those within the page and bare addresses."""
    target, label = "", ""
    for child in inline.children or ():
        if child.type == "link_open":
            target, label = str(child.attrs["href"]), ""
        elif child.type == "link_close" and label and not (label == target and "://" in label):
            if key := _target(target, url):
                yield _normalised(label), key
        elif child.type != "image":
            label += child.content or " "


def _target(href: str, url: str) -> str:
    """A target in a form that is the same for all generators; empty for a place in the page itself."""
    parts_of_url = urlsplit(urljoin(url, href))
    if f"{parts_of_url.scheme}://{parts_of_url.netloc}" != SITE:
        return unquote(parts_of_url.geturl()).rstrip("/")
    return (
        ""
        if _page_name(parts_of_url.path) == _page_name(urlsplit(url).path)
        else _page_name(parts_of_url.path)
    )


def _page_name(path: str) -> str:
    """The last part of a path: generators put the pages into different folders."""
    name = re.sub(r"(?:index)?\.(?:html|mdx?)$", "", path).rstrip("/")
    return name.rpartition("/")[2]


def _rows(tokens: Sequence[Token]) -> Iterator[Key]:
    row: list[str] = []
    for token, before in zip(tokens, [None, *tokens], strict=False):
        if token.type == "tr_open":
            row = []
        elif (
            token.type == "inline" and before is not None and before.type in ("td_open", "th_open")
        ):
            row.append(_text(token))
        elif token.type == "tr_close" and any(row):
            yield tuple(row)


def _items(tokens: Sequence[Token]) -> Iterator[Key]:
    """The text of each item's first paragraph, with its depth and the kind of its list."""
    lists: list[str] = []
    waiting = False
    for token in tokens:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(token.tag)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type == "list_item_open":
            waiting = True
        elif token.type == "inline" and waiting:
            waiting = False
            yield str(len(lists)), lists[-1], _text(token)


def figures(comparisons: Iterable[Comparison]) -> dict[str, float]:
    """The F1 of each kind over all pages, the share of labels, and the mean F1 of words."""
    pages = list(comparisons)
    shares = {}
    for kind in (*COMPARED, "label"):
        both, given, wanted = (
            sum(column) for column in zip(*(page.counts[kind] for page in pages), strict=True)
        )
        shares[kind] = score_of(both, given, wanted).f1 if given or wanted else 1.0
    return shares | {"words": sum(page.words.f1 for page in pages) / len(pages)}


def _show(name: str, comparison: Comparison, left: int) -> int:
    for sign, differences in (("-", comparison.lost), ("+", comparison.added)):
        for kind, key in differences[:left]:
            print(f"{sign} {name} {kind}: {key!r}")
            left -= 1
    return left


def main() -> None:
    """Build the pages if asked; print the figures of each generator."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=BUILDERS, nargs="*", default=list(BUILDERS))
    parser.add_argument(
        "--build", action="store_true", help="install the generators and build the pages"
    )
    parser.add_argument("--show", type=int, default=0, help="how many differences to print")
    options = parser.parse_args()
    print(f"{'':16}" + "".join(f"{kind:>10}" for kind in KINDS))
    for generator in options.only:
        path = DATA / f"{generator}.jsonl.xz"
        if options.build:
            with tempfile.TemporaryDirectory() as folder:
                save(build(generator, Path(folder)), path)
        compared = {page.name: compare(page, text_of(page)) for page in load(path)}
        shown = figures(compared.values())
        print(f"{generator:16}" + "".join(f"{shown[kind]:10.3f}" for kind in KINDS))
        left = options.show
        for name, comparison in compared.items():
            left = _show(name, comparison, left)


if __name__ == "__main__":
    main()

"""A loader's HTML → one plain HTML document.

The tree keeps text, headings, lists, tables, code, formulas (as TeX) and links. Classes, styles and wrappers are
removed, so that extraction needs no knowledge of the source.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from kindly.frozen import frozen
from kindly.models import Page

if TYPE_CHECKING:
    from turbohtml import Element

WRAPPERS = "div, section, center, font, header, footer, main, nav, aside, article, tfoot, hgroup"
INLINE_WRAPPERS = "span, small, bdi, bdo, time, abbr, cite, data, big, u, ins, mark, wbr, label, link, meta, style"
BLOCKS = (
    "p, div, section, ul, ol, dl, table, pre, blockquote, figure, h1, h2, h3, h4, h5, h6, hr, "
    "main, article, center"
)
LISTS = "ul, ol, dl"
KEPT_ATTRIBUTES = frozenset({"href", "src", "alt", "colspan", "rowspan", "start"})
LANGUAGE = re.compile(r"\blanguage-[\w+#-]{1,20}")
DISPLAY_STYLE = re.compile(r"\A\{\\(?:displaystyle|textstyle)\s+(.*)\}\Z", re.S)
LINE_CONTINUED = re.compile(r"%\n")
LINK_DENSE = 0.4


@frozen
class Article:
    """The content of an HTML document: its body and its metadata."""

    title: str
    body: str
    url: str
    author: str = ""
    published: str = ""
    modified: str = ""
    site: str = ""
    language: str = ""


def to_html(article: Article) -> bytes:
    """The HTML document; the title is its only first-level heading."""
    named = (
        ("author", article.author),
        ("article:published_time", article.published),
        ("article:modified_time", article.modified),
        ("og:site_name", article.site),
    )
    head = "".join(
        f'<meta property="{name}" name="{name}" content="{escape(value)}">'
        for name, value in named
        if value
    )
    language = f' lang="{escape(article.language)}"' if article.language else ""
    title = escape(article.title, quote=False)
    return (
        f'<!DOCTYPE html>\n<html{language}><head><meta charset="utf-8"><title>{title}</title>'
        f'<link rel="canonical" href="{escape(article.url)}">{head}</head>\n'
        f"<body><main><article>\n<h1>{title}</h1>\n{article.body}\n</article></main></body></html>\n"
    ).encode("utf-8", "replace")


def article_page(article: Article, now: datetime) -> Page:
    """A page with the document."""
    return Page(
        url=article.url,
        requested_url=article.url,
        status=200,
        media_type="text/html",
        body=to_html(article),
        fetched_at=now,
        charset="utf-8",
    )


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """A list of facts as HTML, without those that have no value. Values are HTML already."""
    rows = "".join(
        f"<li><strong>{escape(name)}:</strong> {value}</li>" for name, value in pairs if value
    )
    return f"<ul>{rows}</ul>" if rows else ""


def tidy(root: "Element") -> None:
    """Simplify a tree in place: formulas as TeX, no wrappers, only a few attributes."""
    write_formulas(root, "math")
    for wrapper in reversed(root.select(WRAPPERS)):
        _undo(wrapper)
    for element in root.select(INLINE_WRAPPERS):
        if element.tag in {"style", "link", "meta"}:
            element.decompose()
        else:
            element.unwrap()
    _settle_links(root)
    for element in root.iter_elements():
        _strip(element)


def write_formulas(root: "Element", selector: str) -> None:
    """Replace each formula by its TeX: displayed ones as `math` code blocks, others as $`…`$."""
    from turbohtml import Element, Text

    for element in root.select(selector):
        source = element if element.tag == "math" else element.select_one("math")
        tex = "" if source is None else tex_of(source)
        if source is None or not tex:
            continue
        if source.attr("display") == "block":
            element.replace_with(displayed(tex))
        else:
            element.replace_with(Text("$"), Element("code", {}, [Text(tex)]), Text("$"))


def displayed(tex: str) -> "Element":
    """A displayed formula."""
    from turbohtml import Element, Text

    return Element("pre", {}, [Element("code", {"class": "language-math"}, [Text(tex)])])


def tex_of(math: "Element") -> str:
    """The TeX source of a MathML element; empty if it has none."""
    annotation = next(
        (node for node in math.select("annotation") if "tex" in (node.attr("encoding") or "")), None
    )
    tex = (math.attr("alttext") or "").strip() or (annotation.text if annotation else "").strip()
    tex = LINE_CONTINUED.sub("", tex)
    found = DISPLAY_STYLE.match(tex)
    return (found.group(1) if found else tex).strip()


def _undo(wrapper: "Element") -> None:
    """Remove wrappers of blocks; turn wrappers of text into paragraphs."""
    from turbohtml import Text

    parent = wrapper.parent
    inside_cell = getattr(parent, "tag", "") in {
        "td",
        "th",
        "li",
        "dd",
        "figcaption",
        "caption",
        "p",
    }
    if wrapper.select_one(BLOCKS) is not None or not wrapper.text.strip() or inside_cell:
        wrapper.insert_before(Text(" "))
        wrapper.unwrap()
    else:
        wrapper.tag = "p"


def _settle_links(root: "Element") -> None:
    """Replace links in tables, and in lists of links, by their text: extraction would take them for navigation."""
    for anchor in root.select("table a, a:not([href])"):
        anchor.unwrap()
    for block in root.select(LISTS):
        linked = sum(len(anchor.text) for anchor in block.select("a"))
        if linked > LINK_DENSE * len(block.text):
            for anchor in block.select("a"):
                anchor.unwrap()


def _strip(element: "Element") -> None:
    for name in list(element.attrs):
        if name == "class" and element.tag in {"pre", "code"}:
            found = LANGUAGE.search(element.attr("class") or "")
            if found:
                element.attrs["class"] = [found.group()]
                continue
        if name not in KEPT_ATTRIBUTES:
            del element.attrs[name]

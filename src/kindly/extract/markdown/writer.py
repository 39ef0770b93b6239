"""Renderer: the elements of a cleaned tree → Markdown, plain text or sanitised HTML, with absolute links.

The tree is changed in place: links are resolved, and tables, code blocks, lists and footnotes are normalised.
"""

import dataclasses
import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urljoin

from turbohtml import Element, Markdown, PlainText, Text
from turbohtml.clean import OnDisallowed, Policy, Sanitizer

from kindly.extract import ExtractOptions
from kindly.extract.markdown import VERBATIM_TAG
from kindly.extract.markdown.box_titles import BoxTitles, insert_box_titles
from kindly.extract.markdown.code_blocks import normalise_code_blocks
from kindly.extract.markdown.escapes import without_escapes
from kindly.extract.markdown.footnotes import normalise_footnotes
from kindly.extract.markdown.inline_marks import normalise_inline_marks
from kindly.extract.markdown.lists import normalise_lists
from kindly.extract.markdown.tables import normalise_tables
from kindly.models import Link
from kindly.text.invisible import clean

NO_TITLES = BoxTitles()
MAX_LINKS = 200
MAX_LINK_TEXT = 200
PERMALINK = frozenset({"#", "¶", "§", "🔗", "", "permalink", "link", "anchor"})
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff \t\n"
"""What themes put into a permalink so that it has a text."""
HEADINGS = "h1, h2, h3, h4, h5, h6"
HEADING_TAGS = tuple(HEADINGS.split(", "))
EMPHASIS_TAGS = "strong, b, em, i, u, font"
PLAIN_ADDRESS = re.compile(r"https?://[\w.:-]+(?:[/?#]\S*)?\Z")
SITE = re.compile(r"https?://[\w.:-]+(?=[/?#]|\Z)", re.A)
PLAIN_PATH = re.compile(r"/(?!/)[\w/%~+.,-]*(?:\?[\w/%~+.,=&-]+)?(?:#[\w-]+)?\Z", re.A)
"""A path on the same site without dot segments, which can simply be appended to the origin."""
NO_PAGE = re.compile(
    r"[?&](?:action=(?:edit|history)|veaction=edit|redlink=1)\b|/Special:BookSources/|/Template(?:_talk)?:"
)
"""Links of wikis to forms and to pages that do not exist."""
FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})", re.M)
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
LONE_BREAK = re.compile(r"^\\\n", re.M)
EMPHASIS_TAG = re.compile(
    r"\\[\\`]|^(?P<fence>[ >]*(?P<mark>`{3,}|~{3,})).*?^[ >]*(?P=mark)|"
    r"(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)|(?<!\\)</?(?P<tag>strong|em|del|s)>",
    re.M | re.S,
)
TAG_ALONE = re.compile(r"</?(strong|em|del|s)>")
"""The faster pattern for text without code."""
EMPHASIS = {"strong": "**", "em": "*", "del": "~~", "s": "~~"}
EMPHASIS_ENDS = tuple(f"</{tag}>" for tag in EMPHASIS)


def render(
    roots: Sequence[Element],
    options: ExtractOptions,
    base_url: str,
    titles: BoxTitles = NO_TITLES,
) -> tuple[str, tuple[Link, ...]]:
    """The text of these elements in order, and the links in them; `titles` belong to boxes in them."""
    links: dict[str, str] = {}
    for root in roots:
        normalise_code_blocks(root)
        insert_box_titles(root, titles)
        _remove_styling(root)
        normalise_inline_marks(root)
        normalise_footnotes(root)
        _resolve_links(root, base_url, links)
        _resolve_images(root, options, base_url)
        normalise_tables(root)
        _remove_empty(root)
        normalise_lists(root)
    text = "\n\n".join(filter(None, (_rendered(root, options) for root in roots)))
    return text, tuple(
        Link(clean(label)[0], clean(url)[0]) for url, label in list(links.items())[:MAX_LINKS]
    )


def collapse_blank_lines(text: str) -> str:
    """Collapse runs of empty lines into one, except in code blocks."""
    if "```" not in text and "~~~" not in text:
        return _collapsed(text).strip("\n")
    pieces: list[str] = []
    position, fence = 0, ""
    for found in FENCE.finditer(text):
        mark = found.group(1)
        if not fence:
            pieces.append(_collapsed(text[position : found.start()]))
            position, fence = found.start(), mark
        elif mark.startswith(fence):
            end = found.end()
            pieces.append(text[position:end])
            position, fence = end, ""
    tail = text[position:]
    pieces.append(tail if fence else _collapsed(tail))
    return "".join(pieces).strip("\n")


def _collapsed(prose: str) -> str:
    if "\n\\\n" in prose:
        prose = LONE_BREAK.sub("", prose)
    return BLANK_LINES.sub("\n\n", prose)


def _rendered(root: Element, options: ExtractOptions) -> str:
    if options.format == "html":
        return _sanitizer(options.include_links, options.include_images).sanitize(root).strip()
    if options.format == "text":
        plain = root.to_text(PlainText(images=options.include_images, bullet="- "))
        return BLANK_LINES.sub("\n\n", plain).strip("\n")
    has_verbatim = root.select_one(VERBATIM_TAG) is not None
    rendered = root.to_markdown(_style(options.include_links, options.include_images, has_verbatim))
    return collapse_blank_lines(without_escapes(_restore_emphasis(rendered)))


def _restore_emphasis(text: str) -> str:
    """Emphasis as Markdown. The library writes tags where a strict parser might misread the marks."""
    if not any(end in text for end in EMPHASIS_ENDS):
        return text
    if "`" not in text and "~~~" not in text:
        return TAG_ALONE.sub(_emphasis_mark, text)
    return EMPHASIS_TAG.sub(lambda found: EMPHASIS.get(found["tag"] or "", found[0]), text)


def _emphasis_mark(tag: re.Match[str]) -> str:
    escaped = tag.string.startswith("\\", max(tag.start() - 1, 0))
    return tag[0] if escaped else EMPHASIS[tag[1]]


@lru_cache(maxsize=8)
def _style(include_links: bool, include_images: bool, has_verbatim: bool) -> Markdown:  # noqa: FBT001 - keys of the cache
    return Markdown(
        links=Markdown.Links(ignore=not include_links),
        images=Markdown.Images(mode="markdown" if include_images else "ignore"),
        tables=Markdown.Tables(cell_blocks="text"),
        escaping=Markdown.Escaping(underscores=False),
        converters={VERBATIM_TAG: lambda element, _: element.text} if has_verbatim else None,
    )


@lru_cache(maxsize=4)
def _sanitizer(include_links: bool, include_images: bool) -> Sanitizer:  # noqa: FBT001 - keys of the cache
    relaxed = Policy.relaxed()
    unwanted = {"div", "span", "font"}
    unwanted |= set() if include_links else {"a"}
    unwanted |= set() if include_images else {"img"}
    return Sanitizer(
        dataclasses.replace(
            relaxed,
            tags=(relaxed.tags | {"details", "summary"}) - unwanted,
            attributes={
                **relaxed.attributes,
                "*": frozenset({"lang", "dir"}),
                "a": frozenset({"href"}),
                "pre": frozenset({"class"}),
            },
            on_disallowed_tag=OnDisallowed.STRIP,
            add_link_rel=frozenset(),
        )
    )


def _remove_styling(root: Element) -> None:
    """Remove styling that would change the output: `white-space` styles, bold in headings."""
    for element in root.select("[style*='white-space' i]"):
        del element.attrs["style"]
    for around in (root, *root.ancestors):
        if isinstance(around, Element) and "style" in around.attrs:
            del around.attrs["style"]
    for heading in list(root.iter_elements(HEADING_TAGS)):
        heading.strip_tags(EMPHASIS_TAGS)


def _resolve_links(root: Element, base_url: str, links: dict[str, str]) -> None:
    """Make links absolute, collect them, and replace links without a target by their text."""
    for anchor in root.select("a"):
        label = " ".join(anchor.text.strip(INVISIBLE).split())
        if label.lower() in PERMALINK and anchor.closest(HEADINGS) is not None:
            anchor.decompose()
            continue
        url = _absolute(anchor.attr("href"), base_url)
        if url is None or NO_PAGE.search(url) or (not label and anchor.select_one("img") is None):
            anchor.unwrap()
            continue
        if label.startswith("[") and label.endswith("]"):
            _strip_brackets(anchor)
        anchor.attrs.clear()
        anchor.attrs["href"] = url
        if label and url.startswith("http"):
            links.setdefault(url, label[:MAX_LINK_TEXT])
        _move_link_into_heading(anchor, url)


def _strip_brackets(anchor: Element) -> None:
    """Remove brackets around the whole text of a link: Markdown writes its own."""
    texts = [node for node in anchor.descendants if isinstance(node, Text) and node.data.strip()]
    if len(texts) == 1 and texts[0].data.count("[") == 1:
        texts[0].data = texts[0].data.strip()[1:-1]


def _move_link_into_heading(anchor: Element, url: str) -> None:
    """Turn a link around a whole card into a link in the card's heading."""
    heading = next(anchor.iter_elements(HEADING_TAGS), None)
    if heading is not None:
        heading.wrap_children(Element("a", {"href": url}))
        anchor.unwrap()


def _absolute(href: str | None, base_url: str) -> str | None:
    href = (href or "").strip()
    if not href or href.startswith("#"):
        return None
    if PLAIN_ADDRESS.match(href):
        return href
    if "/." not in href and PLAIN_PATH.match(href) and (site := _origin(base_url)):
        return site + href
    try:
        url = urljoin(base_url, href)
    except ValueError:
        return None
    return url if url.lower().startswith(("http://", "https://", "mailto:")) else None


@lru_cache(maxsize=8)
def _origin(base_url: str) -> str:
    """The origin (scheme and host) of a URL, or an empty string."""
    found = SITE.match(base_url)
    return found[0] if found else ""


def _resolve_images(root: Element, options: ExtractOptions, base_url: str) -> None:
    if not options.include_images:
        root.remove("img")
        return
    for image in root.select("img"):
        source = image.attr("src") or ""
        if not source or source.startswith("data:"):
            source = image.attr("data-src") or ""
        url = _absolute(source, base_url)
        if url is None:
            image.decompose()
            continue
        alt = " ".join((image.attr("alt") or "").split())
        for name in list(image.attrs):
            del image.attrs[name]
        image.attrs["src"] = url
        image.attrs["alt"] = alt


def _remove_empty(root: Element) -> None:
    """Remove empty headings, list items and links, which would leave bare marks."""
    for element in root.select(f"a, li, p, {HEADINGS}"):
        if not element.text.strip() and element.select_one("img, hr") is None:
            element.decompose()
    for summary in root.select("summary"):
        _make_bold(summary)


def _make_bold(summary: Element) -> None:
    """Write the summary of a collapsed part in bold, like a heading."""
    if (
        summary.select_one(f"{HEADINGS}, strong, b, p, div, ul, table") is None
        and summary.text.strip()
    ):
        summary.wrap_children(Element("strong"))

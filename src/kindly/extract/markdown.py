"""Elements of a cleaned tree → text in the format asked for, with absolute links and verbatim code.

It changes the tree on its way (links resolved, layout tables undone, code languages named) and knows nothing of what is
worth reading.
"""

import dataclasses
import re
from collections.abc import Sequence
from urllib.parse import urljoin

from turbohtml import Element, Markdown, PlainText
from turbohtml.clean import OnDisallowed, Policy, Sanitizer

from kindly.extract.options import ExtractOptions
from kindly.models import Link

MAX_LINKS = 200
MAX_LINK_TEXT = 200
LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*|sourceCode\s+|hljs\s+|codehilite\s+)"
    r"([A-Za-z][\w+#-]{0,20})"
)
NOT_LANGUAGES = (
    "none text plain plaintext default notranslate copy block wrapper container source line lines"
)
NOT_A_LANGUAGE = frozenset(NOT_LANGUAGES.split())
LINE_NUMBERS = (
    ".linenos, .linenodiv, .lineno, .line-numbers-rows, td.gutter, .hljs-ln-numbers, .blob-num, .rouge-gutter, "
    ".react-code-line-number"
)
PERMALINK = frozenset({"#", "¶", "§", "🔗", "", "permalink", "link", "anchor"})
HEADINGS = "h1, h2, h3, h4, h5, h6"
FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})", re.M)
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


def render(
    roots: Sequence[Element], options: ExtractOptions, base_url: str
) -> tuple[str, tuple[Link, ...]]:
    """The text of these elements one after the other, and the links in them."""
    links: dict[str, str] = {}
    for root in roots:
        _name_languages(root)
        _undo_layout_tables(root)
        _settle_links(root, base_url, links)
        _settle_images(root, options, base_url)
        _drop_empty(root)
    text = "\n\n".join(filter(None, (_rendered(root, options) for root in roots)))
    return text, tuple(Link(label, url) for url, label in list(links.items())[:MAX_LINKS])


def collapse_blank_lines(text: str) -> str:
    """At most one empty line in a row, but code stays as it is."""
    pieces: list[str] = []
    position, fence = 0, ""
    for found in FENCE.finditer(text):
        mark = found.group(1)
        if not fence:
            pieces.append(BLANK_LINES.sub("\n\n", text[position : found.start()]))
            position, fence = found.start(), mark
        elif mark.startswith(fence):
            end = found.end()
            pieces.append(text[position:end])
            position, fence = end, ""
    rest = text[position:]
    pieces.append(rest if fence else BLANK_LINES.sub("\n\n", rest))
    return "".join(pieces).strip("\n")


def _rendered(root: Element, options: ExtractOptions) -> str:
    if options.format == "html":
        return _sanitizer(options).sanitize(root).strip()
    if options.format == "text":
        plain = root.to_text(PlainText(images=options.include_images, bullet="- "))
        return BLANK_LINES.sub("\n\n", plain).strip("\n")
    return collapse_blank_lines(root.to_markdown(_style(options)))


def _style(options: ExtractOptions) -> Markdown:
    return Markdown(
        links=Markdown.Links(ignore=not options.include_links),
        images=Markdown.Images(mode="markdown" if options.include_images else "ignore"),
        tables=Markdown.Tables(cell_blocks="text"),
        escaping=Markdown.Escaping(underscores=False),
    )


def _sanitizer(options: ExtractOptions) -> Sanitizer:
    relaxed = Policy.relaxed()
    unwanted = {"div", "span", "font"}
    unwanted |= set() if options.include_links else {"a"}
    unwanted |= set() if options.include_images else {"img"}
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


def _name_languages(root: Element) -> None:
    """Put the language of each code block where the renderer looks for it, and take line numbers out."""
    root.remove(LINE_NUMBERS)
    for pre in root.select("pre"):
        language = _language_of(pre)
        pre.attrs["class"] = [f"language-{language}"] if language else []
        for code in pre.select("code"):
            code.attrs["class"] = []


def _language_of(pre: Element) -> str | None:
    inner = pre.select_one("code")
    around = [node for node in list(pre.ancestors)[:3] if isinstance(node, Element)]
    for element in [node for node in (inner, pre, *around) if node is not None]:
        named = element.attr("data-lang") or element.attr("data-language")
        found = LANGUAGE.search(element.attr("class") or "")
        language = (named or (found.group(1) if found else "")).strip().lower()
        if re.fullmatch(r"[a-z][\w+#-]{0,20}", language) and language not in NOT_A_LANGUAGE:
            return language
    return None


def _undo_layout_tables(root: Element) -> None:
    for table in root.select("table"):
        if _is_layout(table):
            parts = table.select("tbody, thead, tr, td")
            own = [part for part in parts if part.closest("table") == table]
            for element in (table, *own):
                element.tag = "div"


def _is_layout(table: Element) -> bool:
    if table.attr("role") == "presentation" or table.select_one("table, pre") is not None:
        return True
    if table.select_one("th, caption, thead") is not None:
        return False
    rows = table.select("tr")
    return all(sum(isinstance(cell, Element) for cell in row.children) <= 1 for row in rows)


def _settle_links(root: Element, base_url: str, links: dict[str, str]) -> None:
    """Make links absolute, note them down, and reduce those that lead nowhere to their text."""
    for anchor in root.select("a"):
        label = " ".join(anchor.text.split())
        if label.lower() in PERMALINK and anchor.closest(HEADINGS) is not None:
            anchor.decompose()
            continue
        url = _absolute(anchor.attr("href"), base_url)
        if url is None or (not label and anchor.select_one("img") is None):
            anchor.unwrap()
            continue
        for name in list(anchor.attrs):
            del anchor.attrs[name]
        anchor.attrs["href"] = url
        if label and url.startswith("http"):
            links.setdefault(url, label[:MAX_LINK_TEXT])
        _link_heading_instead(anchor, url)


def _link_heading_instead(anchor: Element, url: str) -> None:
    """A link around a whole card becomes a link in the card's heading."""
    heading = anchor.select_one(HEADINGS)
    if heading is not None:
        heading.wrap_children(Element("a", {"href": url}))
        anchor.unwrap()


def _absolute(href: str | None, base_url: str) -> str | None:
    if not href or href.strip().startswith("#"):
        return None
    try:
        url = urljoin(base_url, href.strip())
    except ValueError:
        return None
    return url if url.lower().startswith(("http://", "https://", "mailto:")) else None


def _settle_images(root: Element, options: ExtractOptions, base_url: str) -> None:
    for image in root.select("img"):
        source = image.attr("src") or ""
        if not source or source.startswith("data:"):
            source = image.attr("data-src") or ""
        url = _absolute(source, base_url) if options.include_images else None
        if url is None:
            image.decompose()
            continue
        alt = " ".join((image.attr("alt") or "").split())
        for name in list(image.attrs):
            del image.attrs[name]
        image.attrs["src"] = url
        image.attrs["alt"] = alt


def _drop_empty(root: Element) -> None:
    """Headings, list items and links without anything in them would leave bare marks."""
    for element in root.select(f"a, li, p, {HEADINGS}"):
        if not element.text.strip() and element.select_one("img, hr") is None:
            element.decompose()

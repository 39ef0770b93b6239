"""RFCs: any URL of an RFC → its plain text without page breaks, sections as headings, figures verbatim."""

import re
from collections.abc import Iterator

import anyio.to_thread

from kindly.errors import KindlyError
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import (
    document,
    facts,
    fenced,
    heading,
    line,
    markdown_page,
)
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

ADDRESSES: tuple[tuple[frozenset[str], re.Pattern[str]], ...] = (
    (
        frozenset({"www.rfc-editor.org", "rfc-editor.org"}),
        re.compile(r"/(?:rfc|info)/rfc0*([1-9][0-9]{0,4})(?:\.txt|\.html|\.xml|\.pdf)?/?\Z", re.I),
    ),
    (
        frozenset({"datatracker.ietf.org"}),
        re.compile(r"/doc/(?:html/|txt/|pdf/)?rfc0*([1-9][0-9]{0,4})(?:\.txt|\.html)?/?\Z", re.I),
    ),
    (
        frozenset({"tools.ietf.org", "www.ietf.org", "ietf.org"}),
        re.compile(r"/(?:html|rfc|pdf)/rfc0*([1-9][0-9]{0,4})(?:\.txt|\.html)?/?\Z", re.I),
    ),
)

FOOTER = re.compile(r"^\S.*\[Page [0-9ivx]+\][ \t]*$", re.I)
HEADER = re.compile(r"^RFC [0-9]+ .*(?:19|20)[0-9]{2}[ \t]*$", re.I)
SECTION = re.compile(r"^((?:[0-9]+\.)*[0-9]+\.?|[A-Z](?:\.[0-9]+)+\.?|[A-Z]\.)[ \t]{1,4}(\S.*)$")
APPENDIX = re.compile(r"^(Appendix [A-Z0-9]+)[.:]?(?:[ \t]+(?:-+ +)?(.*))?$", re.I)
PLAIN_TITLES = re.compile(
    r"^(?:Abstract|Status of [Tt]his Memo|Copyright Notice|Table of Contents|Introduction|Acknowledge?ments?|"
    r"Contributors|"
    r"Authors?['’]s? Address(?:es)?|References|(?:Normative|Informative) References|Index|Full Copyright Statement|"
    r"Intellectual Property|Security Considerations|IANA Considerations|IESG Note|Note)[.:]?$"
)
LEADERS = re.compile(r"\.{4,}|(?:\. ){3,}")
BULLET = re.compile(r"^([o*+-]|\([0-9a-z]{1,3}\)|[0-9]{1,2}[.)]) {1,4}(?=\S)")
DRAWN = re.compile(
    r"\+[-=]{2,}|[-=]{2,}\+|[|!].*[|!]|-{2,}>|<-{2,}|_{5,}|={5,}|^\s*[|+/\\][\s|+/\\-]*$"
)
CODE = re.compile(r"[{};]\s*$|^\s*[\w-]+\s+=/?\s|\s{4,}\S|^\s*[\[{<]|://|^\s*(?:[CS]:|-->|//|#)\s?")
PROSE_WIDTH = 44
"""Lines of prose have at least this length before they break."""


@frozen
class Rfc:
    """Loads RFCs from the RFC Editor."""

    name: str = "rfc"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (("RFC_EDITOR_URL", "https://www.rfc-editor.org"),)

    def matches(self, url: Url) -> bool:
        return number_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The RFC, with its status (such as obsoleted) if the RFC Editor gives one."""
        number = number_of(url)
        if number is None:
            raise NotLoaded("The URL does not name an RFC.", url=str(url))
        reply = await client.api(client.address("RFC_EDITOR_URL", f"/rfc/rfc{number}.txt"))
        if reply.body.lstrip()[:1] == b"<":
            raise NotLoaded("The RFC is not available as plain text.", url=str(url))
        record = await _record(number, client)
        text = reply.body.decode("utf-8", "replace")
        markdown = await anyio.to_thread.run_sync(to_markdown, number, text, record)
        return markdown_page(url, markdown, client.now)


async def _record(number: str, client: LoaderClient) -> JsonFields:
    """The RFC Editor's metadata of an RFC; empty if it is not available."""
    try:
        return JsonFields.of(
            await client.json(client.address("RFC_EDITOR_URL", f"/rfc/rfc{number}.json"))
        )
    except KindlyError:
        return JsonFields({})


def number_of(url: Url) -> str | None:
    """The RFC's number in a URL."""
    path = url.target.partition("?")[0]
    for hosts, pattern in ADDRESSES:
        found = pattern.match(path) if url.host in hosts else None
        if found:
            return found[1]
    return None


def to_markdown(number: str, text: str, record: JsonFields) -> str:
    """The RFC's text as Markdown, below its metadata."""
    title = line(record.text("title"))
    known = facts(
        line(record.text("status") or record.text("pub_status")).capitalize(),
        line(record.text("pub_date")),
        _listed("Obsoletes", record.texts("obsoletes")),
        _listed("Updates", record.texts("updates")),
    )
    fate = facts(
        _listed("Obsoleted by", record.texts("obsoleted_by")),
        _listed("Updated by", record.texts("updated_by")),
    )
    return document(
        heading(1, f"RFC {number}: {title}" if title else f"RFC {number}"),
        f"**{fate}**" if fate else "",
        known,
        *laid_out(without_pages(text)),
    )


def without_pages(text: str) -> list[str]:
    """The lines of an RFC without page breaks, footers and headers; paragraphs across pages are joined."""
    kept: list[str] = []
    for page in text.replace("\r\n", "\n").split("\f"):
        lines = page.split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and FOOTER.match(lines[-1]):
            lines.pop()
        while lines and not lines[-1].strip():
            lines.pop()
        start = next((index for index, row in enumerate(lines) if row.strip()), 0)
        if kept and lines and HEADER.match(lines[start]):
            lines = lines[start + 1 :]
        while kept and lines and not lines[0].strip():
            lines.pop(0)
        if kept and lines and not _continues(kept[-1], lines[0]):
            kept.append("")
        kept += [row.rstrip() for row in lines]
    return kept


def _continues(last: str, first: str) -> bool:
    """Whether a page's first line continues the last paragraph of the page before."""
    same_depth = _depth(last) == _depth(first)
    return same_depth and not last.endswith((".", ":", "|")) and first.strip()[:1].islower()


def laid_out(lines: list[str]) -> Iterator[str]:
    """Markdown parts: headings, paragraphs and verbatim blocks; adjacent verbatim blocks are joined."""
    verbatim: list[str] = []
    for block in _blocks(lines):
        if _is_verbatim(block):
            verbatim += ["", *block] if verbatim else block
            continue
        if verbatim:
            yield fenced("\n".join(_dedented(verbatim)))
            verbatim = []
        yield _heading(block) or _paragraph(block)
    if verbatim:
        yield fenced("\n".join(_dedented(verbatim)))


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for row in [*lines, ""]:
        if row.strip():
            block.append(row)
        elif block:
            yield block
            block = []


def _heading(block: list[str]) -> str:
    """A block of one unindented line, or of a title over two, that numbers or names a section."""
    first = block[0]
    if first[:1].isspace() or len(block) > 2 or LEADERS.search(first):
        return ""
    text = line(" ".join(block))
    if found := SECTION.match(text):
        level = min(found[1].rstrip(".").count(".") + 2, 6)
        return heading(level, text)
    if APPENDIX.match(text) or PLAIN_TITLES.match(text):
        return heading(2, text)
    return ""


def _is_verbatim(block: list[str]) -> bool:
    """Whether line breaks and spaces are significant: a figure, a table, code, a table of contents,
    the head of the first page.
    """
    if any(DRAWN.search(row) or LEADERS.search(row) for row in block):
        return True
    if _heading(block):
        return False
    first = block[0]
    if not first[:1].isspace():
        return len(block) > 1 and any(re.search(r"\S {4,}\S", row) for row in block)
    body = BULLET.sub("", first.strip())
    if body != first.strip() or _is_filled(block):
        return False
    deep = _depth(first) > 3
    return (deep and any(CODE.search(row) for row in block)) or _is_ragged(block)


def _is_filled(block: list[str]) -> bool:
    """Whether lines break at full length, as in prose."""
    return len(block) > 1 and all(
        len(row.strip()) > PROSE_WIDTH and "    " not in row.strip() for row in block[:-1]
    )


def _is_ragged(block: list[str]) -> bool:
    """Whether lines start at many indentation levels, as in code."""
    return len(block) > 2 and len({_depth(row) for row in block}) > 2


def _paragraph(block: list[str]) -> str:
    rows = [row.strip() for row in block]
    found = BULLET.match(rows[0])
    if found is None:
        return "\n".join(_unlisted(row) for row in rows)
    mark = found[1] if found[1][0].isdigit() or found[1][0] == "(" else "-"
    rows[0] = f"{mark} {rows[0][found.end() :]}"
    return "\n".join([rows[0], *(f"  {row}" for row in rows[1:])])


def _unlisted(row: str) -> str:
    """A line of prose, escaped if Markdown would read it as a heading or a quotation."""
    return f"\\{row}" if row.startswith(("#", ">")) else row


def _dedented(rows: list[str]) -> list[str]:
    depth = min((_depth(row) for row in rows if row.strip()), default=0)
    return [row[depth:] for row in rows]


def _depth(row: str) -> int:
    return len(row) - len(row.lstrip())


def _listed(label: str, names: list[str]) -> str:
    numbers = [re.sub(r"\ARFC0*", "RFC ", line(name)) for name in names]
    return f"{label} {', '.join(numbers)}" if numbers else ""


RFC = Rfc()

"""Kept pages as MCP resources, `kindly://page/<address>`: listed by last use, and readable without the network."""

from collections.abc import Sequence
from itertools import islice
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import INVALID_PARAMS

from kindly.answer import cut
from kindly.app import App
from kindly.errors import KindlyError
from kindly.models import Chunk, StoredPageInfo
from kindly.read.store import Store
from kindly.server.render.fence import new_fence
from kindly.server.render.formatting import TITLE_TOKENS, address, clip
from kindly.server.tool import ShownPage
from kindly.urls import parse_page

PREFIX = "kindly://page/"
PAGE_SIZE = 50
MARKDOWN = "text/markdown"
MAX_CURSOR = 9
MOST_USED = 20
"""Pages that are listed before the others."""
MAX_LINKS = 5
"""Links beside an answer; each takes about 40 tokens."""
TEMPLATE = types.ResourceTemplate(
    name="page",
    title="A page that was read",
    uri_template=f"{PREFIX}{{address}}",
    description="The text of a kept page; the address is percent-encoded.",
    mime_type=MARKDOWN,
)


def uri_of(url: str) -> str:
    """The resource of the page at an address."""
    return PREFIX + quote(url, safe="")


async def list_pages(app: App, cursor: str | None) -> types.ListResourcesResult:
    """One page of the list.

    Raises:
        MCPError: the cursor is none of ours, or the library cannot be used.
    """
    offset = _offset(cursor)
    if app.library_store is None:
        return types.ListResourcesResult(resources=[])
    try:
        await app.settle_library()
        store = await app.library_store()
        entries = await store.entries(limit=PAGE_SIZE + 1, offset=offset)
        used = await _used(app, store)
    except KindlyError as error:
        raise _unusable(app, error) from None
    more = str(offset + PAGE_SIZE) if len(entries) > PAGE_SIZE else None
    others = [entry for entry in entries[:PAGE_SIZE] if entry.url not in used]
    first = used.values() if offset == 0 else ()
    listed = [_resource(entry) for entry in (*first, *others)]
    return types.ListResourcesResult(resources=listed, next_cursor=more)


async def _used(app: App, store: Store) -> dict[str, StoredPageInfo]:
    """The kept pages that this server used last, the newest use first; the store knows only when each was read."""
    found = {}
    for url in islice(app.stages.used.newest(), MOST_USED):
        stored = await store.page(url)
        if stored is not None:
            found[url] = stored.entry
    return found


def links(app: App, pages: Sequence[ShownPage]) -> list[types.ResourceLink]:
    """Links to the first kept pages that an answer is from."""
    found: dict[str, types.ResourceLink] = {}
    for page in pages:
        try:
            url = str(parse_page(page.url))
        except KindlyError:
            continue
        if url in app.stages.used:
            title = clip(page.title, TITLE_TOKENS) or None
            found.setdefault(url, types.ResourceLink(uri=uri_of(url), name=title or address(url)))
    return list(found.values())[:MAX_LINKS]


async def read_page(app: App, uri: str) -> types.ReadResourceResult:
    """The text of a page, fenced.

    Raises:
        MCPError: there is no such page, or the library cannot be used.
    """
    url = unquote(uri.removeprefix(PREFIX)) if uri.startswith(PREFIX) else ""
    stored = None
    if url and app.library_store is not None:
        try:
            await app.settle_library()
            stored = await (await app.library_store()).page(url)
        except KindlyError as error:
            raise _unusable(app, error) from None
    if stored is None:
        raise MCPError(INVALID_PARAMS, "There is no such page in the library.", {"uri": uri})
    app.stages.use(url)
    whole = app.redactor.text(text_of(stored.chunks))
    shown = cut(whole, 0, app.max_tokens)
    fence = new_fence()
    parts = [fence.preamble(), fence.around(shown.text, address(url))]
    if shown.end < shown.total:
        parts.append(f"_Cut: the first {shown.end:,} of {shown.total:,} characters._")
    text = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text="\n\n".join(parts))
    return types.ReadResourceResult(contents=[text])


def text_of(chunks: Sequence[Chunk]) -> str:
    """The text of a page out of its chunks, which may overlap."""
    pieces: list[str] = []
    position = 0
    for chunk in sorted(chunks, key=lambda chunk: chunk.start):
        if chunk.end <= position:
            continue
        gap = "\n\n" if pieces and chunk.start > position else ""
        pieces.append(gap + chunk.text[max(0, position - chunk.start) :])
        position = chunk.end
    return "".join(pieces)


def _resource(entry: StoredPageInfo) -> types.Resource:
    return types.Resource(
        name=address(entry.url),
        title=clip(entry.title, TITLE_TOKENS) or None,
        uri=uri_of(entry.url),
        description=f"Read {entry.crawled_at.isoformat(timespec='seconds')}",
        mime_type=MARKDOWN,
    )


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or not cursor.isascii() or len(cursor) > MAX_CURSOR:
        raise MCPError(INVALID_PARAMS, "The cursor is invalid: list without one.")
    return int(cursor)


def _unusable(app: App, error: KindlyError) -> MCPError:
    return MCPError(INVALID_PARAMS, app.redactor.text(error.detail))

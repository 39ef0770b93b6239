"""Long files: a question is answered from the pages that may answer it, and the whole file is kept after that.

The excerpt of a file is never stored. If it does not answer, the whole file is waited for.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from kindly.budget import Deadline
from kindly.concurrency.deferred_work import DeferredWork
from kindly.errors import KindlyError
from kindly.models import Document, Finding, Page
from kindly.read.store import StoredPage

logger = logging.getLogger(__name__)

WHOLE_S = 60.0
"""How long reading a whole file may take, with the time that it waits for a free worker."""

ReadWhole = Callable[[Deadline], Awaitable[Document]]


class KeepsFiles(Protocol):
    """The part of the library that keeps pages."""

    async def fresh(self, url: str) -> StoredPage | None: ...

    async def keep(
        self, url: str, document: Document, page: Page | None = None
    ) -> tuple[StoredPage, str]: ...

    async def keep_later(self, url: str, document: Document, page: Page | None = None) -> str: ...

    async def hold(self, url: str, document: Document, page: Page) -> tuple[StoredPage, str]: ...

    def may_keep(self, page: Page) -> bool: ...


async def keep_or_hold(
    library: KeepsFiles,
    url: str,
    page: Page,
    document: Document,
    read_whole: ReadWhole,
    deferred: DeferredWork | None,
) -> tuple[StoredPage, str]:
    """Store a document; of an excerpt, store the whole file after the answer. With a note of what failed."""
    if not document.excerpt:
        return await library.keep(url, document, page)
    stored, note = await library.hold(url, document, page)
    if deferred is not None and library.may_keep(page) and not document.cut:

        async def keep_whole() -> bool:
            return await _keep_whole(library, url, page, read_whole)

        deferred.start(url, hash(page.body), len(page.body), keep_whole)
    return stored, note


async def whole_instead(
    library: KeepsFiles,
    url: str,
    findings: Sequence[Finding],
    deadline: Deadline,
    deferred: DeferredWork | None,
) -> StoredPage | None:
    """The whole file, if its excerpt did not answer and the file is read in time."""
    if deferred is None or all(finding.answered for finding in findings):
        return None
    if not await deferred.wait(url, deadline.remaining_s()):
        return None
    return await library.fresh(url)


async def _keep_whole(library: KeepsFiles, url: str, page: Page, read_whole: ReadWhole) -> bool:
    """Read a whole file and store it; False if it can never be read, or only in part."""
    try:
        whole = await read_whole(Deadline.after(WHOLE_S))
        if not whole.partial:
            await library.keep_later(url, whole, page)
    except KindlyError as error:
        logger.debug("a long file was not read whole", extra={"reason": error.detail})
        return error.outcome.retryable
    return not whole.partial

"""Page → Document: the readable text of any page, extracted in a pool of worker processes.

Nothing heavy is imported here: `workers.worker_pool` starts the processes, `document` does the work inside them.
"""

from typing import Final

from kindly.frozen import frozen
from kindly.models import Format

TEASER_CHARACTERS: Final = 6_000
"""A page with more text than this is complete, even if it is marked as locked or mentions subscribers."""


@frozen
class ExtractOptions:
    """How a page is turned into text."""

    format: Format = "markdown"
    selector: str | None = None
    """CSS selector: extract only the elements it matches. Without one, the main content is detected."""
    include_links: bool = True
    include_images: bool = False
    keep_teaser: bool = False
    """Return what a page for subscribers shows to all readers, however little, instead of raising `PageWalled`."""
    seconds: float = 20.0
    """How long reading may take. Readers of files stop before, with what they have; the pool sets it for each page."""
    questions: tuple[str, ...] = ()
    """What the text will be asked. Of a long PDF file, only the pages that may answer are read then."""

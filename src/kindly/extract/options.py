"""What a caller may ask of the extraction, and the shape that every extractor has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kindly.models import Document, Format, Page

if TYPE_CHECKING:  # anyio comes with it, and a worker process has no use for that
    from kindly.budget import Deadline


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """How a page is turned into text."""

    format: Format = "markdown"
    selector: str | None = None
    """CSS; only what it matches is read. Without it, the main content is found."""
    include_links: bool = True
    include_images: bool = False


class Extractor(Protocol):
    """Whatever turns a page into a document without holding up the event loop for long."""

    async def extract(self, page: Page, options: ExtractOptions, deadline: "Deadline") -> Document:
        """The document, or an error of the `ExtractError` branch."""
        ...

    async def warm(self) -> None:
        """Make the next extraction start at once."""
        ...

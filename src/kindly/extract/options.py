"""What a caller may ask of the extraction."""

from dataclasses import dataclass

from kindly.models import Format


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """How a page is turned into text."""

    format: Format = "markdown"
    selector: str | None = None
    """CSS; only what it matches is read. Without it, the main content is found."""
    include_links: bool = True
    include_images: bool = False

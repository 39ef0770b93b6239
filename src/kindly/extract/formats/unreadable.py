"""The errors of files that cannot be opened: a library that is not installed, or a file that is broken."""

from typing import Final

from kindly.errors import MediaUnsupported

EXTRA: Final = "office"
INSTALL: Final = f'pip install "kindly-web-search-mcp-server[{EXTRA}]"'


def missing_library(what: str, *, url: str, media_type: str) -> MediaUnsupported:
    """The file could be read if the extra were installed."""
    return MediaUnsupported(
        f"Reading {what} files needs the extra `{EXTRA}`, which is not installed: {INSTALL}.",
        url=url,
        media_type=media_type,
    )


def broken_file(body: bytes, *, url: str, media_type: str) -> MediaUnsupported:
    """The file is not what its first bytes promise."""
    return MediaUnsupported(
        f"The file ({media_type}, {len(body):,} bytes) is broken and cannot be opened.",
        url=url,
        media_type=media_type,
    )

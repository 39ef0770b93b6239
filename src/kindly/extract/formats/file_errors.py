"""Errors for files that cannot be read: unsupported, encrypted or broken, or their library is not installed."""

from typing import Final

from kindly.errors import MediaUnsupported, PageWalled
from kindly.extract.formats.sniff import ENCRYPTED_OFFICE, type_name
from kindly.models import OutcomeKind
from kindly.version import SERVER_NAME

EXTRA: Final = "office"
INSTALL: Final = f'pip install "{SERVER_NAME}[{EXTRA}]"'


def unsupported_file(body: bytes, *, url: str, media_type: str) -> MediaUnsupported | PageWalled:
    """The error for a format without a reader."""
    if media_type == ENCRYPTED_OFFICE:
        return encrypted_file(url)
    return MediaUnsupported(
        f"The address has {type_name(media_type)} ({len(body):,} bytes), which cannot be read as text.",
        url=url,
        media_type=media_type,
    )


def encrypted_file(url: str) -> PageWalled:
    """The error for a file that needs a password."""
    return PageWalled("The file is encrypted and needs a password.", url=url, wall=OutcomeKind.AUTH)


def missing_library(what: str, *, url: str, media_type: str) -> MediaUnsupported:
    """The error for a format whose library is in an extra that is not installed."""
    return MediaUnsupported(
        f"Reading {what} files needs the extra `{EXTRA}`, which is not installed: {INSTALL}.",
        url=url,
        media_type=media_type,
    )


def broken_file(body: bytes, *, url: str, media_type: str) -> MediaUnsupported:
    """The error for a file that its library cannot open."""
    return MediaUnsupported(
        f"The file ({media_type}, {len(body):,} bytes) is broken and cannot be opened.",
        url=url,
        media_type=media_type,
    )

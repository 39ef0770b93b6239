"""Bytes of a zip file → an archive that is safe to unpack: sizes, ratios and entities are checked first.

Python's `zipfile` gives no more bytes for a member than its header promises, so the promises are what is checked.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from kindly.errors import ExtractionFailed, MediaUnsupported, PageWalled
from kindly.extract.formats.unreadable import broken_file
from kindly.models import OutcomeKind

MAX_MEMBERS: Final = 10_000
MAX_UNPACKED: Final = 128 * 1024 * 1024
MAX_MARKUP: Final = 40 * 1024 * 1024
MAX_RATIO: Final = 120
CHUNK_BYTES: Final = 256 * 1024
RATIO_FROM: Final = 4 * 1024 * 1024
"""Below this size even the best-packed member is harmless."""
MARKUP = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm")
ENTITIES = tuple("<!ENTITY".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
ENCRYPTED_FLAG: Final = 0x1


class Archive:
    """A zip file whose members may be read one by one."""

    def __init__(self, body: bytes, *, url: str, media_type: str) -> None:
        """Open and check it.

        Raises:
            MediaUnsupported: it is broken.
            PageWalled: it needs a password.
            ExtractionFailed: unpacked it would be far larger than any document.
        """
        self.url = url
        self.media_type = media_type
        self.body = body
        self.markup_bytes = 0
        """Of all its markup, unpacked."""
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except UNREADABLE as error:
            raise self.broken() from error
        self._names = frozenset(self._zip.namelist())
        self._check(self._zip.infolist())

    @property
    def names(self) -> frozenset[str]:
        """The paths of all members."""
        return self._names

    def read(self, name: str, limit: int = -1) -> bytes:
        """A member's bytes, or the first of them.

        Raises:
            MediaUnsupported: there is no such member, or it is broken.
        """
        try:
            with self._zip.open(name) as member:
                return member.read(limit)
        except (KeyError, *UNREADABLE) as error:
            raise self.broken() from error

    def chunks(self, name: str, size: int) -> Iterator[bytes]:
        """A member's bytes, piece by piece.

        Raises:
            MediaUnsupported: there is no such member, or it is broken.
        """
        try:
            with self._zip.open(name) as member:
                while chunk := member.read(size):
                    yield chunk
        except (KeyError, *UNREADABLE) as error:
            raise self.broken() from error

    def read_xml(self, name: str) -> bytes:
        """A member's bytes, for an XML parser: entities of its own are refused.

        Raises:
            ExtractionFailed: it defines entities.
            MediaUnsupported: there is no such member, or it is broken.
        """
        self._refuse_entities(name)
        return self.read(name)

    def check_xml(self) -> None:
        """Look through every XML member, as `read_xml` does; a size that was a lie shows up here as a broken file."""
        for name in self._names:
            if name.lower().endswith(MARKUP):
                self._refuse_entities(name)

    def copied(self, changed: Mapping[str, bytes], *, without: tuple[str, ...] = ()) -> bytes:
        """The archive's markup as a new archive: some members changed, those `without` left out, all others empty."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
            for name in sorted(self._names):
                lower = name.lower()
                if name in changed:
                    copy.writestr(name, changed[name])
                elif not lower.startswith(without):
                    copy.writestr(name, self.read(name) if lower.endswith(MARKUP) else b"")
        return out.getvalue()

    def _refuse_entities(self, name: str) -> None:
        end = b""
        for chunk in self.chunks(name, CHUNK_BYTES):
            seen = end + chunk
            if any(mark in seen for mark in ENTITIES):
                raise ExtractionFailed(
                    "The file defines XML entities, as an entity bomb does, and is not opened.",
                    url=self.url,
                )
            end = seen[-32:]

    def broken(self) -> MediaUnsupported:
        """The error that says so."""
        return broken_file(self.body, url=self.url, media_type=self.media_type)

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        if any(member.flag_bits & ENCRYPTED_FLAG for member in members):
            raise PageWalled(
                "The file is encrypted and needs a password.", url=self.url, wall=OutcomeKind.AUTH
            )
        unpacked = sum(member.file_size for member in members)
        self.markup_bytes = sum(
            member.file_size for member in members if member.filename.lower().endswith(MARKUP)
        )
        packed_well = any(
            member.file_size > RATIO_FROM
            and member.file_size > MAX_RATIO * max(member.compress_size, 1)
            for member in members
        )
        if (
            packed_well
            or len(members) > MAX_MEMBERS
            or unpacked > MAX_UNPACKED
            or self.markup_bytes > MAX_MARKUP
        ):
            raise ExtractionFailed(
                f"Unpacked, the file would have {unpacked:,} bytes in {len(members):,} parts, "
                "more than is read.",
                url=self.url,
            )

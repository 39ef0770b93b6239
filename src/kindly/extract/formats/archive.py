"""Zip archives that are safe to unpack: protection against zip bombs and XML entity bombs.

`zipfile` never returns more bytes for a member than its header declares, so it is enough to check the declared sizes.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from kindly.errors import ExtractionFailed, MediaUnsupported
from kindly.extract.formats.file_errors import broken_file, encrypted_file

MAX_MEMBERS: Final = 10_000
MAX_UNPACKED: Final = 128 * 1024 * 1024
MAX_MARKUP: Final = 40 * 1024 * 1024
MAX_RATIO: Final = 120
CHUNK_BYTES: Final = 256 * 1024
RATIO_FROM: Final = 4 * 1024 * 1024
"""Smaller members are harmless at any compression ratio."""
MARKUP = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm")
ENTITIES = tuple("<!ENTITY".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
ENCRYPTED_FLAG: Final = 0x1


class Archive:
    """A zip file that passed the checks; its members are read one by one."""

    def __init__(self, body: bytes, *, url: str, media_type: str) -> None:
        """Open and check the archive.

        Raises:
            MediaUnsupported: it is broken.
            PageWalled: it needs a password.
            ExtractionFailed: it would be too large when unpacked.
        """
        self.url = url
        self.media_type = media_type
        self.body = body
        self.markup_bytes = 0
        """The unpacked size of all its markup."""
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
        """A member's bytes, at most `limit`.

        Raises:
            MediaUnsupported: there is no such member, or it is broken.
        """
        try:
            with self._zip.open(name) as member:
                return member.read(limit)
        except (KeyError, *UNREADABLE) as error:
            raise self.broken() from error

    def chunks(self, name: str, size: int) -> Iterator[bytes]:
        """A member's bytes in chunks.

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
        """A member's bytes for an XML parser; entity definitions are refused.

        Raises:
            ExtractionFailed: it defines entities.
            MediaUnsupported: there is no such member, or it is broken.
        """
        self._refuse_entities(name)
        return self.read(name)

    def check_xml(self) -> None:
        """Check every XML member as `read_xml` does; a member with a wrong declared size is a broken file."""
        for name in self._names:
            if name.lower().endswith(MARKUP):
                self._refuse_entities(name)

    def rewritten(self, changed: Mapping[str, bytes], *, without: tuple[str, ...] = ()) -> bytes:
        """The archive's markup as a new archive: with `changed` members, without those in `without`, others empty."""
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
            window = end + chunk
            if any(mark in window for mark in ENTITIES):
                raise ExtractionFailed(
                    "The file defines XML entities, which may be an entity bomb.",
                    url=self.url,
                )
            end = window[-32:]

    def broken(self) -> MediaUnsupported:
        """The error for a broken archive."""
        return broken_file(self.body, url=self.url, media_type=self.media_type)

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        if any(member.flag_bits & ENCRYPTED_FLAG for member in members):
            raise encrypted_file(self.url)
        unpacked = sum(member.file_size for member in members)
        self.markup_bytes = sum(
            member.file_size for member in members if member.filename.lower().endswith(MARKUP)
        )
        highly_packed = any(
            member.file_size > RATIO_FROM
            and member.file_size > MAX_RATIO * max(member.compress_size, 1)
            for member in members
        )
        if (
            highly_packed
            or len(members) > MAX_MEMBERS
            or unpacked > MAX_UNPACKED
            or self.markup_bytes > MAX_MARKUP
        ):
            raise ExtractionFailed(
                f"Unpacked, the file would have {unpacked:,} bytes in {len(members):,} parts, "
                "which is above the limit.",
                url=self.url,
            )

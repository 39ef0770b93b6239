"""Former versions of pages, in SQL that the stores share: a bounded number for each page, compressed.

A version is kept when another replaces it, so a page that never changes costs nothing.
"""

import zlib
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from hashlib import sha256

from kindly.frozen import frozen
from kindly.read.crawls.crawl_sql import Dialect, Execute
from kindly.read.crawls.micros import from_micros, to_micros

MAX_VERSIONS = 5
"""Of one page, beside the current one."""


@frozen
class FormerVersion:
    """The text of a page as it was, and when it was fetched."""

    crawled_at: datetime
    """When it was fetched, or last seen unchanged."""
    content_hash: str
    text: str = field(repr=False)
    replaced_at: datetime | None = None
    """When the next version was fetched; None if that is not known."""


@frozen
class VersionTable:
    """The table of former versions. Every method runs inside the caller's transaction."""

    sql: Dialect
    blob: str = "BLOB"

    @property
    def migration(self) -> str:
        """The statement that creates the table."""
        return self.sql(
            f"CREATE TABLE %page_versions (id TEXT NOT NULL, crawled {self.sql.integer} NOT NULL, content_hash TEXT "
            f"NOT NULL, body {self.blob} NOT NULL, PRIMARY KEY (id, crawled))"
        )

    @property
    def second_migration(self) -> str:
        """The statement that adds when a version was replaced."""
        return self.sql(f"ALTER TABLE %page_versions ADD COLUMN replaced {self.sql.integer}")

    def keep(self, execute: Execute, key: str, version: FormerVersion) -> None:
        """Add a version, and drop those beyond the limit."""
        body = zlib.compress(version.text.encode("utf-8", "surrogatepass"), 6)
        execute(
            self.sql(
                "INSERT INTO %page_versions (id, crawled, content_hash, body, replaced) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
            ),
            (
                _id(key),
                to_micros(version.crawled_at),
                version.content_hash,
                body,
                None if version.replaced_at is None else to_micros(version.replaced_at),
            ),
        )
        listed = "SELECT crawled FROM %page_versions WHERE id = ? ORDER BY crawled DESC"
        for (crawled,) in execute(self.sql(listed), (_id(key),))[MAX_VERSIONS:]:
            delete = "DELETE FROM %page_versions WHERE id = ? AND crawled = ?"
            execute(self.sql(delete), (_id(key), crawled))

    def of(self, execute: Execute, key: str) -> list[FormerVersion]:
        """The former versions of a page, the newest first."""
        listed = (
            "SELECT crawled, content_hash, body, replaced FROM %page_versions WHERE id = ? "
            "ORDER BY crawled DESC"
        )
        return [
            FormerVersion(
                from_micros(crawled),
                content_hash,
                zlib.decompress(bytes(body)).decode("utf-8", "surrogatepass"),
                None if replaced is None else from_micros(replaced),
            )
            for crawled, content_hash, body, replaced in execute(self.sql(listed), (_id(key),))
        ]

    def drop(self, execute: Execute, keys: Sequence[str] | None) -> None:
        """Drop the versions of pages, or all."""
        if keys is None:
            execute(self.sql("DELETE FROM %page_versions"), ())
            return
        for key in keys:
            execute(self.sql("DELETE FROM %page_versions WHERE id = ?"), (_id(key),))

    def drop_orphans(self, execute: Execute) -> None:
        """Drop the versions of pages that are gone, where documents have the same key."""
        orphans = "DELETE FROM %page_versions WHERE id NOT IN (SELECT key FROM %documents)"
        execute(self.sql(orphans), ())


def _id(key: str) -> str:
    """A page's key as a hash, because an address may be too long for an index."""
    return sha256(key.encode()).hexdigest()

"""The pool's saved state: a record per instance and the list of instances, shared by servers. Never a query."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kindly.clock import Clock
from kindly.frozen import frozen
from kindly.search.pool_settings import PoolSettings
from kindly.search.searxng.instance_health import (
    BLACKLIST_S,
    InstanceRecord,
    from_json,
    to_json,
)
from kindly.search.searxng.instance_list import GRADES, UNKNOWN_RESPONSE_MS, Instance, base_url_of
from kindly.storage.state import Json, State

RECORDS = "searxng_pool"
LISTING = "searxng_pool_list"
LISTING_KEY = "instances"


@frozen
class Listing:
    """The list of instances, when it was fetched, and when fetching it last failed."""

    instances: tuple[Instance, ...] = ()
    fetched_at: float = 0.0
    failed_at: float = 0.0


@dataclass
class PoolStorage:
    """Records by address, and the list. Reads go to memory; writes go to the state immediately."""

    clock: Clock
    state: State
    settings: PoolSettings
    listing: Listing | None = None
    _records: dict[str, InstanceRecord] = field(default_factory=dict)

    def record(self, url: str) -> InstanceRecord:
        """What is known of an instance; an empty record if nothing."""
        return self._records.get(url) or InstanceRecord()

    async def refresh(self) -> None:
        """Merge what other servers have written since."""
        now = self.clock.time()
        for url, saved in (await self.state.load(RECORDS)).items():
            own = self._records.get(url)
            if own is None:
                self._records[url] = from_json(saved, now, self.settings)
            elif saved.get("updated_at") != own.updated_at:
                self._records[url] = own.merged(from_json(saved, now, self.settings))

    async def change(
        self, url: str, change: Callable[[InstanceRecord], InstanceRecord]
    ) -> InstanceRecord:
        """Apply a change on top of what other servers have written since."""
        await self.refresh()
        return await self.put(url, change(self.record(url)))

    async def put(self, url: str, record: InstanceRecord) -> InstanceRecord:
        """Write a record; other tasks of this process see it immediately."""
        self._records[url] = record
        await self.state.save(RECORDS, {url: to_json(record)})
        return record

    async def load_listing(self) -> Listing:
        """The saved list; read once."""
        if self.listing is None:
            saved = (await self.state.load(LISTING)).get(LISTING_KEY, {})
            self.listing = listing_from_json(saved)
        return self.listing

    async def save_listing(self, listing: Listing) -> None:
        """Write the list, and delete old records of instances that are no longer listed."""
        self.listing = listing
        await self.state.save(LISTING, {LISTING_KEY: listing_to_json(listing)})
        await self.refresh()
        listed = {instance.url for instance in listing.instances}
        oldest = self.clock.time() - BLACKLIST_S
        deleted = [
            url
            for url, record in self._records.items()
            if url not in listed and record.updated_at < oldest
        ]
        for url in deleted:
            del self._records[url]
        await self.state.save(RECORDS, dict.fromkeys(deleted))


def listing_to_json(listing: Listing) -> Json:
    """The list as it is saved."""
    return {
        "fetched_at": listing.fetched_at,
        "failed_at": listing.failed_at,
        "instances": [
            [instance.url, instance.grade, instance.uptime, instance.response_ms]
            for instance in listing.instances
        ],
    }


def listing_from_json(saved: Json) -> Listing:
    """A saved list, without the rows that cannot be read."""
    rows = saved.get("instances")
    instances = tuple(
        Instance(row[0], row[1], _number(row[2]), int(_number(row[3], UNKNOWN_RESPONSE_MS)))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, list)
        and len(row) == 4
        and row[1] in GRADES
        and isinstance(row[0], str)
        and base_url_of(row[0]) == row[0]
    )
    times = _number(saved.get("fetched_at")), _number(saved.get("failed_at"))
    return Listing(instances, *times) if instances else Listing(failed_at=times[1])


def _number(value: object, default: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return float(value) if 0 <= value < 1e12 else default

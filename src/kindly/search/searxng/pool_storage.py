"""The pool's memory: a record for each instance and the list of instances, kept over restarts and shared by servers.

Knows how to keep and merge; what a record means is decided elsewhere. Instances are named in it, queries never.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kindly.clock import Clock
from kindly.search.searxng.instance_health import InstanceRecord, from_json, merged, to_json
from kindly.search.searxng.instance_list import GRADES, UNKNOWN_RESPONSE_MS, Instance, base_url_of
from kindly.search.searxng.pool_settings import PoolSettings
from kindly.search.state.state import Json, State

RECORDS = "searxng_pool"
LISTING = "searxng_pool_list"
LISTING_KEY = "instances"


@dataclass(frozen=True, slots=True)
class Listing:
    """The instances, when the list was had, and when it was last tried in vain."""

    instances: tuple[Instance, ...] = ()
    fetched_at: float = 0.0
    failed_at: float = 0.0


@dataclass
class PoolStorage:
    """Records by address, and the list."""

    clock: Clock
    state: State
    settings: PoolSettings
    listing: Listing | None = None
    _records: dict[str, InstanceRecord] = field(default_factory=dict)

    def record(self, url: str) -> InstanceRecord:
        """What is known of an instance; a blank record if nothing."""
        return self._records.get(url) or InstanceRecord()

    async def refresh(self) -> None:
        """Take in what other servers wrote since."""
        now = self.clock.time()
        for url, kept in (await self.state.load(RECORDS)).items():
            ours = self._records.get(url)
            if ours is None:
                self._records[url] = from_json(kept, now, self.settings)
            elif kept.get("updated_at") != ours.updated_at:
                self._records[url] = merged(ours, from_json(kept, now, self.settings))

    async def change(
        self, url: str, change: Callable[[InstanceRecord], InstanceRecord]
    ) -> InstanceRecord:
        """Write a record's next state, on top of what others wrote since."""
        await self.refresh()
        return await self.put(url, change(self.record(url)))

    async def put(self, url: str, record: InstanceRecord) -> InstanceRecord:
        """Write a record; readers in this process see it at once, before any wait."""
        self._records[url] = record
        await self.state.save(RECORDS, {url: to_json(record)})
        return record

    async def load_listing(self) -> Listing:
        """The list as last kept; read once."""
        if self.listing is None:
            kept = (await self.state.load(LISTING)).get(LISTING_KEY, {})
            self.listing = listing_from_json(kept)
        return self.listing

    async def keep_listing(self, listing: Listing) -> None:
        """Write the list, and forget instances that left it and have nothing held against them."""
        self.listing = listing
        await self.state.save(LISTING, {LISTING_KEY: listing_to_json(listing)})
        await self.refresh()
        listed = {instance.url for instance in listing.instances}
        forgotten = [
            url
            for url, record in self._records.items()
            if url not in listed
            and record.updated_at < self.clock.time() - self.settings.blacklist_s
        ]
        for url in forgotten:
            del self._records[url]
        await self.state.save(RECORDS, dict.fromkeys(forgotten))


def listing_to_json(listing: Listing) -> Json:
    """As the memory keeps it."""
    return {
        "fetched_at": listing.fetched_at,
        "failed_at": listing.failed_at,
        "instances": [
            [instance.url, instance.grade, instance.uptime, instance.response_ms]
            for instance in listing.instances
        ],
    }


def listing_from_json(kept: Json) -> Listing:
    """From memory; what cannot be read is left out."""
    rows = kept.get("instances")
    instances = tuple(
        Instance(row[0], row[1], _number(row[2]), int(_number(row[3], UNKNOWN_RESPONSE_MS)))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, list)
        and len(row) == 4
        and row[1] in GRADES
        and isinstance(row[0], str)
        and base_url_of(row[0]) == row[0]
    )
    times = _number(kept.get("fetched_at")), _number(kept.get("failed_at"))
    return Listing(instances, *times) if instances else Listing(failed_at=times[1])


def _number(value: object, default: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return float(value) if 0 <= value < 1e12 else default

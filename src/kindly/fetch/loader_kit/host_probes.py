"""What a loader learned about hosts by probing them; kept in memory for a day, for a bounded number of hosts."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

REMEMBERED = timedelta(days=1)
MAX_HOSTS = 2_000


@dataclass(slots=True)
class HostProbes:
    """Which hosts were probed, when, and with what result."""

    probed: dict[str, tuple[datetime, bool]] = field(default_factory=dict)

    def has(self, host: str, now: datetime) -> bool | None:
        """Whether `host` has what was probed for; None if it was not probed within a day."""
        since, found = self.probed.get(host, (None, False))
        return found if since is not None and now - since < REMEMBERED else None

    def note(self, host: str, now: datetime, *, found: bool) -> None:
        """Store a result; the oldest ones are dropped."""
        self.probed.pop(host, None)
        self.probed[host] = (now, found)
        while len(self.probed) > MAX_HOSTS:
            del self.probed[next(iter(self.probed))]

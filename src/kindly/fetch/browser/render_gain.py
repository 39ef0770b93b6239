"""What rendering gained on each host: a host where it never helped is not rendered again.

Only pages that have text without a browser are judged: one without any text is worth a try on every host.
"""

from dataclasses import replace

from kindly.frozen import frozen
from kindly.storage.lru import LruCache

MAX_HOSTS = 1_000
TRIES = 2
"""After this many pages without a gain, a host where none had one is given up."""
MIN_CHARS = 50
MIN_SHARE = 0.1
"""More text than this is a gain: a date or a counter that a script adds is none."""


@frozen
class _HostGain:
    """The pages of one host that were rendered."""

    helped: bool = False
    in_vain: int = 0


class RenderGain:
    """Whether rendering helped on the hosts that were asked last."""

    def __init__(self, max_hosts: int = MAX_HOSTS) -> None:
        self._hosts: LruCache[str, _HostGain] = LruCache(max_hosts)

    def may_help(self, host: str) -> bool:
        """Whether a page of the host that has some text is worth rendering."""
        known = self._hosts.get(host) or _HostGain()
        return known.helped or known.in_vain < TRIES

    def record(self, host: str, before: int, after: int) -> bool:
        """Learn from a rendered page: the characters of its text before and after. Whether there is a gain."""
        known = self._hosts.get(host) or _HostGain()
        helped = after - before >= max(MIN_CHARS, before * MIN_SHARE)
        if helped:
            self._hosts.put(host, replace(known, helped=True))
        else:
            self._hosts.put(host, replace(known, in_vain=known.in_vain + 1))
        return helped

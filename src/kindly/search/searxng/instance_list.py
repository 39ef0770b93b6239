"""searx.space's `instances.json` → the usable public SearXNG instances, best first.

Pure. The list is untrusted: entries in another format and addresses that are not public https names are left out, and
at most `MAX_INSTANCES` are used.
"""

import json
import math
from collections.abc import Mapping
from typing import Literal, get_args

from kindly.errors import InputError, ProviderAnswerInvalid
from kindly.frozen import frozen
from kindly.search.parse_hits import number_in
from kindly.urls import parse

Grade = Literal["A+", "A", "B"]
GRADES: tuple[Grade, ...] = get_args(Grade)
"""The tiers, best first."""

MAX_ENTRIES = 5_000
MAX_INSTANCES = 300
MIN_UPTIME = 80.0
"""Percent of the last week, if the list reports it."""
MIN_SUCCESS = 50.0
"""Percent of the list's own test searches that the instance answered, if the list reports it."""
UNKNOWN_RESPONSE_MS = 10_000
PRIVATE_SUFFIXES = ("onion", "i2p", "localhost", "local", "internal", "lan", "arpa", "test")
"""Names without a public address, or of another network."""
TIER_OF_GRADE: Mapping[str, int] = {"A+": 0, "A": 1, "A-": 1, "B+": 2, "B": 2, "B-": 2}
"""The list's spelling → index in `GRADES`; a grade that is missing here is worse."""


@frozen
class Instance:
    """One public instance, as the list describes it."""

    url: str
    """Its base URL without a slash at the end."""
    grade: Grade
    uptime: float = 0.0
    """Percent of the last week; 0 when unknown."""
    response_ms: int = UNKNOWN_RESPONSE_MS
    """Median time of a search."""

    @property
    def tier(self) -> int:
        """0 for the best grade."""
        return GRADES.index(self.grade)


def parse_instances(body: bytes) -> tuple[Instance, ...]:
    """The usable instances of the list, best first.

    Raises:
        ProviderAnswerInvalid: It is not such a list, or no instance in it can be used.
    """
    try:
        listed = json.loads(body)
    except (ValueError, RecursionError):
        listed = None
    entries = _mapping(_mapping(listed).get("instances"))
    found: dict[str, Instance] = {}
    for url, entry in list(entries.items())[:MAX_ENTRIES]:
        if instance := instance_from(url, entry):
            found.setdefault(instance.url, instance)
    if not found:
        raise ProviderAnswerInvalid(
            "The list of public SearXNG instances cannot be used: it contains none of good grade. "
            "If this persists, check SEARX_SPACE_URL.",
            provider="searxng_pool",
        )
    return tuple(sorted(found.values(), key=quality)[:MAX_INSTANCES])


def quality(instance: Instance) -> tuple[int, float, int, str]:
    """Sort key, best first: grade, then uptime in whole percent, then speed."""
    return instance.tier, -math.floor(instance.uptime), instance.response_ms, instance.url


def instance_from(url: object, entry: object) -> Instance | None:
    """The instance of one entry, or None if it cannot be used."""
    detail = _mapping(entry)
    base_url, grade = base_url_of(url), grade_of(detail)
    if base_url is None or grade is None or not _is_usable(detail):
        return None
    uptime, success = _uptime(detail), _success(detail)
    if (uptime is not None and uptime < MIN_UPTIME) or success < MIN_SUCCESS:
        return None
    return Instance(base_url, grade, uptime or 0.0, _response_ms(detail))


def base_url_of(url: object) -> str | None:
    """The canonical address of a public https instance, or None for anything else."""
    if not isinstance(url, str):
        return None
    try:
        parsed = parse(url)
    except InputError:
        return None
    labels = parsed.host.split(".")
    is_public_name = parsed.address is None and len(labels) > 1
    if parsed.scheme != "https" or not is_public_name or labels[-1] in PRIVATE_SUFFIXES:
        return None
    return None if "?" in parsed.target else parsed.origin + parsed.target.rstrip("/")


def grade_of(detail: Mapping[str, object]) -> Grade | None:
    """The worse of the grades for HTTP headers and for TLS; unknown grades do not count.

    The grades of several addresses of one host are written `B, A`: the worst counts.
    """
    known = [
        TIER_OF_GRADE.get(grade.strip(), len(GRADES))
        for part in ("http", "tls")
        if isinstance(text := _mapping(detail.get(part)).get("grade"), str)
        for grade in text.split(",")
        if grade.strip() not in {"", "?"}
    ]
    worst = max(known, default=len(GRADES))
    return GRADES[worst] if worst < len(GRADES) else None


def _is_usable(detail: Mapping[str, object]) -> bool:
    """Whether it runs SearXNG, on the normal network and without trackers."""
    http = _mapping(detail.get("http"))
    return (
        detail.get("network_type") == "normal"
        and detail.get("generator") == "searxng"
        and bool(detail.get("version"))
        and not detail.get("error")
        and not http.get("error")
        and http.get("status_code", 200) == 200
        and not detail.get("analytics")
    )


def _uptime(detail: Mapping[str, object]) -> float | None:
    uptime = _mapping(detail.get("uptime"))
    known = (number_in(uptime.get(f"uptime{span}")) for span in ("Week", "Day", "Month", "Year"))
    return next((percent for percent in known if percent is not None), None)


def _success(detail: Mapping[str, object]) -> float:
    search = _mapping(_mapping(detail.get("timing")).get("search"))
    percent = number_in(search.get("success_percentage"))
    return 100.0 if percent is None else percent


def _response_ms(detail: Mapping[str, object]) -> int:
    """From the first timing that is present; a single measurement is called `value`."""
    timing = _mapping(detail.get("timing"))
    for kind in ("search", "initial"):
        seconds_by = _mapping(_mapping(timing.get(kind)).get("all"))
        for name in ("median", "mean", "value"):
            seconds = number_in(seconds_by.get(name))
            if seconds is not None and seconds > 0:
                return min(round(seconds * 1000), UNKNOWN_RESPONSE_MS)
    return UNKNOWN_RESPONSE_MS


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}

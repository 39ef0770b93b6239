"""The pool of public instances: the rules on one record, then the pool as a provider."""

import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import (
    CertificateRefused,
    PoolExhausted,
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.models import ProviderResults, Query
from kindly.search.provider import Pace
from kindly.search.searxng.instance_health import (
    MARGIN_S,
    InstanceRecord,
    InstanceRequest,
    InstanceState,
    Moment,
    after_end,
    after_failed_probe,
    after_failure,
    after_probe,
    after_start,
    after_success,
    backoff_s,
    beginning,
    free_at,
    from_json,
    in_turn,
    is_probe_due,
    merged,
    to_json,
)
from kindly.search.searxng.instance_list import GRADES, Grade, Instance
from kindly.search.searxng.instance_pool import InstancePool, is_due
from kindly.search.searxng.pool_settings import PoolSettings
from kindly.search.searxng.pool_storage import Listing, listing_from_json, listing_to_json
from kindly.search.searxng.user_agents import USER_AGENTS, user_agent
from kindly.search.state.state import MemoryState
from tests.support.fakes import FakeClock, FakeSleep, hit

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
RULES = PoolSettings()
LIMITS = (Pace(4, 3600),)
QUERY = Query("a secret question")
ONE = (Instance("https://one.example.org", "A"),)


# The rules on one record.


@dataclass(frozen=True)
class Failure:
    """What one failure does to a record."""

    error: SearchError
    before: InstanceRecord = field(default_factory=InstanceRecord)
    rests_s: float = 0.0
    refused_s: float = 0.0
    failures: int = 0
    strikes: int = 0
    nonsense: int = 0


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(Failure(ProviderFailed("x"), rests_s=30, failures=1), id="5xx"),
        pytest.param(Failure(ProviderTimeout("x"), rests_s=30, failures=1), id="timeout"),
        pytest.param(Failure(ProviderUnreachable("x"), rests_s=30, failures=1), id="unreachable"),
        pytest.param(Failure(ProviderRejected("x"), rests_s=30, failures=1), id="4xx"),
        pytest.param(
            Failure(ProviderAnswerInvalid("x"), rests_s=30, failures=1, nonsense=1), id="nonsense"
        ),
        pytest.param(
            Failure(ProviderAnswerInvalid("x", status=302), refused_s=60, strikes=1, nonsense=1),
            id="sent to the front page",
        ),
        pytest.param(Failure(ProviderRateLimited("x"), refused_s=60, strikes=1), id="429"),
        pytest.param(Failure(ProviderBlocked("x"), refused_s=60, strikes=1), id="challenge"),
        pytest.param(Failure(ProviderAuth("x"), refused_s=60, strikes=1), id="403 is a ban"),
        pytest.param(
            Failure(ProviderRateLimited("x", retry_after_s=900), refused_s=900, strikes=1),
            id="Retry-After longer than the back-off",
        ),
        pytest.param(
            Failure(ProviderRateLimited("x", retry_after_s=5), refused_s=60, strikes=1),
            id="Retry-After shorter than the back-off",
        ),
        pytest.param(
            Failure(ProviderRateLimited("x", retry_after_s=9e9), refused_s=3 * 86_400, strikes=1),
            id="Retry-After beyond reason",
        ),
        pytest.param(
            Failure(ProviderFailed("x", retry_after_s=200), rests_s=30, refused_s=200, failures=1),
            id="503 with Retry-After",
        ),
        pytest.param(
            Failure(ProviderBlocked("x"), InstanceRecord(strikes=3), refused_s=480, strikes=4),
            id="the fourth refusal in a row",
        ),
        pytest.param(
            Failure(ProviderFailed("x"), InstanceRecord(failures=1), rests_s=30, failures=2),
            id="the second failure",
        ),
        pytest.param(
            Failure(
                ProviderFailed("x"), InstanceRecord(failures=2), rests_s=60, failures=3, strikes=1
            ),
            id="the third failure benches",
        ),
        pytest.param(
            Failure(
                ProviderFailed("x"),
                InstanceRecord(failures=3, strikes=1),
                rests_s=120,
                failures=4,
                strikes=2,
            ),
            id="and the next benches for twice as long",
        ),
    ],
)
def test_a_failure_sets_the_rest_that_fits_it(case: Failure) -> None:
    after = after_failure(case.before, case.error, Moment(NOW), RULES)

    assert after == InstanceRecord(
        failures=case.failures,
        strikes=case.strikes,
        nonsense=case.nonsense,
        failing_since=NOW,
        rests_until=NOW + case.rests_s if case.rests_s else 0.0,
        refused_until=NOW + case.refused_s if case.refused_s else 0.0,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("error", "before", "answered_at", "blacklisted"),
    [
        pytest.param(CertificateRefused("x"), InstanceRecord(), 0.0, True, id="certificate"),
        pytest.param(
            ProviderAnswerInvalid("x"), InstanceRecord(nonsense=4), NOW + 1, True, id="nonsense"
        ),
        pytest.param(
            ProviderAnswerInvalid("x"), InstanceRecord(nonsense=3), NOW + 1, False, id="not yet"
        ),
        pytest.param(
            ProviderBlocked("x"), InstanceRecord(strikes=39), NOW + 1, True, id="always refuses"
        ),
        pytest.param(
            ProviderBlocked("x"), InstanceRecord(strikes=38), NOW + 1, False, id="refuses often"
        ),
        pytest.param(
            ProviderFailed("x"),
            InstanceRecord(failures=9, strikes=39),
            NOW + 1,
            True,
            id="always benched",
        ),
        pytest.param(
            ProviderBlocked("x"),
            InstanceRecord(strikes=39, failing_since=NOW - 9),
            NOW - 10,
            False,
            id="but nobody answers: the fault may be ours",
        ),
    ],
)
def test_what_does_not_mend_is_blacklisted_for_days(
    error: SearchError, before: InstanceRecord, answered_at: float, blacklisted: bool
) -> None:
    after = after_failure(before, error, Moment(NOW, 0.0, answered_at), RULES)

    assert after.blacklisted_until == (NOW + 3 * 86_400 if blacklisted else 0.0)


def test_the_back_off_doubles_up_to_its_cap() -> None:
    rests = [backoff_s(strikes, 0.0, RULES) for strikes in (1, 2, 3, 4, 5, 6, 7, 5000)]

    assert rests == [60, 120, 240, 480, 960, 1800, 1800, 1800]


def test_chance_makes_a_rest_longer_but_never_shorter() -> None:
    assert backoff_s(1, 0.999, RULES) == pytest.approx(75, rel=0.01)


def test_an_answer_forgives_all_but_the_count_of_requests() -> None:
    asked = (InstanceRequest(NOW - 5, NOW - 4),)
    before = InstanceRecord(asked, 2, 5, 3, NOW - 9, NOW + 9, NOW + 9, NOW + 9)

    assert after_success(before, NOW) == InstanceRecord(
        asked, heard_at=NOW, checked_at=NOW, updated_at=NOW
    )


def test_a_good_probe_ends_a_bench_but_not_a_refusal() -> None:
    benched = InstanceRecord(failures=3, strikes=2, rests_until=NOW + 900, refused_until=NOW + 60)

    after = after_probe(benched, NOW)

    assert (after.failures, after.rests_until, after.refused_until) == (0, 0.0, NOW + 60)
    assert after.strikes == 2


@pytest.mark.parametrize(
    ("before", "error", "rests_s", "blacklisted_s"),
    [
        pytest.param(InstanceRecord(), ProviderFailed("x"), 30, 0, id="first"),
        pytest.param(
            InstanceRecord(failures=2), ProviderFailed("x"), 300, 0, id="benched till the next"
        ),
        pytest.param(
            InstanceRecord(failures=3, rests_until=NOW + 900),
            ProviderFailed("x"),
            900,
            0,
            id="no shorter",
        ),
        pytest.param(InstanceRecord(), CertificateRefused("x"), 0, 3 * 86_400, id="certificate"),
    ],
)
def test_a_failed_probe_is_one_failure_more(
    before: InstanceRecord, error: SearchError, rests_s: float, blacklisted_s: float
) -> None:
    after = after_failed_probe(before, error, NOW, RULES)

    assert after.failures == before.failures + 1
    assert after.strikes == 0
    assert after.rests_until == (NOW + rests_s if rests_s else 0.0)
    assert after.blacklisted_until == (NOW + blacklisted_s if blacklisted_s else 0.0)


def asked_at(*ends: float) -> InstanceRecord:
    return InstanceRecord(tuple(InstanceRequest(end - 1, end) for end in ends))


@pytest.mark.parametrize(
    ("record", "limits", "expected"),
    [
        pytest.param(InstanceRecord(), LIMITS, 0.0, id="blank"),
        pytest.param(asked_at(1, 2, 3), LIMITS, 0.0, id="one left"),
        pytest.param(asked_at(1, 2, 3, 4), LIMITS, 3601 + MARGIN_S, id="full"),
        pytest.param(asked_at(4, 3, 2, 1, 5), LIMITS, 3602 + MARGIN_S, id="overfull"),
        pytest.param(
            asked_at(1, 100), (Pace(2, 20), Pace(8, 600)), 21 + MARGIN_S, id="the short window"
        ),
        pytest.param(
            asked_at(0, 30, 60), (Pace(2, 20), Pace(3, 600)), 600 + MARGIN_S, id="the long window"
        ),
        pytest.param(InstanceRecord(rests_until=7, refused_until=5), LIMITS, 7.0, id="rest"),
        pytest.param(InstanceRecord(rests_until=7, refused_until=9), LIMITS, 9.0, id="refusal"),
        pytest.param(
            InstanceRecord(refused_until=9, blacklisted_until=11), LIMITS, 11.0, id="blacklist"
        ),
    ],
)
def test_an_instance_is_free_once_past_its_rests_and_within_its_limits(
    record: InstanceRecord, limits: tuple[Pace, ...], expected: float
) -> None:
    assert free_at(record, limits) == expected


def test_a_request_under_way_counts_as_late_as_it_may_arrive() -> None:
    record = InstanceRecord()
    for begun in (NOW, NOW + 1, NOW + 2, NOW + 3):
        record = after_start(record, begun, begun + 20, LIMITS)

    assert free_at(record, LIMITS) == NOW + 20 + 3600 + MARGIN_S
    assert free_at(after_end(record, NOW, NOW + 5), LIMITS) == NOW + 5 + 3600 + MARGIN_S


def test_requests_past_every_window_are_forgotten() -> None:
    record = after_start(
        InstanceRecord((InstanceRequest(NOW - 9999, NOW - 9998),)), NOW, NOW + 1, LIMITS
    )

    assert record.asked == (InstanceRequest(NOW, NOW + 1),)


def test_no_two_requests_begin_at_once() -> None:
    record = after_start(InstanceRecord(), NOW, NOW + 1, LIMITS)

    assert beginning(InstanceRecord(), NOW) == NOW
    assert beginning(record, NOW) > NOW
    assert beginning(record, NOW + 1) == NOW + 1


def standing(name: str, grade: Grade, record: InstanceRecord, free: float = 0.0) -> InstanceState:
    return InstanceState(Instance(f"https://{name}.example.org", grade), record, free)


def test_idle_before_busy_then_grade_then_the_longest_unasked() -> None:
    standings = [
        standing("busy", "A+", InstanceRecord((InstanceRequest(NOW - 1, NOW + 5),))),
        standing("resting", "A+", InstanceRecord(), NOW + 1),
        standing("b", "B", InstanceRecord()),
        standing("late", "A+", asked_at(NOW - 10)),
        standing("early", "A+", asked_at(NOW - 90)),
        standing("a2", "A", InstanceRecord()),
        standing("a1", "A", InstanceRecord()),
        standing("fresh", "A+", InstanceRecord(), NOW),
    ]

    order = [each.instance.url.split("//")[1].split(".")[0] for each in in_turn(standings, NOW)]

    assert order == ["fresh", "early", "late", "a2", "a1", "b", "busy"]


@pytest.mark.parametrize(
    ("record", "due"),
    [
        pytest.param(InstanceRecord(), True, id="never heard from"),
        pytest.param(InstanceRecord(checked_at=NOW - 3599), False, id="heard from"),
        pytest.param(InstanceRecord(checked_at=NOW - 3600), True, id="silent for an hour"),
        pytest.param(InstanceRecord(failures=3, checked_at=NOW - 300), True, id="benched"),
        pytest.param(
            InstanceRecord(failures=3, checked_at=NOW - 299), False, id="benched, just checked"
        ),
        pytest.param(InstanceRecord(failures=2, checked_at=NOW - 300), False, id="not benched yet"),
        pytest.param(InstanceRecord(refused_until=NOW + 1), False, id="refuses us"),
        pytest.param(InstanceRecord(blacklisted_until=NOW + 1), False, id="blacklisted"),
    ],
)
def test_only_who_needs_it_is_probed(record: InstanceRecord, due: bool) -> None:
    assert is_probe_due(record, NOW, RULES) is due


def test_two_servers_together_know_the_requests_of_both_and_the_newer_judgement() -> None:
    ours = InstanceRecord((InstanceRequest(1, 2), InstanceRequest(5, 30)), strikes=1, updated_at=5)
    theirs = InstanceRecord((InstanceRequest(3, 4), InstanceRequest(5, 6)), strikes=2, updated_at=6)
    together = InstanceRecord(
        (InstanceRequest(1, 2), InstanceRequest(3, 4), InstanceRequest(5, 6)),
        strikes=2,
        updated_at=6,
    )

    assert merged(ours, theirs) == together
    assert merged(theirs, ours) == together


def test_a_record_survives_its_keeping() -> None:
    record = InstanceRecord(
        (InstanceRequest(NOW - 9, NOW - 8), InstanceRequest(NOW - 1, NOW)),
        2,
        4,
        1,
        NOW - 50,
        NOW + 30,
        NOW + 90,
        NOW + 900,
        NOW - 60,
        NOW - 20,
        NOW - 1,
    )

    assert from_json(json.loads(json.dumps(to_json(record))), NOW, RULES) == record


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param({}, id="nothing"),
        pytest.param(
            {"asked": "x", "failures": "3", "rests_until": None, "strikes": True}, id="other types"
        ),
        pytest.param(
            {"asked": [1, [2], ["a", 3], [None, None], [float("nan"), 1]], "rests_until": -5},
            id="broken pairs",
        ),
        pytest.param({"failures": float("inf"), "blacklisted_until": 10**400}, id="no number"),
    ],
)
def test_a_record_that_cannot_be_read_is_blank(kept: dict[str, Any]) -> None:
    assert from_json(kept, NOW, RULES) == InstanceRecord()


def test_a_clock_that_was_set_back_shuts_nobody_out_for_ever() -> None:
    year = 365 * 86_400
    kept = to_json(
        InstanceRecord(
            (InstanceRequest(NOW + year, NOW + year),),
            rests_until=NOW + year,
            updated_at=NOW + year,
        )
    )

    record = from_json(kept, NOW, RULES)

    assert record.asked == (InstanceRequest(NOW, NOW + 300),)
    assert (record.rests_until, record.updated_at) == (NOW + 3 * 86_400, NOW)


def test_a_list_survives_its_keeping_without_what_is_broken() -> None:
    listing = Listing((Instance("https://one.example.org", "A", 99.5, 250),), NOW - 5, NOW)
    kept = json.loads(json.dumps(listing_to_json(listing)))
    kept["instances"] += [
        7,
        ["https://two.example.org"],
        ["https://two.example.org", "Z", 1, 1],
        ["http://two.example.org", "A", 1, 1],
        [None, "A", 1, 1],
    ]

    assert listing_from_json(kept) == listing
    assert listing_from_json({"instances": "x", "failed_at": True}) == Listing()


@pytest.mark.parametrize(
    ("kept", "due"),
    [
        pytest.param(Listing(ONE, NOW - 86_399), False, id="fresh"),
        pytest.param(Listing(ONE, NOW - 86_400), True, id="old"),
        pytest.param(Listing(ONE, NOW - 86_400, NOW - 3599), False, id="old, tried in vain"),
        pytest.param(Listing(ONE, NOW - 99_999, NOW - 3600), True, id="old, tried an hour ago"),
        pytest.param(Listing(), True, id="none"),
        pytest.param(Listing((), 0, NOW - 299), False, id="none, tried in vain"),
        pytest.param(Listing((), 0, NOW - 300), True, id="none, tried five minutes ago"),
        pytest.param(Listing(ONE, NOW + 9999, NOW + 9999), True, id="from the future"),
    ],
)
def test_the_list_is_fetched_when_missing_or_old(kept: Listing, due: bool) -> None:
    assert is_due(kept, NOW, RULES) is due


def test_user_agents_are_browsers_and_rotate_only_if_wanted() -> None:
    chances = [number / len(USER_AGENTS) for number in range(len(USER_AGENTS))] + [0.999_999]

    assert {user_agent(chance, rotate=True) for chance in chances} == set(USER_AGENTS)
    assert {user_agent(chance, rotate=False) for chance in chances} == {USER_AGENTS[0]}
    assert all(agent.startswith("Mozilla/5.0 (") for agent in USER_AGENTS)


# The pool as a provider.

Reply = ProviderResults | SearchError
FOUND = ProviderResults((hit("https://example.org/", "searxng"),), total=7)


def url_of(name: str) -> str:
    return f"https://{name}.example.org"


@dataclass
class Site:
    """Instances that reply as told, the list of them, and one clock."""

    grades: dict[str, Grade]
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    """By name, in turn, the last for ever; who has none answers."""
    probes: dict[str, SearchError] = field(default_factory=dict)
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    state: MemoryState = field(default_factory=MemoryState)
    listing: bytes | SearchError | None = None
    took_s: float = 0.0
    """How long each instance takes."""
    rand: Callable[[], float] = lambda: 0.0
    sleep: FakeSleep = field(init=False)
    asked: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    allowed_s: list[float] = field(default_factory=list)
    probed: list[str] = field(default_factory=list)
    lists: int = 0
    hold: Callable[[], Awaitable[None]] | None = None
    """Waited for before each reply."""

    def __post_init__(self) -> None:
        self.sleep = FakeSleep(self.clock)

    def pool(self, **rules: Any) -> InstancePool:
        return InstancePool(
            discover=self.discover,
            ask=self.ask,
            probe=self.probe,
            clock=Clock(time=self.clock, sleep=self.sleep, random=self.rand),
            state=self.state,
            settings=replace(PoolSettings(use_random_instances=False), **rules),
        )

    def deadline(self, seconds: float = 30.0) -> Deadline:
        return Deadline.after(seconds, self.clock)

    async def discover(self, deadline: Deadline) -> bytes:
        self.lists += 1
        if isinstance(self.listing, SearchError):
            raise self.listing
        return self.listing or instances_json(self.grades)

    async def ask(self, url: str, query: Query, deadline: Deadline, agent: str) -> ProviderResults:
        name = url.removeprefix("https://").split(".")[0]
        self.asked.append(name)
        self.agents.append(agent)
        self.allowed_s.append(deadline.remaining_s())
        if self.hold:
            await self.hold()
        self.clock.advance(self.took_s)
        replies = self.replies.get(name, [FOUND])
        reply = replies[min(self.asked.count(name), len(replies)) - 1]
        if isinstance(reply, SearchError):
            raise reply
        return reply

    async def probe(self, url: str, deadline: Deadline) -> None:
        name = url.removeprefix("https://").split(".")[0]
        self.probed.append(name)
        if name in self.probes:
            raise self.probes[name]


def instances_json(grades: dict[str, Grade]) -> bytes:
    entries = {
        f"{url_of(name)}/": {
            "network_type": "normal",
            "generator": "searxng",
            "version": "2026.8.14",
            "http": {"status_code": 200, "grade": grade},
        }
        for name, grade in grades.items()
    }
    return json.dumps({"instances": entries}).encode()


async def search(site: Site, pool: InstancePool, seconds: float = 30.0) -> ProviderResults:
    with anyio.fail_after(60):
        return await pool.search(QUERY, site.deadline(seconds))


async def exhausted(site: Site, pool: InstancePool, seconds: float = 30.0) -> PoolExhausted:
    with pytest.raises(PoolExhausted) as caught:
        await search(site, pool, seconds)
    return caught.value


async def test_the_answer_names_the_instance_that_gave_it() -> None:
    site = Site({"one": "A"})

    found = await search(site, site.pool())

    assert found == replace(FOUND, instance=url_of("one"))
    assert site.pool().name == "searxng_pool"


async def test_searches_go_round_the_instances_of_a_grade() -> None:
    site = Site({"a": "A+", "b": "A+", "c": "A+"})
    pool = site.pool()

    for _ in range(7):
        await search(site, pool)
        site.clock.advance(60)

    assert site.asked == ["a", "b", "c", "a", "b", "c", "a"]


async def test_the_round_starts_anywhere_if_wanted() -> None:
    chances = iter([0.9, 0.5, 0.1, *[0.0] * 9])
    site = Site({"a": "A+", "b": "A+", "c": "A+"}, rand=lambda: next(chances))

    await search(site, site.pool(use_random_instances=True))

    assert site.asked == ["c"]


async def test_a_lower_grade_is_asked_only_when_none_of_the_higher_is_free() -> None:
    site = Site({"low": "B", "mid": "A", "top": "A+"})
    pool = site.pool()

    for _ in range(12):
        await search(site, pool)

    assert site.asked == ["top"] * 4 + ["mid"] * 4 + ["low"] * 4


async def test_no_instance_is_asked_above_its_limit_and_it_returns_after_the_hour() -> None:
    site = Site({"only": "A"})
    pool = site.pool()
    for _ in range(4):
        await search(site, pool)

    error = await exhausted(site, pool)

    assert error.attempted == ()
    assert error.retry_after_s == pytest.approx(3600, abs=2)
    site.clock.advance(3602)
    await search(site, pool)
    assert len(site.asked) == 5


async def test_instances_asked_for_pages_may_be_asked_more_often() -> None:
    site = Site({"only": "A"})
    pool = replace(site.pool(), wire=lambda url: "html")

    for _ in range(8):
        await search(site, pool)
        site.clock.advance(30)

    assert (await exhausted(site, pool)).retry_after_s == pytest.approx(362, abs=3)


async def test_limits_hold_over_a_restart() -> None:
    site = Site({"only": "A"})
    for _ in range(4):
        await search(site, site.pool())

    await exhausted(site, site.pool())

    assert (len(site.asked), site.lists) == (4, 1)


async def test_two_servers_that_share_a_memory_share_the_limit() -> None:
    site = Site({"only": "A"})
    first, second = site.pool(), site.pool()

    for pool in (first, second, first, second):
        await search(site, pool)

    await exhausted(site, first)
    await exhausted(site, second)
    assert len(site.asked) == 4


@pytest.mark.parametrize(
    "error",
    [
        ProviderRateLimited("x"),
        ProviderBlocked("x"),
        ProviderAuth("x"),
        ProviderUnreachable("x"),
        ProviderTimeout("x"),
        ProviderFailed("x"),
        ProviderAnswerInvalid("x"),
        ProviderRejected("x"),
        CertificateRefused("x"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_after_any_failure_the_next_instance_is_asked(error: SearchError) -> None:
    site = Site({"bad": "A+", "good": "B"}, {"bad": [error]})

    found = await search(site, site.pool())

    assert (found.instance, site.asked) == (url_of("good"), ["bad", "good"])


async def test_a_failed_instance_is_left_alone_for_a_while() -> None:
    site = Site({"bad": "A+", "good": "B"}, {"bad": [ProviderFailed("x"), FOUND]})
    pool = site.pool()
    await search(site, pool)

    await search(site, pool)
    site.clock.advance(30)
    await search(site, pool)

    assert site.asked == ["bad", "good", "good", "bad"]


async def test_retry_after_is_obeyed() -> None:
    refusal = ProviderRateLimited("x", retry_after_s=7200)
    site = Site({"only": "A"}, {"only": [refusal, FOUND]})
    pool = site.pool()
    first = await exhausted(site, pool)
    site.clock.advance(7190)

    second = await exhausted(site, pool)

    assert (first.attempted, second.attempted) == ((url_of("only"),), ())
    assert first.retry_after_s == pytest.approx(7200)
    assert second.retry_after_s == pytest.approx(10)
    site.clock.advance(11)
    assert (await search(site, pool)).instance == url_of("only")


async def test_a_certificate_that_cannot_be_verified_shuts_an_instance_out_over_restarts() -> None:
    site = Site({"false": "A+", "good": "B"}, {"false": [CertificateRefused("x")]})
    await search(site, site.pool())
    site.clock.advance(2 * 86_400)

    await search(site, site.pool())

    assert site.asked == ["false", "good", "good"]


async def test_attempts_are_bounded_and_named_in_the_error() -> None:
    names: dict[str, Grade] = {f"i{number}": "A" for number in range(9)}
    site = Site(names, {name: [ProviderFailed("x")] for name in names})

    error = await exhausted(site, site.pool())

    assert error.attempted == tuple(url_of(f"i{number}") for number in range(6))
    assert error.retry_after_s == 1.0
    assert error.provider == "searxng_pool"
    assert str(error).startswith("No available SearXNG instances")


async def test_each_attempt_gets_a_share_so_that_several_fit() -> None:
    names: dict[str, Grade] = {"a": "A", "b": "A", "c": "A"}
    site = Site(names, {name: [ProviderTimeout("x")] for name in names}, took_s=4.0)

    await exhausted(site, site.pool(request_delay_ms=(0, 0)), 15)

    assert site.allowed_s == pytest.approx([5.0, 5.5, 7.0])


async def test_no_share_is_too_short_and_none_is_asked_without_time() -> None:
    names: dict[str, Grade] = {f"i{number}": "A" for number in range(6)}
    site = Site(names, {name: [ProviderTimeout("x")] for name in names}, took_s=3.0)

    await exhausted(site, site.pool(request_delay_ms=(0, 0)), 9.5)

    assert site.allowed_s == [3.0, 3.0, 3.0]


async def test_before_each_request_there_is_a_random_delay() -> None:
    chances = iter([0.0, 0.0, 0.5, 1.0, 0.0, 0.0])
    site = Site(
        {"a": "A+", "b": "B"}, {"a": [ProviderFailed("x")]}, rand=lambda: next(chances, 0.0)
    )

    await search(site, site.pool())

    assert site.sleep.pauses == [0.1, 0.5]


async def test_user_agents_change_from_request_to_request() -> None:
    steps = iter(range(10_000))
    site = Site({"a": "A+", "b": "A+"}, rand=lambda: next(steps) * 0.37 % 1)
    pool, still = site.pool(), site.pool(rotate_user_agents=False)

    for _ in range(3):
        await search(site, pool)
    for _ in range(3):
        await search(site, still)

    assert len(set(site.agents[:3])) == 3
    assert set(site.agents[3:]) == {USER_AGENTS[0]}


async def test_searches_at_the_same_time_use_different_instances() -> None:
    let_go = anyio.Event()
    site = Site({"a": "A+", "b": "A+", "c": "A", "d": "B"}, hold=let_go.wait)
    pool = site.pool()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(pool.search, QUERY, site.deadline())
            await anyio.wait_all_tasks_blocked()
            busy = list(site.asked)
            let_go.set()

    assert sorted(busy) == ["a", "b", "c", "d"]


async def test_searches_at_the_same_time_stay_within_one_limit() -> None:
    let_go = anyio.Event()
    site = Site({"only": "A+"}, hold=let_go.wait)
    pool = site.pool()
    errors: list[PoolExhausted] = []

    async def try_search() -> None:
        try:
            await pool.search(QUERY, site.deadline())
        except PoolExhausted as error:
            errors.append(error)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(6):
                tasks.start_soon(try_search)
            await anyio.wait_all_tasks_blocked()
            let_go.set()

    assert (len(site.asked), len(errors)) == (4, 2)


async def test_a_cancelled_search_still_counts() -> None:
    site = Site({"only": "A"}, hold=anyio.Event().wait)
    pool = site.pool()

    for _ in range(4):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.search, QUERY, site.deadline())
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    assert (await exhausted(site, site.pool())).attempted == ()
    assert len(site.asked) == 4


async def test_a_search_waits_a_little_for_the_next_free_instance() -> None:
    site = Site({"only": "A"}, {"only": [ProviderFailed("x"), FOUND]})
    pool = site.pool()
    await exhausted(site, pool)
    site.clock.advance(26)

    found = await search(site, pool)

    assert found.instance == url_of("only")
    assert site.sleep.pauses[-2] == pytest.approx(4)


async def test_a_search_does_not_wait_when_its_deadline_has_no_room() -> None:
    site = Site({"only": "A"}, {"only": [ProviderFailed("x"), FOUND]})
    pool = site.pool()
    await exhausted(site, pool)
    site.clock.advance(26)

    assert (await exhausted(site, pool, 6)).retry_after_s == pytest.approx(4)


@dataclass(frozen=True)
class Wait:
    listing: bytes | SearchError
    retry_after_s: float


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(Wait(ProviderUnreachable("x"), 300), id="unreachable"),
        pytest.param(Wait(b"<html>", 300), id="a page"),
        pytest.param(Wait(b'{"instances": {}}', 300), id="empty"),
    ],
)
async def test_without_a_list_the_error_says_so_and_the_list_is_not_asked_for_again(
    case: Wait,
) -> None:
    site = Site({"one": "A"}, listing=case.listing)
    pool = site.pool()

    error = await exhausted(site, pool)
    await exhausted(site, site.pool())

    assert (error.attempted, error.retry_after_s) == ((), case.retry_after_s)
    assert site.lists == 1
    site.listing = None
    site.clock.advance(300)
    assert (await search(site, pool)).instance == url_of("one")


async def test_an_old_list_serves_until_there_is_a_new_one() -> None:
    site = Site({"old": "A"})
    pool = site.pool()
    await search(site, pool)
    site.listing = ProviderUnreachable("x")
    site.clock.advance(2 * 86_400)

    assert (await search(site, pool)).instance == url_of("old")
    assert (await search(site, site.pool())).instance == url_of("old")
    site.grades, site.listing = {"new": "A"}, None
    site.clock.advance(3600)

    assert (await search(site, pool)).instance == url_of("new")
    assert site.lists == 3


async def test_nobody_with_an_old_list_waits_for_the_new_one() -> None:
    site = Site({"one": "A"})
    pool = site.pool()
    await search(site, pool)
    site.clock.advance(2 * 86_400)
    let_go = anyio.Event()

    async def slow(deadline: Deadline) -> bytes:
        await let_go.wait()
        return instances_json(site.grades)

    pool.discover = slow
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.search, QUERY, site.deadline())
            await anyio.wait_all_tasks_blocked()
            found = await pool.search(QUERY, site.deadline())
            let_go.set()

    assert found.instance == url_of("one")


async def test_who_has_no_list_waits_no_longer_than_his_deadline() -> None:
    async def never(deadline: Deadline) -> bytes:
        await anyio.sleep_forever()
        return b""

    site = Site({"one": "A"})
    pool = replace(site.pool(), discover=never)

    assert (await exhausted(site, pool, 0.01)).attempted == ()


async def test_instances_that_left_the_list_are_forgotten_after_days() -> None:
    site = Site({"gone": "A"})
    pool = site.pool()
    await search(site, pool)
    site.grades = {"new": "A"}

    for day in (1, 2, 3, 4):
        site.clock.advance(86_400)
        await search(site, pool)
        assert (url_of("gone") in site.state.kinds["searxng_pool"]) is (day <= 2)


async def test_neither_memory_nor_log_nor_error_holds_a_query(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    site = Site({"a": "A+", "b": "A"}, {"a": [CertificateRefused("x")], "b": [ProviderFailed("x")]})

    error = await exhausted(site, site.pool())

    written = " ".join(str(vars(record)) for record in caplog.records)
    assert "https://a.example.org" in written
    assert QUERY.text not in written + str(error) + json.dumps(site.state.kinds)


# Health checks.


async def bench(site: Site, pool: InstancePool, name: str) -> None:
    """Let an instance fail three times."""
    site.replies[name] = [ProviderFailed("x")]
    for _ in range(3):
        await exhausted(site, pool)
        site.clock.advance(30)


async def test_a_benched_instance_returns_when_a_probe_succeeds() -> None:
    site = Site({"only": "A"})
    pool = site.pool(rate_limit_backoff_base_s=900)
    await bench(site, pool, "only")
    site.replies.clear()
    await exhausted(site, pool)

    assert await pool.run_health_checks() == 1

    assert (await search(site, pool)).instance == url_of("only")


async def test_a_benched_instance_returns_when_its_back_off_passes() -> None:
    site = Site({"only": "A"})
    pool = site.pool()
    await bench(site, pool, "only")
    site.replies.clear()
    site.clock.advance(30)

    assert (await search(site, pool)).instance == url_of("only")


async def test_a_probe_that_fails_keeps_an_instance_on_the_bench() -> None:
    site = Site({"only": "A"}, probes={"only": ProviderUnreachable("x")})
    pool = site.pool()
    await bench(site, pool, "only")
    await pool.run_health_checks()
    site.clock.advance(200)

    assert (await exhausted(site, pool)).attempted == ()


async def test_a_probe_finds_a_false_certificate(caplog: pytest.LogCaptureFixture) -> None:
    site = Site({"good": "A+", "false": "A"}, probes={"false": CertificateRefused("x")})
    pool = site.pool()
    await search(site, pool)
    await pool.run_health_checks()

    assert "false" in site.probed
    for _ in range(3):
        await search(site, pool)
    assert (await exhausted(site, pool)).attempted == ()
    assert set(site.asked) == {"good"}
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_a_round_probes_no_more_than_it_may_and_the_rest_next_time() -> None:
    site = Site({f"i{number}": "A" for number in range(9)})
    pool = site.pool(probes_per_round=5)
    await search(site, pool)

    rounds = [await pool.run_health_checks() for _ in range(3)]

    assert rounds == [5, 3, 0]
    assert Counter(site.probed).most_common(1)[0][1] == 1
    assert "i0" not in site.probed


async def test_probes_run_in_parallel_but_bounded() -> None:
    let_go, under_way = anyio.Event(), 0

    async def probe(url: str, deadline: Deadline) -> None:
        nonlocal under_way
        under_way += 1
        await let_go.wait()

    site = Site({f"i{number}": "A" for number in range(9)})
    pool = replace(site.pool(probes_at_once=3), probe=probe)
    await search(site, pool)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.run_health_checks)
            await anyio.wait_all_tasks_blocked()
            most = under_way
            let_go.set()

    assert most == 3


@pytest.mark.parametrize("idle_s", [None, 3601])
async def test_nobody_is_probed_while_nobody_searches(idle_s: float | None) -> None:
    site = Site({"one": "A", "two": "A"})
    pool = site.pool()
    if idle_s:
        await search(site, pool)
        site.clock.advance(idle_s)

    assert await pool.run_health_checks() == 0
    assert site.probed == []


async def maintained(site: Site, pool: InstancePool, rounds: int) -> list[float]:
    """Let the pool maintain itself for so many rounds; how long it paused before each."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        if len(pauses) == rounds:
            tasks.cancel_scope.cancel()
            await anyio.sleep_forever()
        pauses.append(seconds)
        site.clock.advance(seconds)

    pool.clock = replace(pool.clock, sleep=pause)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.maintain)
    return pauses


async def test_maintenance_checks_every_five_minutes_and_renews_the_list() -> None:
    site = Site({"one": "A", "two": "A"})
    pool = site.pool(discovery_ttl_s=900)
    await search(site, pool)

    pauses = await maintained(site, pool, 4)

    assert pauses == [300] * 4
    assert (site.probed, site.lists) == (["two"], 2)


async def test_maintenance_of_a_pool_that_nobody_uses_asks_nobody() -> None:
    site = Site({"one": "A"})

    await maintained(site, site.pool(), 3)

    assert (site.probed, site.lists) == ([], 0)


def test_every_grade_has_a_tier() -> None:
    assert [Instance("https://x.example", grade).tier for grade in GRADES] == [0, 1, 2]

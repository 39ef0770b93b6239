"""How answers, failures and probes change the record of an instance."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from kindly.errors import (
    CertificateRefused,
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
from kindly.search.pool_settings import PoolSettings
from kindly.search.provider import Pace
from kindly.search.searxng.instance_health import (
    CLOCK_MARGIN_S,
    FailureContext,
    InstanceRecord,
    InstanceRequest,
    backoff_s,
    from_json,
    to_json,
)

NOW = 1_000_000.0
SETTINGS = PoolSettings()
LIMITS = (Pace(4, 3600),)


@dataclass(frozen=True)
class Failure:
    """What one failure does to a record."""

    error: SearchError
    before: InstanceRecord = field(default_factory=InstanceRecord)
    paused_s: float = 0.0
    refused_s: float = 0.0
    failures: int = 0
    backoffs: int = 0
    unreadable: int = 0


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(Failure(ProviderFailed("x"), paused_s=30, failures=1), id="5xx"),
        pytest.param(Failure(ProviderTimeout("x"), paused_s=30, failures=1), id="timeout"),
        pytest.param(Failure(ProviderUnreachable("x"), paused_s=30, failures=1), id="unreachable"),
        pytest.param(Failure(ProviderRejected("x"), paused_s=30, failures=1), id="4xx"),
        pytest.param(
            Failure(ProviderAnswerInvalid("x"), paused_s=30, failures=1, unreadable=1),
            id="unreadable",
        ),
        pytest.param(
            Failure(ProviderAnswerInvalid("x", status=302), refused_s=60, backoffs=1, unreadable=1),
            id="sent to the front page",
        ),
        pytest.param(Failure(ProviderRateLimited("x"), refused_s=60, backoffs=1), id="429"),
        pytest.param(Failure(ProviderBlocked("x"), refused_s=60, backoffs=1), id="challenge"),
        pytest.param(Failure(ProviderAuth("x"), refused_s=60, backoffs=1), id="403 is a ban"),
        pytest.param(
            Failure(ProviderRateLimited("x", retry_after_s=900), refused_s=900, backoffs=1),
            id="Retry-After longer than the back-off",
        ),
        pytest.param(
            Failure(ProviderRateLimited("x", retry_after_s=5), refused_s=60, backoffs=1),
            id="Retry-After shorter than the back-off",
        ),
        pytest.param(
            Failure(ProviderRateLimited("x", retry_after_s=9e9), refused_s=3 * 86_400, backoffs=1),
            id="Retry-After beyond reason",
        ),
        pytest.param(
            Failure(ProviderFailed("x", retry_after_s=200), paused_s=30, refused_s=200, failures=1),
            id="503 with Retry-After",
        ),
        pytest.param(
            Failure(ProviderBlocked("x"), InstanceRecord(backoffs=3), refused_s=480, backoffs=4),
            id="the fourth refusal in a row",
        ),
        pytest.param(
            Failure(ProviderFailed("x"), InstanceRecord(failures=1), paused_s=30, failures=2),
            id="the second failure",
        ),
        pytest.param(
            Failure(
                ProviderFailed("x"), InstanceRecord(failures=2), paused_s=60, failures=3, backoffs=1
            ),
            id="the third failure starts the back-off",
        ),
        pytest.param(
            Failure(
                ProviderFailed("x"),
                InstanceRecord(failures=3, backoffs=1),
                paused_s=120,
                failures=4,
                backoffs=2,
            ),
            id="the next back-off is twice as long",
        ),
    ],
)
def test_a_failure_pauses_an_instance_by_its_kind(case: Failure) -> None:
    after = case.before.failed(case.error, FailureContext(NOW), SETTINGS)

    assert after == InstanceRecord(
        failures=case.failures,
        backoffs=case.backoffs,
        unreadable=case.unreadable,
        failing_since=NOW,
        paused_until=NOW + case.paused_s if case.paused_s else 0.0,
        refused_until=NOW + case.refused_s if case.refused_s else 0.0,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("error", "before", "last_answer_at", "blacklisted"),
    [
        pytest.param(CertificateRefused("x"), InstanceRecord(), 0.0, True, id="certificate"),
        pytest.param(
            ProviderAnswerInvalid("x"), InstanceRecord(unreadable=4), NOW + 1, True, id="unreadable"
        ),
        pytest.param(
            ProviderAnswerInvalid("x"), InstanceRecord(unreadable=3), NOW + 1, False, id="not yet"
        ),
        pytest.param(
            ProviderBlocked("x"), InstanceRecord(backoffs=39), NOW + 1, True, id="always refuses"
        ),
        pytest.param(
            ProviderBlocked("x"), InstanceRecord(backoffs=38), NOW + 1, False, id="refuses often"
        ),
        pytest.param(
            ProviderFailed("x"),
            InstanceRecord(failures=9, backoffs=39),
            NOW + 1,
            True,
            id="always in back-off",
        ),
        pytest.param(
            ProviderBlocked("x"),
            InstanceRecord(backoffs=39, failing_since=NOW - 9),
            NOW - 10,
            False,
            id="no instance answers: our network may be down",
        ),
    ],
)
def test_lasting_failures_are_blacklisted_for_days(
    error: SearchError, before: InstanceRecord, last_answer_at: float, blacklisted: bool
) -> None:
    after = before.failed(error, FailureContext(NOW, 0.0, last_answer_at), SETTINGS)

    assert after.blacklisted_until == (NOW + 3 * 86_400 if blacklisted else 0.0)


def test_the_back_off_doubles_up_to_its_cap() -> None:
    waits_s = [backoff_s(backoffs, 0.0, SETTINGS) for backoffs in (1, 2, 3, 4, 5, 6, 7, 5000)]

    assert waits_s == [60, 120, 240, 480, 960, 1800, 1800, 1800]


def test_jitter_makes_a_back_off_longer_and_never_shorter() -> None:
    assert backoff_s(1, 0.999, SETTINGS) == pytest.approx(75, rel=0.01)


def test_an_answer_resets_everything_but_the_requests() -> None:
    requests = (InstanceRequest(NOW - 5, NOW - 4),)
    before = InstanceRecord(requests, 2, 5, 3, NOW - 9, NOW + 9, NOW + 9, NOW + 9)

    assert before.succeeded(NOW) == InstanceRecord(requests, checked_at=NOW, updated_at=NOW)


def test_a_successful_probe_ends_a_pause_but_not_a_refusal() -> None:
    paused = InstanceRecord(failures=3, backoffs=2, paused_until=NOW + 900, refused_until=NOW + 60)

    after = paused.probe_succeeded(NOW)

    assert (after.failures, after.paused_until, after.refused_until) == (0, 0.0, NOW + 60)
    assert after.backoffs == 2


@pytest.mark.parametrize(
    ("before", "error", "paused_s", "blacklisted_s"),
    [
        pytest.param(InstanceRecord(), ProviderFailed("x"), 30, 0, id="first"),
        pytest.param(
            InstanceRecord(failures=2),
            ProviderFailed("x"),
            300,
            0,
            id="in back-off until the next probe",
        ),
        pytest.param(
            InstanceRecord(failures=3, paused_until=NOW + 900),
            ProviderFailed("x"),
            900,
            0,
            id="no shorter",
        ),
        pytest.param(InstanceRecord(), CertificateRefused("x"), 0, 3 * 86_400, id="certificate"),
    ],
)
def test_a_failed_probe_is_one_more_failure(
    before: InstanceRecord, error: SearchError, paused_s: float, blacklisted_s: float
) -> None:
    after = before.probe_failed(error, NOW, SETTINGS)

    assert after.failures == before.failures + 1
    assert after.backoffs == 0
    assert after.paused_until == (NOW + paused_s if paused_s else 0.0)
    assert after.blacklisted_until == (NOW + blacklisted_s if blacklisted_s else 0.0)


def called_at(*ends: float) -> InstanceRecord:
    return InstanceRecord(tuple(InstanceRequest(end - 1, end) for end in ends))


@pytest.mark.parametrize(
    ("record", "limits", "expected"),
    [
        pytest.param(InstanceRecord(), LIMITS, 0.0, id="empty"),
        pytest.param(called_at(1, 2, 3), LIMITS, 0.0, id="one left"),
        pytest.param(called_at(1, 2, 3, 4), LIMITS, 3601 + CLOCK_MARGIN_S, id="full"),
        pytest.param(called_at(4, 3, 2, 1, 5), LIMITS, 3602 + CLOCK_MARGIN_S, id="overfull"),
        pytest.param(
            called_at(1, 100),
            (Pace(2, 20), Pace(8, 600)),
            21 + CLOCK_MARGIN_S,
            id="the short window",
        ),
        pytest.param(
            called_at(0, 30, 60),
            (Pace(2, 20), Pace(3, 600)),
            600 + CLOCK_MARGIN_S,
            id="the long window",
        ),
        pytest.param(InstanceRecord(paused_until=7, refused_until=5), LIMITS, 7.0, id="pause"),
        pytest.param(InstanceRecord(paused_until=7, refused_until=9), LIMITS, 9.0, id="refusal"),
        pytest.param(
            InstanceRecord(refused_until=9, blacklisted_until=11), LIMITS, 11.0, id="blacklist"
        ),
    ],
)
def test_an_instance_is_free_after_its_pauses_and_within_its_limits(
    record: InstanceRecord, limits: tuple[Pace, ...], expected: float
) -> None:
    assert record.free_at(limits) == expected


def test_a_running_request_counts_from_its_latest_arrival() -> None:
    record = InstanceRecord()
    for begun in (NOW, NOW + 1, NOW + 2, NOW + 3):
        record = record.started(begun, begun + 20, LIMITS)

    assert record.free_at(LIMITS) == NOW + 20 + 3600 + CLOCK_MARGIN_S
    assert record.ended(NOW, NOW + 5).free_at(LIMITS) == NOW + 5 + 3600 + CLOCK_MARGIN_S


def test_requests_before_every_window_are_forgotten() -> None:
    record = InstanceRecord((InstanceRequest(NOW - 9999, NOW - 9998),)).started(
        NOW, NOW + 1, LIMITS
    )

    assert record.requests == (InstanceRequest(NOW, NOW + 1),)


def test_no_two_requests_start_at_the_same_moment() -> None:
    record = InstanceRecord().started(NOW, NOW + 1, LIMITS)

    assert InstanceRecord().next_start(NOW) == NOW
    assert record.next_start(NOW) > NOW
    assert record.next_start(NOW + 1) == NOW + 1


@pytest.mark.parametrize(
    ("record", "due"),
    [
        pytest.param(InstanceRecord(), True, id="never called"),
        pytest.param(InstanceRecord(checked_at=NOW - 3599), False, id="called lately"),
        pytest.param(InstanceRecord(checked_at=NOW - 3600), True, id="no answer for an hour"),
        pytest.param(InstanceRecord(failures=3, checked_at=NOW - 300), True, id="in back-off"),
        pytest.param(
            InstanceRecord(failures=3, checked_at=NOW - 299), False, id="in back-off, just checked"
        ),
        pytest.param(
            InstanceRecord(failures=2, checked_at=NOW - 300), False, id="not in back-off yet"
        ),
        pytest.param(InstanceRecord(refused_until=NOW + 1), False, id="refused"),
        pytest.param(InstanceRecord(blacklisted_until=NOW + 1), False, id="blacklisted"),
    ],
)
def test_an_instance_is_probed_only_if_it_needs_it(record: InstanceRecord, due: bool) -> None:
    assert record.needs_probe(NOW, SETTINGS) is due


def test_merged_records_have_the_requests_of_both_and_the_newer_health() -> None:
    ours = InstanceRecord((InstanceRequest(1, 2), InstanceRequest(5, 30)), backoffs=1, updated_at=5)
    theirs = InstanceRecord(
        (InstanceRequest(3, 4), InstanceRequest(5, 6)), backoffs=2, updated_at=6
    )
    together = InstanceRecord(
        (InstanceRequest(1, 2), InstanceRequest(3, 4), InstanceRequest(5, 6)),
        backoffs=2,
        updated_at=6,
    )

    assert ours.merged(theirs) == together
    assert theirs.merged(ours) == together


def test_a_record_survives_saving() -> None:
    record = InstanceRecord(
        (InstanceRequest(NOW - 9, NOW - 8), InstanceRequest(NOW - 1, NOW)),
        2,
        4,
        1,
        NOW - 50,
        NOW + 30,
        NOW + 90,
        NOW + 900,
        NOW - 20,
        NOW - 1,
    )

    assert from_json(json.loads(json.dumps(to_json(record))), NOW, SETTINGS) == record


@pytest.mark.parametrize(
    "saved",
    [
        pytest.param({}, id="nothing"),
        pytest.param(
            {"requests": "x", "failures": "3", "paused_until": None, "backoffs": True},
            id="other types",
        ),
        pytest.param(
            {"requests": [1, [2], ["a", 3], [None, None], [float("nan"), 1]], "paused_until": -5},
            id="broken pairs",
        ),
        pytest.param({"failures": float("inf"), "blacklisted_until": 10**400}, id="no number"),
    ],
)
def test_a_record_that_cannot_be_read_is_empty(saved: dict[str, Any]) -> None:
    assert from_json(saved, NOW, SETTINGS) == InstanceRecord()


def test_a_clock_that_was_set_back_excludes_no_instance_for_ever() -> None:
    year = 365 * 86_400
    saved = to_json(
        InstanceRecord(
            (InstanceRequest(NOW + year, NOW + year),),
            paused_until=NOW + year,
            updated_at=NOW + year,
        )
    )

    record = from_json(saved, NOW, SETTINGS)

    assert record.requests == (InstanceRequest(NOW, NOW + 300),)
    assert (record.paused_until, record.updated_at) == (NOW + 3 * 86_400, NOW)

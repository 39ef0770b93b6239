"""The pool as a provider: rotation, rate limits, failover, deadlines, privacy."""

import json
import logging
from dataclasses import replace

import anyio
import pytest

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
from kindly.search.searxng.instance_list import Grade
from kindly.search.searxng.instance_pool import RESULTS_PAGE_LIMITS
from kindly.search.searxng.user_agents import USER_AGENTS
from tests.support.searxng_pool import (
    FOUND,
    QUERY,
    PublicInstances,
    exhausted,
    search,
    url_of,
)

pytestmark = pytest.mark.anyio


async def test_the_answer_names_its_instance() -> None:
    site = PublicInstances({"one": "A"})

    found = await search(site, site.pool())

    assert found == replace(FOUND, instance=url_of("one"))
    assert site.pool().name == "searxng_pool"


async def test_searches_rotate_over_the_instances_of_a_grade() -> None:
    site = PublicInstances({"a": "A+", "b": "A+", "c": "A+"})
    pool = site.pool()

    for _ in range(7):
        await search(site, pool)
        site.clock.advance(60)

    assert site.called == ["a", "b", "c", "a", "b", "c", "a"]


async def test_the_rotation_starts_at_a_random_instance_if_configured() -> None:
    numbers = iter([0.9, 0.5, 0.1, *[0.0] * 9])
    site = PublicInstances({"a": "A+", "b": "A+", "c": "A+"}, random=lambda: next(numbers))

    await search(site, site.pool(use_random_instances=True))

    assert site.called == ["c"]


async def test_a_lower_grade_is_called_only_when_no_higher_one_is_free() -> None:
    site = PublicInstances({"low": "B", "mid": "A", "top": "A+"})
    pool = site.pool()

    for _ in range(12):
        await search(site, pool)

    assert site.called == ["top"] * 4 + ["mid"] * 4 + ["low"] * 4


async def test_no_instance_is_called_above_its_limit_and_it_returns_after_the_hour() -> None:
    site = PublicInstances({"only": "A"})
    pool = site.pool()
    for _ in range(4):
        await search(site, pool)

    error = await exhausted(site, pool)

    assert error.attempted == ()
    assert error.retry_after_s == pytest.approx(3600, abs=2)
    site.clock.advance(3602)
    await search(site, pool)
    assert len(site.called) == 5


async def test_the_results_page_has_higher_limits_than_json() -> None:
    site = PublicInstances({"only": "A"})
    pool = site.pool(RESULTS_PAGE_LIMITS)

    for _ in range(8):
        await search(site, pool)
        site.clock.advance(30)

    assert (await exhausted(site, pool)).retry_after_s == pytest.approx(362, abs=3)


async def test_limits_survive_a_restart() -> None:
    site = PublicInstances({"only": "A"})
    for _ in range(4):
        await search(site, site.pool())

    await exhausted(site, site.pool())

    assert (len(site.called), site.lists) == (4, 1)


async def test_two_servers_that_share_a_state_share_the_limit() -> None:
    site = PublicInstances({"only": "A"})
    first, second = site.pool(), site.pool()

    for pool in (first, second, first, second):
        await search(site, pool)

    await exhausted(site, first)
    await exhausted(site, second)
    assert len(site.called) == 4


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
async def test_after_any_failure_the_next_instance_is_called(error: SearchError) -> None:
    site = PublicInstances({"bad": "A+", "good": "B"}, {"bad": [error]})

    found = await search(site, site.pool())

    assert (found.instance, site.called) == (url_of("good"), ["bad", "good"])


async def test_a_failed_instance_is_paused() -> None:
    site = PublicInstances({"bad": "A+", "good": "B"}, {"bad": [ProviderFailed("x"), FOUND]})
    pool = site.pool()
    await search(site, pool)

    await search(site, pool)
    site.clock.advance(30)
    await search(site, pool)

    assert site.called == ["bad", "good", "good", "bad"]


async def test_retry_after_is_obeyed() -> None:
    refusal = ProviderRateLimited("x", retry_after_s=7200)
    site = PublicInstances({"only": "A"}, {"only": [refusal, FOUND]})
    pool = site.pool()
    first = await exhausted(site, pool)
    site.clock.advance(7190)

    second = await exhausted(site, pool)

    assert (first.attempted, second.attempted) == ((url_of("only"),), ())
    assert first.retry_after_s == pytest.approx(7200)
    assert second.retry_after_s == pytest.approx(10)
    site.clock.advance(11)
    assert (await search(site, pool)).instance == url_of("only")


async def test_a_refused_certificate_blacklists_an_instance_over_restarts() -> None:
    site = PublicInstances({"false": "A+", "good": "B"}, {"false": [CertificateRefused("x")]})
    await search(site, site.pool())
    site.clock.advance(2 * 86_400)

    await search(site, site.pool())

    assert site.called == ["false", "good", "good"]


async def test_attempts_are_bounded_and_named_in_the_error() -> None:
    names: dict[str, Grade] = {f"i{number}": "A" for number in range(9)}
    site = PublicInstances(names, {name: [ProviderFailed("x")] for name in names})

    error = await exhausted(site, site.pool())

    assert error.attempted == tuple(url_of(f"i{number}") for number in range(6))
    assert error.retry_after_s == 1.0
    assert error.provider == "searxng_pool"
    assert str(error).startswith("No available SearXNG instances")


async def test_each_attempt_gets_a_share_of_the_time() -> None:
    names: dict[str, Grade] = {"a": "A", "b": "A", "c": "A"}
    site = PublicInstances(names, {name: [ProviderTimeout("x")] for name in names}, took_s=4.0)

    await exhausted(site, site.pool(request_delay_ms=(0, 0)), 15)

    assert site.allowed_s == pytest.approx([5.0, 5.5, 7.0])


async def test_no_share_is_too_short_and_no_instance_is_called_without_time() -> None:
    names: dict[str, Grade] = {f"i{number}": "A" for number in range(6)}
    site = PublicInstances(names, {name: [ProviderTimeout("x")] for name in names}, took_s=3.0)

    await exhausted(site, site.pool(request_delay_ms=(0, 0)), 9.5)

    assert site.allowed_s == [3.0, 3.0, 3.0]


async def test_before_each_request_there_is_a_random_delay() -> None:
    numbers = iter([0.0, 0.0, 0.5, 1.0, 0.0, 0.0])
    site = PublicInstances(
        {"a": "A+", "b": "B"}, {"a": [ProviderFailed("x")]}, random=lambda: next(numbers, 0.0)
    )

    await search(site, site.pool())

    assert site.sleep.pauses == [0.1, 0.5]


async def test_user_agents_change_from_request_to_request() -> None:
    steps = iter(range(10_000))
    site = PublicInstances({"a": "A+", "b": "A+"}, random=lambda: next(steps) * 0.37 % 1)
    pool, fixed = site.pool(), site.pool(rotate_user_agents=False)

    for _ in range(3):
        await search(site, pool)
    for _ in range(3):
        await search(site, fixed)

    assert len(set(site.agents[:3])) == 3
    assert set(site.agents[3:]) == {USER_AGENTS[0]}


async def test_concurrent_searches_use_different_instances() -> None:
    let_go = anyio.Event()
    site = PublicInstances({"a": "A+", "b": "A+", "c": "A", "d": "B"}, hold=let_go.wait)
    pool = site.pool()

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(pool.search, QUERY, site.deadline())
            await anyio.wait_all_tasks_blocked()
            busy = list(site.called)
            let_go.set()

    assert sorted(busy) == ["a", "b", "c", "d"]


async def test_concurrent_searches_share_one_limit() -> None:
    let_go = anyio.Event()
    site = PublicInstances({"only": "A+"}, hold=let_go.wait)
    pool = site.pool()
    errors: list[PoolExhausted] = []

    async def try_search() -> None:
        try:
            await pool.search(QUERY, site.deadline())
        except PoolExhausted as error:
            errors.append(error)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(6):
                tasks.start_soon(try_search)
            await anyio.wait_all_tasks_blocked()
            let_go.set()

    assert (len(site.called), len(errors)) == (4, 2)


async def test_a_cancelled_search_still_counts() -> None:
    site = PublicInstances({"only": "A"}, hold=anyio.Event().wait)
    pool = site.pool()

    for _ in range(4):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.search, QUERY, site.deadline())
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    assert (await exhausted(site, site.pool())).attempted == ()
    assert len(site.called) == 4


async def test_a_search_waits_a_little_for_the_next_free_instance() -> None:
    site = PublicInstances({"only": "A"}, {"only": [ProviderFailed("x"), FOUND]})
    pool = site.pool()
    await exhausted(site, pool)
    site.clock.advance(26)

    found = await search(site, pool)

    assert found.instance == url_of("only")
    assert site.sleep.pauses[-2] == pytest.approx(4)


async def test_a_search_does_not_wait_past_its_deadline() -> None:
    site = PublicInstances({"only": "A"}, {"only": [ProviderFailed("x"), FOUND]})
    pool = site.pool()
    await exhausted(site, pool)
    site.clock.advance(26)

    assert (await exhausted(site, pool, 6)).retry_after_s == pytest.approx(4)


async def test_no_query_is_in_the_state_the_log_or_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    site = PublicInstances(
        {"a": "A+", "b": "A"}, {"a": [CertificateRefused("x")], "b": [ProviderFailed("x")]}
    )

    error = await exhausted(site, site.pool())

    written = " ".join(str(vars(record)) for record in caplog.records)
    assert "https://a.example.org" in written
    assert QUERY.text not in written + str(error) + json.dumps(site.state.kinds)

"""Health checks and background maintenance of the pool."""

from collections import Counter
from dataclasses import replace

import anyio
import pytest

from kindly.errors import (
    CertificateRefused,
    ProviderFailed,
    ProviderUnreachable,
)
from kindly.search.searxng.health_checks import CONCURRENT_PROBES, PROBES_PER_RUN
from kindly.search.searxng.instance_pool import InstancePool
from tests.support.searxng_pool import (
    PublicInstances,
    exhausted,
    search,
    url_of,
)

pytestmark = pytest.mark.anyio


async def fail_three_times(site: PublicInstances, pool: InstancePool, name: str) -> None:
    """Make an instance fail until its back-off starts."""
    site.replies[name] = [ProviderFailed("x")]
    for _ in range(3):
        await exhausted(site, pool)
        site.clock.advance(30)


async def test_an_instance_in_back_off_returns_when_a_probe_succeeds() -> None:
    site = PublicInstances({"only": "A"})
    pool = site.pool(rate_limit_backoff_base_s=900)
    await fail_three_times(site, pool, "only")
    site.replies.clear()
    await exhausted(site, pool)

    assert await pool.run_health_checks() == 1

    assert (await search(site, pool)).instance == url_of("only")


async def test_an_instance_returns_when_its_back_off_is_over() -> None:
    site = PublicInstances({"only": "A"})
    pool = site.pool()
    await fail_three_times(site, pool, "only")
    site.replies.clear()
    site.clock.advance(30)

    assert (await search(site, pool)).instance == url_of("only")


async def test_a_failed_probe_extends_the_pause() -> None:
    site = PublicInstances({"only": "A"}, probes={"only": ProviderUnreachable("x")})
    pool = site.pool()
    await fail_three_times(site, pool, "only")
    await pool.run_health_checks()
    site.clock.advance(200)

    assert (await exhausted(site, pool)).attempted == ()


async def test_a_probe_finds_a_refused_certificate(caplog: pytest.LogCaptureFixture) -> None:
    site = PublicInstances({"good": "A+", "false": "A"}, probes={"false": CertificateRefused("x")})
    pool = site.pool()
    await search(site, pool)
    await pool.run_health_checks()

    assert "false" in site.probed
    for _ in range(3):
        await search(site, pool)
    assert (await exhausted(site, pool)).attempted == ()
    assert set(site.called) == {"good"}
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_a_run_probes_a_bounded_number_and_the_next_run_the_others() -> None:
    site = PublicInstances({f"i{number:02}": "A" for number in range(29)})
    pool = site.pool()
    await search(site, pool)

    runs = [await pool.run_health_checks() for _ in range(3)]

    assert runs == [PROBES_PER_RUN, 8, 0]
    assert Counter(site.probed).most_common(1)[0][1] == 1
    assert "i00" not in site.probed


async def test_probes_run_in_parallel_up_to_a_limit() -> None:
    let_go = anyio.Event()
    site = PublicInstances({f"i{number}": "A" for number in range(9)}, probe_delay=let_go.wait)
    pool = site.pool()
    await search(site, pool)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.run_health_checks)
            await anyio.wait_all_tasks_blocked()
            running = len(site.probed)
            let_go.set()

    assert running == CONCURRENT_PROBES


@pytest.mark.parametrize("idle_s", [None, 3601])
async def test_no_instance_is_probed_while_the_pool_is_idle(idle_s: float | None) -> None:
    site = PublicInstances({"one": "A", "two": "A"})
    pool = site.pool()
    if idle_s:
        await search(site, pool)
        site.clock.advance(idle_s)

    assert await pool.run_health_checks() == 0
    assert site.probed == []


async def maintained(site: PublicInstances, pool: InstancePool, rounds: int) -> list[float]:
    """Run the pool's maintenance so many times; returns the pauses before each."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        if len(pauses) == rounds:
            tasks.cancel_scope.cancel()
            await anyio.sleep_forever()
        pauses.append(seconds)
        site.clock.advance(seconds)

    pool.clock = replace(pool.clock, sleep=pause)
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.maintain)
    return pauses


async def test_maintenance_checks_every_five_minutes_and_renews_the_list() -> None:
    site = PublicInstances({"one": "A", "two": "A"})
    pool = site.pool()
    await search(site, pool)
    site.clock.advance(86_400 - 900)
    await search(site, pool)

    pauses = await maintained(site, pool, 4)

    assert pauses == [300] * 4
    assert (site.probed, site.lists) == (["one"], 2)


async def test_maintenance_of_an_idle_pool_sends_no_request() -> None:
    site = PublicInstances({"one": "A"})

    await maintained(site, site.pool(), 3)

    assert (site.probed, site.lists) == ([], 0)

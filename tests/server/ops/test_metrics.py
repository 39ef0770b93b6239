"""The text that Prometheus reads: its own parser must find our names, labels and values in it."""

import pytest

from kindly.models import FetchMethod, How, OutcomeKind, Step
from kindly.read.store import StoreStats
from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.provider_stats import ProviderStatus
from kindly.search.rate_limits import Quota
from kindly.server.ops.metrics import (
    call_metrics,
    counter,
    exposition,
    library_metrics,
    process_metrics,
    provider_metrics,
)
from kindly.server.ops.process_stats import Process
from kindly.telemetry.call_stats import CallStats, RunningCall
from tests.support.fakes import FakeClock
from tests.support.paths import ROOT
from tests.support.prometheus_text import parsed, value


@pytest.fixture
def stats() -> CallStats:
    clock = FakeClock()
    stats = CallStats(clock.clock)
    current = RunningCall("id", "web_search")
    with stats.call(current):
        clock.advance(0.3)
        stats.step(
            current, Step.FETCH, 0.2, OutcomeKind.OK, {"how": How(FetchMethod.HTTP), "bytes": 100}
        )
        stats.step(
            current, Step.FETCH, 0.0, OutcomeKind.OK, {"how": How(FetchMethod.CACHE), "bytes": 50}
        )
        stats.step(
            current,
            Step.RENDER,
            2.0,
            OutcomeKind.OK,
            {"how": How(FetchMethod.BROWSER), "bytes": 900},
        )
        current.outcome = OutcomeKind.OK
    return stats


def test_calls_have_a_cumulative_histogram(stats: CallStats) -> None:
    text = exposition(call_metrics(stats))
    name = "kindly_call_duration_seconds"
    assert value(text, "kindly_calls_total", tool="web_search", outcome="ok") == 1
    assert value(text, f"{name}_bucket", tool="web_search", le="0.25") == 0
    assert value(text, f"{name}_bucket", tool="web_search", le="0.5") == 1
    assert value(text, f"{name}_bucket", tool="web_search", le="+Inf") == 1
    assert value(text, f"{name}_count", tool="web_search") == 1
    assert value(text, f"{name}_sum", tool="web_search") == pytest.approx(0.3)


def test_downloads_renders_and_cache_hits_are_counted(stats: CallStats) -> None:
    text = exposition(call_metrics(stats))
    assert value(text, "kindly_downloads_total") == 2
    assert value(text, "kindly_download_bytes_total") == 1000
    assert value(text, "kindly_renders_total") == 1
    assert value(text, "kindly_cache_hits_total", cache="pages") == 1
    assert value(text, "kindly_cache_hits_total", cache="searches") == 0
    assert value(text, "kindly_pages_total", how="cache") == 1
    assert value(text, "kindly_steps_total", step="fetch", outcome="ok") == 2
    assert value(text, "kindly_calls_in_flight") == 0
    assert value(text, "kindly_busy_total") == 0


def test_providers_have_health_latency_and_quota() -> None:
    text = exposition(
        provider_metrics(
            [
                ProviderStatus("serper", 9, {"timeout": 2}, 120, 800, Quota(40, 100)),
                ProviderStatus("brave", health=BreakerHealth.OPEN, quota=Quota(3)),
                ProviderStatus("tavily", health=BreakerHealth.HALF_OPEN),
            ]
        )
    )
    assert [value(text, "kindly_provider_up", provider=name) for name in ("serper", "brave")] == [
        1,
        0,
    ]
    assert value(text, "kindly_provider_up", provider="tavily") == 1
    assert value(text, "kindly_provider_calls_total", provider="serper") == 9
    assert value(text, "kindly_provider_failures_total", provider="serper", outcome="timeout") == 2
    latency = "kindly_provider_latency_seconds"
    assert value(text, latency, provider="serper", quantile="0.95") == 0.8
    assert value(text, "kindly_provider_quota_left", provider="brave") == 3
    assert value(text, "kindly_provider_quota_used", provider="serper") == 60
    assert ("kindly_provider_quota_used", (("provider", "brave"),)) not in parsed(text)


@pytest.mark.parametrize(
    ("stats", "expected"),
    [
        (
            StoreStats("sqlite", "a place", 3, 14, 2048),
            {
                "kindly_library_up": 1,
                "kindly_library_pages": 3,
                "kindly_library_chunks": 14,
                "kindly_library_bytes": 2048,
            },
        ),
        (None, {"kindly_library_up": 0}),
    ],
    ids=["reached", "out of reach"],
)
def test_the_library_is_counted_without_its_location(
    stats: StoreStats | None, expected: dict[str, float]
) -> None:
    text = exposition(library_metrics(stats))
    assert {name: number for (name, _), number in parsed(text).items()} == expected
    assert "a place" not in text


def test_values_that_the_platform_does_not_report_are_left_out() -> None:
    text = exposition(process_metrics(Process(1.5, 1024, None, 100), "1.0", 1000.5))
    assert value(text, "kindly_info", version="1.0") == 1
    assert value(text, "process_start_time_seconds") == 1000.5
    assert value(text, "process_resident_memory_bytes") == 1024
    assert "process_open_fds" not in text


def test_odd_characters_in_labels_and_help_are_escaped() -> None:
    odd = 'a "quoted" \\ back\nslash'
    text = exposition([counter("odd_total", "One\nline \\ only.", {(odd,): 1}, labels=("tool",))])
    assert len(text.splitlines()) == 3
    assert value(text, "odd_total", tool=odd) == 1


def test_a_metric_without_samples_is_left_out() -> None:
    assert exposition([counter("none_total", "None.", {})]) == ""


def test_every_metric_is_documented(stats: CallStats) -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    metrics = [
        *call_metrics(stats),
        *provider_metrics([]),
        *library_metrics(StoreStats("sqlite", "", 0, 0, 0)),
        *process_metrics(Process(0.0), "1", 0.0),
    ]
    names = [f"{one.name}_total" if one.type == "counter" else one.name for one in metrics]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_no_creation_times_are_exposed(stats: CallStats) -> None:
    assert "_created" not in exposition(call_metrics(stats))

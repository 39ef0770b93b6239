"""Prometheus metrics: counts of calls, steps, pages, providers, library and process → the text exposition format.

Labels are tools, outcomes, steps, fetch methods and providers: few, and known beforehand. An address, a query or a key
is never a label. This module imports `prometheus-client`, so it is imported at the first request for metrics.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from kindly.models import FetchMethod, How
from kindly.read.store import StoreStats
from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.provider_stats import ProviderStatus
from kindly.server.ops.process_stats import Process
from kindly.telemetry.call_stats import BOUNDS_S, CallStats, Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (*(f"{bound:g}" for bound in BOUNDS_S), "+Inf")

Label = TypeVar("Label", bound=str)
Labels = TypeVar("Labels", bound=tuple[str, ...])


@dataclass(frozen=True, slots=True, eq=False)
class _Collector:
    """A collector of metrics that are already known."""

    metrics: Sequence[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.metrics


def exposition(metrics: Iterable[Metric]) -> str:
    """The text format 0.0.4; a metric without samples is left out."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector([metric for metric in metrics if metric.samples]))
    return generate_latest(registry).decode()


def counter(
    name: str, about: str, values: Mapping[Labels, float], labels: Sequence[str] = ()
) -> Metric:
    """A counter, by its labels; its name ends in `_total`."""
    family = CounterMetricFamily(name, about, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def gauge(
    name: str, about: str, values: Mapping[Labels, float], labels: Sequence[str] = ()
) -> Metric:
    """A gauge, by its labels."""
    family = GaugeMetricFamily(name, about, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def histogram(name: str, about: str, label: str, by_label: Mapping[Label, Histogram]) -> Metric:
    """A histogram of durations, by one label."""
    family = HistogramMetricFamily(name, about, labels=[label])
    for key, durations in by_label.items():
        buckets = list(zip(BUCKETS, accumulate(durations.counts), strict=True))
        family.add_metric([key], buckets, sum_value=durations.total_s)
    return family


def single(value: float | None) -> dict[tuple[str, ...], float]:
    """The value of a metric without labels; None gives no sample."""
    return {} if value is None else {(): value}


def call_metrics(stats: CallStats) -> Iterator[Metric]:
    """Calls and their steps."""
    yield counter(
        "kindly_calls_total", "Tool calls that ended.", stats.calls, labels=("tool", "outcome")
    )
    yield histogram("kindly_call_duration_seconds", "Duration of calls.", "tool", stats.durations)
    yield gauge("kindly_calls_in_flight", "Calls in progress.", single(stats.in_flight))
    yield counter(
        "kindly_busy_total", "Calls refused at the limit of concurrent calls.", single(stats.busy)
    )
    yield counter(
        "kindly_steps_total",
        "Steps of calls: search, provider, fetch, render, extract, read.",
        stats.steps,
        labels=("step", "outcome"),
    )
    yield histogram(
        "kindly_step_duration_seconds", "Duration of steps.", "step", stats.step_durations
    )
    yield from _page_metrics(stats)


def _page_metrics(stats: CallStats) -> Iterator[Metric]:
    downloaded = {how: n for how, n in stats.pages.items() if not how.is_cached}
    yield counter(
        "kindly_pages_total",
        "Pages that were fetched, by method.",
        {(str(how),): count for how, count in stats.pages.items()},
        labels=("how",),
    )
    yield counter(
        "kindly_downloads_total", "Pages that were downloaded.", single(sum(downloaded.values()))
    )
    yield counter(
        "kindly_download_bytes_total",
        "Bytes of downloaded pages, decompressed.",
        single(sum(stats.page_bytes[how] for how in downloaded)),
    )
    yield counter(
        "kindly_renders_total",
        "Pages that a browser rendered.",
        single(stats.pages[How(FetchMethod.BROWSER)]),
    )
    yield counter(
        "kindly_cache_hits_total",
        "Pages and searches that were answered from a cache.",
        {("pages",): stats.cached_pages, ("searches",): stats.cached_searches},
        labels=("cache",),
    )


def provider_metrics(statuses: Sequence[ProviderStatus]) -> Iterator[Metric]:
    """Health, latency and quota of providers."""
    by_provider = ("provider",)
    yield gauge(
        "kindly_provider_up",
        "1 if a provider is used; 0 while its circuit breaker is open.",
        {(one.name,): one.health is not BreakerHealth.OPEN for one in statuses},
        labels=by_provider,
    )
    yield counter(
        "kindly_provider_calls_total",
        "Calls to a provider, across restarts.",
        {(one.name,): one.calls for one in statuses},
        labels=by_provider,
    )
    yield counter(
        "kindly_provider_failures_total",
        "Failed calls to a provider, across restarts.",
        {
            (one.name, str(outcome)): count
            for one in statuses
            for outcome, count in one.failures.items()
        },
        labels=("provider", "outcome"),
    )
    yield gauge(
        "kindly_provider_latency_seconds",
        "Latency of a provider's recent answers.",
        {
            (one.name, quantile): took_ms / 1000
            for one in statuses
            for quantile, took_ms in (("0.5", one.p50_ms), ("0.95", one.p95_ms))
            if took_ms is not None
        },
        labels=("provider", "quantile"),
    )
    quotas = {(one.name,): one.quota for one in statuses if one.quota is not None}
    yield gauge(
        "kindly_provider_quota_left",
        "Calls that are left of a provider's quota.",
        {name: quota.left for name, quota in quotas.items()},
        labels=by_provider,
    )
    yield gauge(
        "kindly_provider_quota_used",
        "Calls of a provider's quota that are used, if the provider reports the limit.",
        {
            name: quota.limit - quota.left
            for name, quota in quotas.items()
            if quota.limit is not None
        },
        labels=by_provider,
    )


def library_metrics(stats: StoreStats | None) -> Iterator[Metric]:
    """Size of the library; None if it cannot be reached."""
    up = single(stats is not None)
    yield gauge("kindly_library_up", "1 if the library can be reached.", up)
    if stats is not None:
        yield gauge("kindly_library_pages", "Pages in the library.", single(stats.pages))
        yield gauge("kindly_library_chunks", "Chunks in the library.", single(stats.chunks))
        yield gauge("kindly_library_bytes", "Size of the library.", single(stats.size_bytes))


def process_metrics(process: Process, version: str, started_at: float) -> Iterator[Metric]:
    """The process, under the names that Prometheus clients use."""
    yield gauge("kindly_info", "The running version.", {(version,): 1}, labels=("version",))
    yield gauge("process_start_time_seconds", "Start time, Unix epoch.", single(started_at))
    yield counter("process_cpu_seconds_total", "CPU time.", single(process.cpu_s))
    memory = single(process.memory_bytes)
    yield gauge("process_resident_memory_bytes", "Resident memory.", memory)
    yield gauge("process_open_fds", "Open file descriptors.", single(process.open_files))
    yield gauge("process_max_fds", "Limit of open file descriptors.", single(process.max_files))

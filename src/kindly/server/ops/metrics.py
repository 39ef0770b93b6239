"""Counts → the text that Prometheus reads (exposition format 0.0.4). Pure.

Labels are tools, outcomes, kinds of step, ways of getting a page and providers: few, and known beforehand. No address,
no query and no key is ever one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from kindly.models import How
from kindly.read.store import StoreStats
from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.provider_stats import ProviderStatus
from kindly.server.ops.process_stats import Process
from kindly.telemetry.call_stats import BOUNDS_S, CallStats, Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Kind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One value."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""
    """What follows the family's name: `_bucket`, `_sum`, `_count`."""


@dataclass(frozen=True, slots=True)
class Family:
    """One metric."""

    name: str
    kind: Kind
    about: str
    samples: Sequence[Sample]


def exposition(families: Iterable[Family]) -> str:
    """The text; a family without a sample is left out."""
    lines: list[str] = []
    for family in families:
        if not family.samples:
            continue
        about = family.about.replace("\\", r"\\").replace("\n", r"\n")
        lines.append(f"# HELP {family.name} {about}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        lines += [
            f"{family.name}{sample.suffix}{_labels(sample.labels)} {_number(sample.value)}"
            for sample in family.samples
        ]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def one(name: str, kind: Kind, about: str, value: float | None) -> Family:
    """A metric of one value; None is none."""
    return Family(name, kind, about, () if value is None else (Sample(value, {}),))


def histogram(name: str, about: str, label: str, by: Mapping[str, Histogram]) -> Family:
    """How long things took, by one label."""
    samples: list[Sample] = []
    for key, times in by.items():
        sums = list(accumulate(times.counts))
        bounds = [*(_number(bound) for bound in BOUNDS_S), "+Inf"]
        samples += [
            Sample(count, {label: key, "le": bound}, "_bucket")
            for bound, count in zip(bounds, sums, strict=True)
        ]
        samples.append(Sample(times.total_s, {label: key}, "_sum"))
        samples.append(Sample(sums[-1], {label: key}, "_count"))
    return Family(name, "histogram", about, samples)


def of_calls(watch: CallStats) -> Iterator[Family]:
    """What was counted of calls and their steps."""
    yield Family(
        "kindly_calls_total",
        "counter",
        "Tool calls that ended.",
        [
            Sample(count, {"tool": tool, "outcome": outcome})
            for (tool, outcome), count in watch.calls.items()
        ],
    )
    yield histogram("kindly_call_duration_seconds", "How long calls took.", "tool", watch.durations)
    yield one("kindly_calls_in_flight", "gauge", "Calls under way.", watch.in_flight)
    yield one("kindly_busy_total", "counter", "Calls refused for want of room.", watch.busy)
    yield Family(
        "kindly_steps_total",
        "counter",
        "Steps of calls: search, provider, fetch, render, extract, read.",
        [
            Sample(count, {"step": step, "outcome": outcome})
            for (step, outcome), count in watch.steps.items()
        ],
    )
    yield histogram(
        "kindly_step_duration_seconds", "How long steps took.", "step", watch.step_durations
    )
    yield from _of_pages(watch)


def _of_pages(watch: CallStats) -> Iterator[Family]:
    downloaded = {how: n for how, n in watch.pages.items() if not How.parse(how).is_cached}
    yield Family(
        "kindly_pages_total",
        "counter",
        "Pages that were had, by how.",
        [Sample(count, {"how": how}) for how, count in watch.pages.items()],
    )
    yield one(
        "kindly_downloads_total", "counter", "Pages that were downloaded.", sum(downloaded.values())
    )
    yield one(
        "kindly_download_bytes_total",
        "counter",
        "Bytes of pages that were downloaded, unpacked.",
        sum(watch.page_bytes[how] for how in downloaded),
    )
    yield one(
        "kindly_renders_total", "counter", "Pages that a browser rendered.", watch.pages["browser"]
    )
    yield Family(
        "kindly_cache_hits_total",
        "counter",
        "Pages and searches that were at hand.",
        [
            Sample(watch.kept_pages, {"cache": "pages"}),
            Sample(watch.kept_searches, {"cache": "searches"}),
        ],
    )


def of_providers(statuses: Sequence[ProviderStatus]) -> Iterator[Family]:
    """Health, latency and quota of providers."""
    yield Family(
        "kindly_provider_up",
        "gauge",
        "Whether a provider is asked: 1, or 0 while it rests after failures.",
        [
            Sample(status.health is not BreakerHealth.OPEN, {"provider": status.name})
            for status in statuses
        ],
    )
    yield Family(
        "kindly_provider_calls_total",
        "counter",
        "Calls to a provider, over all starts.",
        [Sample(status.calls, {"provider": status.name}) for status in statuses],
    )
    yield Family(
        "kindly_provider_failures_total",
        "counter",
        "Calls to a provider that failed, over all starts.",
        [
            Sample(count, {"provider": status.name, "outcome": str(outcome)})
            for status in statuses
            for outcome, count in status.failures.items()
        ],
    )
    yield Family(
        "kindly_provider_latency_seconds",
        "gauge",
        "Latency of a provider's latest answers.",
        [
            Sample(took_ms / 1000, {"provider": status.name, "quantile": share})
            for status in statuses
            for share, took_ms in (("0.5", status.p50_ms), ("0.95", status.p95_ms))
            if took_ms is not None
        ],
    )
    yield Family(
        "kindly_provider_quota_left",
        "gauge",
        "Calls that a provider says are left.",
        [
            Sample(status.quota.left, {"provider": status.name})
            for status in statuses
            if status.quota is not None
        ],
    )
    yield Family(
        "kindly_provider_quota_used",
        "gauge",
        "Calls of its quota that are used, where a provider says how many there are.",
        [
            Sample(status.quota.limit - status.quota.left, {"provider": status.name})
            for status in statuses
            if status.quota is not None and status.quota.limit is not None
        ],
    )


def of_library(stats: StoreStats | None) -> Iterator[Family]:
    """What the library holds; None when it cannot be reached."""
    yield one(
        "kindly_library_up", "gauge", "Whether the library can be reached.", stats is not None
    )
    if stats is not None:
        yield one("kindly_library_pages", "gauge", "Pages in the library.", stats.pages)
        yield one("kindly_library_chunks", "gauge", "Chunks in the library.", stats.chunks)
        yield one("kindly_library_bytes", "gauge", "Size of the library.", stats.size_bytes)


def of_process(process: Process, version: str, started_at: float) -> Iterator[Family]:
    """The process, under the names that Prometheus' own clients use."""
    about = "The version that runs."
    yield Family("kindly_info", "gauge", about, (Sample(1, {"version": version}),))
    yield one("process_start_time_seconds", "gauge", "When it started.", started_at)
    yield one("process_cpu_seconds_total", "counter", "CPU time it took.", process.cpu_s)
    yield one("process_resident_memory_bytes", "gauge", "Memory it holds.", process.memory_bytes)
    yield one("process_open_fds", "gauge", "Files it has open.", process.open_files)
    yield one("process_max_fds", "gauge", "Files it may have open.", process.max_files)

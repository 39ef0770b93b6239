"""When spans are exported, and to which collector."""

import pytest

from kindly.app.tracing import collector, tracing
from kindly.settings import Settings
from kindly.telemetry.trace import DEFAULT_COLLECTOR

ENDPOINT = "http://collector.example:4318"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"KINDLY_OTEL": "1"}, DEFAULT_COLLECTOR),
        ({"KINDLY_OTEL": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": ENDPOINT}, ENDPOINT),
        ({"KINDLY_OTEL": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": ENDPOINT}, None),
    ],
    ids=["not set", "on", "on with an endpoint", "off"],
)
def test_the_collector_follows_the_settings(environ: dict[str, str], expected: str | None) -> None:
    assert collector(Settings.load(environ)) == expected


@pytest.mark.anyio
async def test_without_a_collector_there_is_no_tracer() -> None:
    async with tracing(Settings.load({})) as tracer:
        assert tracer is None

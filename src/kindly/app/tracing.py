"""Settings → the OpenTelemetry tracer of a running app."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from kindly.settings import Settings
from kindly.telemetry.trace import DEFAULT_COLLECTOR, Tracer, can_trace, open_tracer
from kindly.version import __version__

logger = logging.getLogger(__name__)


@asynccontextmanager
async def tracing(settings: Settings) -> AsyncIterator[Tracer | None]:
    """The tracer, or None if tracing is off. On exit, the remaining spans are exported."""
    endpoint = collector(settings)
    if endpoint is None:
        yield None
        return
    tracer = open_tracer(endpoint, __version__)
    try:
        yield tracer
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(tracer.close)


def collector(settings: Settings) -> str | None:
    """The collector's address; None if tracing is off, or if only the endpoint is set and the extra is missing."""
    if settings.otel:
        return settings.otel_endpoint or DEFAULT_COLLECTOR
    if settings.otel is False or settings.otel_endpoint is None:
        return None
    if not can_trace():
        logger.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra `otel` is not installed.")
        return None
    return settings.otel_endpoint

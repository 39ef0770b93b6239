"""Steps of a call: each has a name, a few facts, how it ended and how long it took. Whoever listens decides what
becomes of them: a count, a log line, a span that is sent to a collector.

Nobody listens until `listening` says so, and then a step is only passed through. Facts are counts, sizes, provider and
host names; never a query, a path, a key or page text.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kindly.errors import KindlyError, SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

Fact = str | int | float | bool

SERVICE = "kindly"
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
DEFAULT_COLLECTOR = "http://localhost:4318"
PATH = "/v1/traces"
"""Where a collector takes spans, below its endpoint."""
SEND_S = 5.0
"""How long one delivery to a collector may take."""


@dataclass(slots=True)
class Span:
    """One step, under way or ended."""

    name: str
    facts: dict[str, Fact] = field(default_factory=dict)
    outcome: str = "ok"
    took_s: float = 0.0

    def note(self, **facts: Fact) -> None:
        """Add what has become known."""
        self.facts.update(facts)


Listener = Callable[[Span], AbstractContextManager[None]]
"""Entered when a step begins, left when it has ended and says how."""

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(*listeners: Listener) -> Iterator[None]:
    """Have these told of every step in the block, and in the tasks that it starts."""
    token = _listeners.set(_listeners.get() + listeners)
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def span(name: str, **facts: Fact) -> Iterator[Span]:
    """A step: what the block does."""
    step = Span(name, facts)
    with ExitStack() as told:
        for listener in _listeners.get():
            told.enter_context(listener(step))
        began = time.perf_counter()
        try:
            yield step
        except BaseException as error:
            step.outcome = _outcome(error)
            raise
        finally:
            step.took_s = time.perf_counter() - began


def _outcome(error: BaseException) -> str:
    if isinstance(error, KindlyError):
        return error.kind.value
    if isinstance(error, TimeoutError):
        return "timeout"
    return "error" if isinstance(error, Exception) else "cancelled"


class Tracer:
    """A listener that makes OpenTelemetry spans of steps, each inside the one around it."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer(SERVICE)

    @contextmanager
    def __call__(self, step: Span) -> Iterator[None]:
        """One span."""
        from opentelemetry.trace import StatusCode

        with self._tracer.start_as_current_span(
            step.name, record_exception=False, set_status_on_exception=False
        ) as told:
            try:
                yield
            finally:
                told.set_attributes({f"kindly.{name}": fact for name, fact in step.facts.items()})
                told.set_attribute("kindly.outcome", step.outcome)
                if step.outcome != "ok":
                    told.set_status(StatusCode.ERROR, step.outcome)

    def close(self) -> None:
        """Send what is left; blocks for as long as that takes, a few seconds at most."""
        self._provider.shutdown()


def can_trace() -> bool:
    """Whether the packages that send spans are installed."""
    try:
        return all(find_spec(package) for package in PACKAGES)
    except ModuleNotFoundError:
        return False


def open_tracer(endpoint: str, version: str, exporter: "SpanExporter | None" = None) -> Tracer:
    """A tracer that sends to the collector at `endpoint`, or to `exporter`.

    Raises:
        SettingsError: the package that does it is not installed.
    """
    if not can_trace():
        raise SettingsError(
            "Traces are asked for, but need a package that is not installed: "
            "pip install 'kindly-web-search-mcp-server[otel]'."
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    sender = exporter or OTLPSpanExporter(endpoint=endpoint.rstrip("/") + PATH, timeout=SEND_S)
    provider = TracerProvider(resource=_resource(version), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(sender))
    return Tracer(provider)


def _resource(version: str) -> Any:
    """Who sends: what `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say, else our name."""
    from opentelemetry.sdk.resources import Resource

    told = Resource.create()
    unnamed = str(told.attributes["service.name"]).startswith("unknown_service")
    ours = {"service.version": version} | ({"service.name": SERVICE} if unnamed else {})
    return told.merge(Resource(ours))

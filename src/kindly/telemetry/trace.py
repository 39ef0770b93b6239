"""Trace spans: the steps of a call, with a name, attributes, an outcome and a duration.

Listeners turn them into counts, log lines or OpenTelemetry spans; without a listener a step costs next to nothing.
Attributes are counts, sizes, provider and host names; never a query, a path, a key or page text.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kindly.errors import KindlyError, SettingsError
from kindly.models import CallOutcome, Ending, How, OutcomeKind, Step
from kindly.version import SERVER_NAME

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

PlainFact = str | int | float | bool
Fact = PlainFact | How

SERVICE = "kindly"
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
DEFAULT_COLLECTOR = "http://localhost:4318"
PATH = "/v1/traces"
"""The path for spans below a collector's endpoint."""
EXPORT_TIMEOUT_S = 5.0


@dataclass(slots=True)
class Span:
    """One step, running or ended."""

    name: Step
    facts: dict[str, Fact] = field(default_factory=dict)
    outcome: CallOutcome = OutcomeKind.OK
    took_s: float = 0.0

    def note(self, **facts: Fact) -> None:
        """Add attributes."""
        self.facts.update(facts)

    def plain_facts(self) -> dict[str, PlainFact]:
        """The attributes for logs and collectors, which know no types of ours."""
        return {
            name: str(fact) if isinstance(fact, How) else fact for name, fact in self.facts.items()
        }


Listener = Callable[[Span], AbstractContextManager[None]]
"""Entered when a step starts, left when it has ended and its outcome is known."""

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def listening(*listeners: Listener) -> Iterator[None]:
    """Report every step in the block, and in the tasks that it starts, to these listeners."""
    token = _listeners.set(_listeners.get() + listeners)
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def span(name: Step, **facts: Fact) -> Iterator[Span]:
    """A step: the block."""
    step = Span(name, facts)
    with ExitStack() as stack:
        for listener in _listeners.get():
            stack.enter_context(listener(step))
        began = time.perf_counter()
        try:
            yield step
        except BaseException as error:
            step.outcome = _outcome(error)
            raise
        finally:
            step.took_s = time.perf_counter() - began


def _outcome(error: BaseException) -> CallOutcome:
    if isinstance(error, KindlyError):
        return error.kind
    if isinstance(error, TimeoutError):
        return OutcomeKind.TIMEOUT
    return Ending.ERROR if isinstance(error, Exception) else Ending.CANCELLED


class Tracer:
    """A listener that makes nested OpenTelemetry spans of steps."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer(SERVICE)

    @contextmanager
    def __call__(self, step: Span) -> Iterator[None]:
        from opentelemetry.trace import StatusCode

        with self._tracer.start_as_current_span(
            step.name.value, record_exception=False, set_status_on_exception=False
        ) as otel_span:
            try:
                yield
            finally:
                otel_span.set_attributes(
                    {f"kindly.{name}": fact for name, fact in step.plain_facts().items()}
                )
                otel_span.set_attribute("kindly.outcome", step.outcome.value)
                if step.outcome is not OutcomeKind.OK:
                    otel_span.set_status(StatusCode.ERROR, step.outcome.value)

    def close(self) -> None:
        """Send the remaining spans; blocks for a few seconds at most."""
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
        SettingsError: The packages for it are not installed.
    """
    if not can_trace():
        raise SettingsError(
            "Tracing is enabled but its packages are not installed: "
            f"pip install '{SERVER_NAME}[otel]'."
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    sender = exporter or OTLPSpanExporter(
        endpoint=endpoint.rstrip("/") + PATH, timeout=EXPORT_TIMEOUT_S
    )
    provider = TracerProvider(resource=_resource(version), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(sender))
    return Tracer(provider)


def _resource(version: str) -> Any:
    """The service as `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` name it, else under our name."""
    from opentelemetry.sdk.resources import Resource

    resource = Resource.create()
    unnamed = str(resource.attributes["service.name"]).startswith("unknown_service")
    ours = {"service.version": version} | ({"service.name": SERVICE} if unnamed else {})
    return resource.merge(Resource(ours))

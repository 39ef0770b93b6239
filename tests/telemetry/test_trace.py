"""Trace spans: what listeners see, outcomes, and what a collector receives."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from kindly.errors import PageTimeout, SettingsError
from kindly.models import Step
from kindly.telemetry import trace
from kindly.telemetry.trace import Span, can_trace, listening, open_tracer, span
from tests.support.site import Answer, running_site

pytestmark = pytest.mark.anyio


def into(ended: list[Span]) -> trace.Listener:
    @contextmanager
    def listen(step: Span) -> Iterator[None]:
        try:
            yield
        finally:
            ended.append(step)

    return listen


async def test_without_a_listener_a_step_has_no_effect() -> None:
    with span(Step.FETCH, host="example.com") as step:
        step.note(bytes=3)
    assert step.facts == {"host": "example.com", "bytes": 3}
    assert step.outcome == "ok"


async def test_a_listener_sees_the_steps_of_its_block_and_its_tasks_only() -> None:
    ended: list[Span] = []

    async def work(name: Step) -> None:
        with span(name):
            await anyio.lowlevel.checkpoint()

    with listening(into(ended)):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, Step.FETCH)
            tasks.start_soon(work, Step.EXTRACT)
    await work(Step.READ)
    assert sorted(step.name for step in ended) == ["extract", "fetch"]
    assert all(step.took_s > 0 for step in ended)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (PageTimeout("late", url="https://example.com/"), "timeout"),
        (TimeoutError(), "timeout"),
        (ValueError("odd"), "error"),
        (KeyboardInterrupt(), "cancelled"),
    ],
    ids=["our own", "a time-out", "unforeseen", "stopped"],
)
async def test_a_failed_step_names_its_outcome(error: BaseException, outcome: str) -> None:
    ended: list[Span] = []
    with pytest.raises(type(error)), listening(into(ended)), span(Step.FETCH):
        raise error
    assert [step.outcome for step in ended] == [outcome]


async def test_steps_become_nested_spans() -> None:
    exporter = InMemorySpanExporter()
    tracer = open_tracer("", "1.2.3", exporter)
    with listening(tracer), span(Step.CALL, tool="web_search"):
        with span(Step.FETCH, host="example.com") as step:
            step.note(bytes=3)
        with pytest.raises(PageTimeout), span(Step.EXTRACT):
            raise PageTimeout("late", url="https://example.com/secret")
    tracer.close()
    fetch, extract, call = exporter.get_finished_spans()
    assert (fetch.name, extract.name, call.name) == ("fetch", "extract", "call")
    assert call.context is not None
    assert fetch.parent is not None
    assert extract.parent is not None
    assert fetch.parent.span_id == extract.parent.span_id == call.context.span_id
    assert fetch.attributes == {
        "kindly.host": "example.com",
        "kindly.bytes": 3,
        "kindly.outcome": "ok",
    }
    assert extract.attributes == {"kindly.outcome": "timeout"}
    assert extract.status.status_code is StatusCode.ERROR
    assert extract.events == ()
    assert call.resource.attributes["service.name"] == "kindly"
    assert call.resource.attributes["service.version"] == "1.2.3"


async def test_a_configured_service_name_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "team-search")
    exporter = InMemorySpanExporter()
    tracer = open_tracer("", "1", exporter)
    with listening(tracer), span(Step.CALL):
        pass
    tracer.close()
    (told,) = exporter.get_finished_spans()
    assert told.resource.attributes["service.name"] == "team-search"


async def test_a_collector_gets_the_spans_over_http() -> None:
    with anyio.fail_after(120):
        async with running_site() as collector:
            collector.add("/v1/traces", Answer())
            tracer = open_tracer(collector.url("/"), "1")
            with listening(tracer), span(Step.CALL, tool="recall"):
                pass
            await anyio.to_thread.run_sync(tracer.close, abandon_on_cancel=True)
    (request,) = collector.requests
    assert (request.method, request.path) == ("POST", "/v1/traces")
    (resource,) = ExportTraceServiceRequest.FromString(request.body).resource_spans
    assert [told.name for scope in resource.scope_spans for told in scope.spans] == ["call"]


async def test_without_its_packages_a_tracer_is_refused_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert can_trace()
    monkeypatch.setattr(trace, "PACKAGES", ("opentelemetry.nowhere.deep",))
    assert not can_trace()
    with pytest.raises(SettingsError, match=r"\[otel\]"):
        open_tracer("http://127.0.0.1:1", "1")

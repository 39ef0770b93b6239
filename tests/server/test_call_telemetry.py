"""Telemetry around a call: what is counted, traced and logged, and that no query or page text is in it."""

import logging

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kindly.app import App
from kindly.errors import PageTimeout
from kindly.models import How, OutcomeKind, Step
from kindly.redact import Redactor
from kindly.server.call_telemetry import observed
from kindly.stages import Stages
from kindly.telemetry.trace import Tracer, open_tracer, span

pytestmark = pytest.mark.anyio


def an_app(tracer: Tracer | None = None) -> App:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # nothing is called here
    return App(stages, Redactor.of([]), 1000, 1000, 5, tracer=tracer)


def one_call(app: App) -> None:
    with observed(app, "web_search") as current:
        with span(Step.SEARCH) as step:
            step.note(provider="serper", cached=True)
        with span(Step.FETCH, host="example.com") as step:
            step.note(how=How(), bytes=100)
        with pytest.raises(PageTimeout), span(Step.FETCH, host="example.org"):
            raise PageTimeout("late", url="https://example.org/a/path")
        current.outcome, current.tokens = OutcomeKind.OK, 42


async def test_a_call_and_its_steps_are_counted() -> None:
    app = an_app()
    one_call(app)
    assert app.call_stats.calls == {("web_search", "ok"): 1}
    assert app.call_stats.steps == {
        ("search", "ok"): 1,
        ("fetch", "ok"): 1,
        ("fetch", "timeout"): 1,
    }
    assert app.call_stats.recent[0].tokens == 42


async def test_a_call_and_its_steps_are_logged_under_one_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="kindly.server.call_telemetry")
    one_call(an_app())
    lines = [
        (
            record.levelname,
            record.getMessage(),
            vars(record).get("host"),
            vars(record)["outcome"],
        )
        for record in caplog.records
    ]
    assert lines == [
        ("DEBUG", "search", None, "ok"),
        ("INFO", "fetch", "example.com", "ok"),
        ("INFO", "fetch", "example.org", "timeout"),
        ("INFO", "call", None, "ok"),
    ]
    assert len({vars(record)["call"] for record in caplog.records}) == 1
    assert vars(caplog.records[-1])["tool"] == "web_search"
    assert isinstance(vars(caplog.records[-1])["took_ms"], int)


async def test_a_call_and_its_steps_are_spans() -> None:
    exporter = InMemorySpanExporter()
    tracer = open_tracer("", "1", exporter)
    one_call(an_app(tracer))
    tracer.close()
    spans = exporter.get_finished_spans()
    assert [one.name for one in spans] == ["search", "fetch", "fetch", "call"]
    call = spans[-1]
    assert call.context is not None
    assert {one.parent.span_id for one in spans[:-1] if one.parent} == {call.context.span_id}
    assert call.attributes is not None
    assert call.attributes["kindly.tokens"] == 42
    assert "path" not in str([dict(one.attributes or {}) for one in spans])


async def test_a_call_that_is_stopped_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="kindly.server.call_telemetry")
    app = an_app()

    def stopped() -> None:
        with observed(app, "recall"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert app.call_stats.calls == {("recall", "cancelled"): 1}
    assert [vars(record)["outcome"] for record in caplog.records] == ["cancelled"]

"""A call as a collector and a log see it: steps, sizes and hosts, never the query."""

import logging
from pathlib import Path

import anyio
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from kindly.app import open_app
from kindly.errors import SettingsError
from kindly.settings import Settings
from tests.support.served_world import BOTH, calling, environment, serper
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

QUERY = "a query that is nobodys business"


def spans(site: Site) -> list[Span]:
    """What the collector received."""
    return [
        span
        for request in site.requests
        if request.path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


async def test_a_search_is_one_trace_from_the_call_to_the_reading(
    site: Site, tmp_path: Path
) -> None:
    site.add("/v1/traces", Answer())
    site.add("/serper/search", serper([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH, OTEL_EXPORTER_OTLP_ENDPOINT=site.url())
    with anyio.fail_after(120):
        async with calling(environ) as call:
            await call.search(QUERY)
    told = spans(site)
    names = {span.span_id: span.name for span in told}
    above = {span.name: names.get(span.parent_span_id) for span in told}
    assert above == {
        "call": None,
        "search": "call",
        "provider": "search",
        "fetch": "call",
        "extract": "call",
        "read": "call",
    }
    assert len({span.trace_id for span in told}) == 1
    shown = str(told)
    assert "127.0.0.1" in shown
    assert QUERY not in shown
    assert "/article" not in shown
    assert "canary" not in shown


@pytest.mark.parametrize(
    "more",
    [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "KINDLY_OTEL": "0"}],
    ids=["nothing set", "turned off"],
)
async def test_nothing_is_traced_unless_it_is_asked_for(
    tmp_path: Path, more: dict[str, str]
) -> None:
    async with open_app(Settings.load({"DATA_DIR": str(tmp_path), **more})) as app:
        assert app.tracer is None


async def test_traces_without_an_address_go_to_this_machine(tmp_path: Path) -> None:
    async with open_app(Settings.load({"DATA_DIR": str(tmp_path), "KINDLY_OTEL": "1"})) as app:
        assert app.tracer is not None


async def test_an_address_for_other_programs_does_not_stop_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("kindly.telemetry.trace.PACKAGES", ("opentelemetry.nowhere",))
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "DATA_DIR": str(tmp_path)}
    async with open_app(Settings.load(endpoint)) as app:
        assert app.tracer is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_asked_for_by_name_it_must_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kindly.telemetry.trace.PACKAGES", ("opentelemetry.nowhere",))
    settings = Settings.load({"DATA_DIR": str(tmp_path), "KINDLY_OTEL": "1"})

    async def opened() -> None:
        async with open_app(settings):
            raise AssertionError

    with pytest.RaisesGroup(SettingsError, flatten_subgroups=True, allow_unwrapped=True):
        await opened()


async def test_fetches_are_logged_by_host_and_cache_hits_only_for_who_debugs(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kindly")
    async with calling(environment(site, tmp_path)) as call:
        await call.page(site.url("/article"))
        await call.page(site.url("/article"))
    fetches = [record for record in caplog.records if record.getMessage() == "fetch"]
    assert [(record.levelname, vars(record)["how"]) for record in fetches] == [
        ("INFO", "http"),
        ("DEBUG", "cache"),
    ]
    assert {vars(record)["host"] for record in fetches} == {"127.0.0.1"}
    lines = [record for record in caplog.records if record.levelno >= logging.INFO]
    assert "/article" not in str([vars(record) for record in lines])
    assert "ultraviolet" not in str([vars(record) for record in caplog.records])

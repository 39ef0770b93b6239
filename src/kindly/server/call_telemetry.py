"""Telemetry around every call: counters, traces and log lines for it and its steps. Never a query or page text."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from kindly.app import App
from kindly.models import How, OutcomeKind, Step
from kindly.telemetry import trace
from kindly.telemetry.call_stats import CallStats, RunningCall
from kindly.telemetry.trace import Span

logger = logging.getLogger(__name__)


@contextmanager
def observed(app: App, tool: str) -> Iterator[RunningCall]:
    """Observe one call; the caller sets its outcome."""
    tracers = () if app.tracer is None else (app.tracer,)
    current = RunningCall(secrets.token_hex(4), tool)
    try:
        with (
            app.call_stats.call(current),
            trace.listening(*tracers),
            trace.span(Step.CALL, tool=tool, call=current.id) as step,
        ):
            with trace.listening(counted(app.call_stats, current), logged(current.id)):
                yield current
            step.outcome = current.outcome if current.failed else OutcomeKind.OK
            step.note(tokens=current.tokens)
    finally:
        facts = {"call": current.id, "tool": tool, "outcome": current.outcome}
        logger.info("call", extra=facts | {"took_ms": current.took_ms})


def counted(stats: CallStats, current: RunningCall) -> trace.Listener:
    """A listener that counts the steps of a call."""
    return partial(_counting, stats, current)


@contextmanager
def _counting(stats: CallStats, current: RunningCall, step: Span) -> Iterator[None]:
    try:
        yield
    finally:
        stats.step(current, step.name, step.took_s, step.outcome, step.facts)


def logged(call: str) -> trace.Listener:
    """A listener that logs each step; at level debug if the answer was cached."""
    return partial(_logging, call)


@contextmanager
def _logging(call: str, step: Span) -> Iterator[None]:
    try:
        yield
    finally:
        facts = {"call": call, "outcome": step.outcome, "took_ms": round(step.took_s * 1000)}
        level = logging.DEBUG if _is_cached(step) or step.name is Step.EXTRACT else logging.INFO
        logger.log(level, step.name, extra=facts | step.plain_facts())


def _is_cached(step: Span) -> bool:
    how = step.facts.get("how")
    return bool(step.facts.get("cached")) or (isinstance(how, How) and how.is_cached)

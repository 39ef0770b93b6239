"""One tool call: arguments → `Output`, within the call limit and the deadline; counted, traced, logged and redacted."""

import logging
from collections.abc import Mapping
from dataclasses import replace

import anyio

from kindly.app import App
from kindly.budget import Deadline, count_tokens
from kindly.errors import Busy, CallTimeout, KindlyError
from kindly.models import CallOutcome, Ending
from kindly.redact import Redactor
from kindly.server.call_telemetry import observed
from kindly.server.json_schema import Json
from kindly.server.render.failures import UNEXPECTED, sentence
from kindly.server.surrogates import without_surrogates
from kindly.server.tool import Call, Output, Tool
from kindly.stages import Progress
from kindly.text.durations import seconds

logger = logging.getLogger(__name__)

GRACE_S = 2.0
"""A call that ignores its deadline is cancelled this long after it."""


async def run_call(tool: Tool, arguments: Json | None, app: App, progress: Progress) -> Output:
    """The output of a call, without secrets. Errors are outputs too."""
    with observed(app, tool.name) as current:
        output = await _output(tool, arguments or {}, app, progress, current.id)
        output = _redacted(output, app.redactor)
        current.outcome = output.outcome
        current.failed = output.failed
        current.tokens = count_tokens(output.text)
    return output


async def _output(
    tool: Tool, arguments: Json, app: App, progress: Progress, call_id: str
) -> Output:
    """Run a tool. The only place that catches unexpected exceptions: they are logged and become a plain sentence."""
    try:
        parsed = tool.arguments.parse(arguments, app.redactor.text)
        deadline = Deadline.after(app.deadline_s)
        with anyio.fail_after(app.deadline_s + GRACE_S):
            async with app.call_limit.slot():
                return await tool.run(Call(app, deadline, progress, tool.page_tool), parsed)
    except KindlyError as error:
        return _failed(tool, error, _shown(arguments, app.redactor))
    except TimeoutError:
        detail = f"No answer within {seconds(app.deadline_s)}."
        return _failed(
            tool, CallTimeout(detail, limit_s=app.deadline_s), _shown(arguments, app.redactor)
        )
    except Exception:
        logger.exception("unexpected error", extra={"tool": tool.name, "call": call_id})
        return Output(UNEXPECTED, failed=True, outcome=Ending.ERROR)


def _failed(tool: Tool, error: KindlyError, arguments: Mapping[str, object]) -> Output:
    """An error in the shape that the tool's contract defines, else as a sentence."""
    outcome: CallOutcome = Ending.BUSY if isinstance(error, Busy) else error.kind
    if tool.failure is not None:
        return replace(tool.failure(error, arguments), outcome=outcome)
    return Output(sentence(error, tool.page_tool), failed=True, outcome=outcome)


def _shown(arguments: Json, redactor: Redactor) -> Json:
    """Arguments as an answer may repeat them."""
    shown: Json = without_surrogates(redactor.value(arguments))
    return shown


def _redacted(output: Output, redactor: Redactor) -> Output:
    data = {redactor.text(key): redactor.value(item) for key, item in output.structured.items()}
    pages = tuple(
        replace(page, title=redactor.text(page.title))
        for page in output.pages
        if redactor.text(page.url) == page.url
    )
    return replace(output, text=redactor.text(output.text), structured=data, pages=pages)

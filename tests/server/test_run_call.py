"""The boundary of a call: whatever a tool does, the result is an output without secrets, with its outcome."""

from collections.abc import Mapping
from functools import partial

import anyio
import pytest

from kindly.app import App
from kindly.concurrency.call_limit import CallLimit
from kindly.errors import KindlyError, PageNotFound
from kindly.models import CallOutcome, Ending, OutcomeKind
from kindly.redact import Redactor
from kindly.server.arguments import Arguments
from kindly.server.render.failures import UNEXPECTED
from kindly.server.run_call import run_call
from kindly.server.tool import Call, Output, Tool
from kindly.stages import Stages, ignore_progress

pytestmark = pytest.mark.anyio

CANARY = "canary-secret"


class Nothing(Arguments):
    """No arguments."""


def an_app(**changes: object) -> App:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # no tool here uses them
    fields: dict[str, object] = {"deadline_s": 5.0} | changes
    return App(stages, Redactor.of([CANARY]), 1000, 1000, **fields)  # type: ignore[arg-type]


async def succeed(call: Call, arguments: Nothing) -> Output:
    return Output(f"found {CANARY}", {"found": [CANARY]})


async def fail(call: Call, arguments: Nothing, error: Exception) -> Output:
    raise error


async def hang(call: Call, arguments: Nothing) -> Output:
    await anyio.sleep_forever()
    raise AssertionError


def shaped(error: KindlyError, arguments: Mapping[str, object]) -> Output:
    return Output(f"shaped: {error.detail}", {"sent": dict(arguments)}, failed=True)


def a_tool(run: object, **changes: object) -> Tool:
    return Tool("tool", "Title", "Text.", Nothing, {"type": "object"}, run, **changes)  # type: ignore[arg-type]


async def test_an_output_is_redacted_in_text_and_data() -> None:
    output = await run_call(a_tool(succeed), None, an_app(), ignore_progress)
    assert output == Output("found ***", {"found": ["***"]})


NOT_FOUND = PageNotFound("There is no such page.", url="https://example.com/")


@pytest.mark.parametrize(
    ("error", "outcome", "words"),
    [
        (NOT_FOUND, OutcomeKind.NOT_FOUND, "There is no such page."),
        (RuntimeError(f"boom {CANARY}"), Ending.ERROR, UNEXPECTED),
    ],
    ids=["expected", "unexpected"],
)
async def test_an_error_is_an_output_with_its_outcome(
    error: Exception, outcome: CallOutcome, words: str
) -> None:
    app = an_app()
    output = await run_call(a_tool(partial(fail, error=error)), {}, app, ignore_progress)
    assert (output.failed, output.outcome, output.structured) == (True, outcome, {})
    assert words in output.text
    assert "boom" not in output.text
    assert app.call_stats.calls == {("tool", outcome): 1}


async def test_a_contract_shapes_its_errors() -> None:
    tool = a_tool(partial(fail, error=NOT_FOUND), failure=shaped)
    output = await run_call(tool, {}, an_app(), ignore_progress)
    assert output == Output(
        "shaped: There is no such page.", {"sent": {}}, failed=True, outcome=OutcomeKind.NOT_FOUND
    )


async def test_a_wrong_argument_does_not_reach_the_tool() -> None:
    output = await run_call(a_tool(hang), {"odd": 1}, an_app(), ignore_progress)
    assert output.outcome is OutcomeKind.REFUSED
    assert "'odd'" in output.text


async def test_a_call_that_hangs_is_a_neutral_timeout() -> None:
    with anyio.fail_after(120):
        output = await run_call(a_tool(hang), {}, an_app(deadline_s=-1.9), ignore_progress)
    assert output.outcome is OutcomeKind.TIMEOUT
    assert output.text == "No answer within 1 second. Ask for fewer results, or try again."


async def test_a_call_above_the_limit_is_busy() -> None:
    app = an_app(call_limit=CallLimit(1, 0))
    started, release = anyio.Event(), anyio.Event()

    async def hold(call: Call, arguments: Nothing) -> Output:
        started.set()
        await release.wait()
        return Output("done")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_call, a_tool(hold), {}, app, ignore_progress)
        await started.wait()
        output = await run_call(a_tool(succeed), {}, app, ignore_progress)
        release.set()
    assert (output.failed, output.outcome) == (True, Ending.BUSY)
    assert app.call_stats.busy == 1

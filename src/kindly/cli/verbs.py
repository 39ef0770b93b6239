"""`search`, `fetch`, `read`, `recall`: colour and progress on a terminal, else Markdown or JSON."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import click

from kindly import pipeline
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.clock import SYSTEM_CLOCK
from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.models import Query, RecallScope
from kindly.redact import Redactor
from kindly.server.arguments import since_date
from kindly.server.json_schema import Json
from kindly.server.render.fence import NO_FENCE
from kindly.server.render.findings import library_findings, page_findings
from kindly.server.render.output import Result, to_data, to_text
from kindly.server.render.page import page_result, screenshot_result
from kindly.server.render.results import FindingsResult
from kindly.server.render.search_results import search_result
from kindly.settings import Settings
from kindly.stages import Progress, ignore_progress

NO_ANSWER = 3
"""Exit code of `read` and `recall` if no passage seems to answer."""

Shown = TypeVar("Shown")
Verb = Callable[[App, Deadline, Progress], Awaitable[Shown]]


def show_search(settings: Settings, query: str, options: dict[str, Any]) -> int:
    """Search and print; the exit code."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")
    wanted = Query(text=query, count=options.pop("num_results"), **options)

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Result:
        hits, sources = await pipeline.search(app.stages, wanted, deadline, progress)
        return search_result(hits, sources, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def show_page(settings: Settings, url: str, options: dict[str, Any]) -> int:
    """Fetch a page and print it; the exit code."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")
    cursor, refresh = options.pop("cursor"), options.pop("refresh")
    wanted = ExtractOptions(**options)

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Result:
        await progress(0, 1, url)
        began = anyio.current_time()
        document, start = await pipeline.fetch_or_resume(
            app.stages, url, wanted, deadline, cursor=cursor, force_refresh=refresh
        )
        if sys.stderr.isatty():
            took_s = anyio.current_time() - began
            click.echo(
                f"{document.how} · {took_s:.2f} s · {len(document.text):,} characters", err=True
            )
        return page_result(url, document, start, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def save_screenshot(settings: Settings, url: str, file: Path, *, as_json: bool) -> int:
    """Write a picture of a page to a file and print what it shows; the exit code."""

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Result:
        await progress(0, 1, url)
        taken = await pipeline.screenshot(app.stages, url, deadline)
        await anyio.Path(file).write_bytes(taken.png)
        return screenshot_result(url, taken)

    return _show(settings, verb, as_json=as_json)


def show_reading(settings: Settings, url: str, question: str, options: dict[str, Any]) -> int:
    """Print the passages of a page that answer, or the closest; the exit code."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Result:
        await progress(0, 1, url)
        found = await pipeline.read(
            app.stages,
            url,
            [question],
            deadline,
            limit=options["max_results"],
            force_refresh=options["refresh"],
        )
        return page_findings(url, found, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def show_recall(settings: Settings, question: str, options: dict[str, Any]) -> int:
    """Print the passages of the library that answer, or the closest; the exit code."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")
    since = since_date(options["since"], SYSTEM_CLOCK.now())
    scope = RecallScope(options["collection"], options["site"], since)

    async def verb(app: App, _: Deadline, __: Progress) -> Result:
        found = await pipeline.recall(
            app.stages, [question], limit=options["max_results"], scope=scope
        )
        return library_findings(found, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def _show(settings: Settings, verb: Verb[Result], *, as_json: bool) -> int:
    result = run_verb(settings, verb)
    if sys.stdout.isatty() and not as_json:
        _print(result, Redactor.of(settings.secrets()))
    else:
        echo(settings, to_data(result) if as_json else to_text(result))
    if isinstance(result, FindingsResult):
        return 0 if any(finding.answered for finding in result.findings) else NO_ANSWER
    return 0


def echo(settings: Settings, answer: str | Json) -> None:
    """Print an answer without secrets: text as it is, data as JSON."""
    redactor = Redactor.of(settings.secrets())
    if isinstance(answer, str):
        click.echo(redactor.text(answer))
    else:
        click.echo(json.dumps(redactor.value(answer), ensure_ascii=False, indent=2))


def _print(result: Result, redactor: Redactor) -> None:
    """Print in colour, for a terminal."""
    from rich.console import Console

    if isinstance(result, FindingsResult):
        from kindly.cli.terminal import print_findings

        print_findings(Console(), result, redactor.text)
        return
    from rich.markdown import Markdown

    Console().print(Markdown(redactor.text(to_text(result))))


def run_verb(settings: Settings, verb: "Verb[Shown]") -> Shown:
    """What a verb returns.

    Raises:
        KindlyError: what the verb raised.
    """
    result = anyio.run(_run, settings, verb)
    if isinstance(result, KindlyError):
        raise result
    return result


async def _run(settings: Settings, verb: "Verb[Shown]") -> Shown | KindlyError:
    """The output or the error. An error that left the app's task groups would be wrapped in an exception group."""
    async with open_app(settings, leaves_pages=True) as app:
        with _progress() as progress:
            try:
                return await verb(app, Deadline.after(app.deadline_s), progress)
            except KindlyError as error:
                return error
    raise AssertionError("unreachable")


@contextmanager
def _progress() -> Iterator[Progress]:
    """Progress on a terminal; none in a pipe."""
    if not sys.stderr.isatty():
        yield ignore_progress
        return
    from rich.console import Console

    with Console(stderr=True).status("…") as status:

        async def progress(done: float, total: float, message: str) -> None:
            status.update(message)

        yield progress

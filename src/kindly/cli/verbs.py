"""`search`, `fetch`, `read`, `recall` for a person: colour and progress on a terminal, else Markdown or JSON."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import click

from kindly import pipeline
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.models import Query
from kindly.redact import Redactor
from kindly.server.render.findings import page_findings_output, recall_output
from kindly.server.render.page import NO_FENCE, document_output, search_output
from kindly.server.tool import Output
from kindly.settings import Settings
from kindly.stages import Progress, ignore_progress

NO_ANSWER = 3
"""Exit code of `read` and `recall` when nothing answers."""

Verb = Callable[[App, Deadline, Progress], Awaitable[Output]]


def show_search(settings: Settings, query: str, options: dict[str, Any]) -> int:
    """Search, print, and say whether it went well."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")
    wanted = Query(text=query, count=options.pop("num_results"), **options)

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Output:
        hits, sources = await pipeline.search(app.stages, wanted, deadline, progress)
        return search_output(hits, sources, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def show_page(settings: Settings, url: str, options: dict[str, Any]) -> int:
    """Fetch, print, and say whether it went well."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")
    cursor, refresh = options.pop("cursor"), options.pop("refresh")
    wanted = ExtractOptions(**options)

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Output:
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
        return document_output(url, document, start, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def show_reading(settings: Settings, url: str, question: str, options: dict[str, Any]) -> int:
    """Ask a page, print, and say whether it answers."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Output:
        await progress(0, 1, url)
        found = await pipeline.read(
            app.stages,
            url,
            [question],
            deadline,
            limit=options["max_results"],
            force_refresh=options["refresh"],
        )
        return page_findings_output(url, found, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json, findings=True)


def show_recall(settings: Settings, question: str, options: dict[str, Any]) -> int:
    """Ask all pages read before, print, and say whether any answers."""
    as_json, max_tokens = options.pop("as_json"), options.pop("max_tokens")

    async def verb(app: App, _: Deadline, __: Progress) -> Output:
        found = await pipeline.recall(app.stages, [question], limit=options["max_results"])
        return recall_output(found, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json, findings=True)


def _show(settings: Settings, verb: Verb, *, as_json: bool, findings: bool = False) -> int:
    redactor = Redactor.of(settings.secrets())
    output = anyio.run(_run, settings, verb)
    if isinstance(output, KindlyError):
        raise output
    if as_json:
        structured = redactor.value(output.structured)
        click.echo(json.dumps(structured, ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        _print(output, redactor, findings=findings)
    else:
        click.echo(redactor.text(output.text))
    if findings:
        return 0 if any(one["answered"] for one in output.structured["findings"]) else NO_ANSWER
    return 0


def _print(output: Output, redactor: Redactor, *, findings: bool) -> None:
    """In colour, for a terminal."""
    from rich.console import Console

    if findings:
        from kindly.cli.terminal import print_findings

        structured = redactor.value(output.structured)
        assert isinstance(structured, dict)  # noqa: S101 - as it went in
        print_findings(Console(), structured)
        return
    from rich.markdown import Markdown

    Console().print(Markdown(redactor.text(output.text)))


async def _run(settings: Settings, verb: Verb) -> Output | KindlyError:
    """The verb's output or error; an error must not leave the app's task groups, which would wrap it."""
    async with open_app(settings) as app:
        with _watched() as progress:
            try:
                return await verb(app, Deadline.after(app.deadline_s), progress)
            except KindlyError as error:
                return error
    raise AssertionError("unreachable")


@contextmanager
def _watched() -> Iterator[Progress]:
    """Progress for a person who watches; silence in a pipe."""
    if not sys.stderr.isatty():
        yield ignore_progress
        return
    from rich.console import Console

    with Console(stderr=True).status("…") as status:

        async def progress(done: float, total: float, message: str) -> None:
            status.update(message)

        yield progress

"""`search` and `fetch` for a person: colour and progress on a terminal, plain Markdown in a pipe, JSON on request."""

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
from kindly.extract.options import ExtractOptions
from kindly.models import Query
from kindly.pipeline import Progress
from kindly.redact import Redactor
from kindly.server.render import NO_FENCE, document_output, search_output
from kindly.server.tool import Output
from kindly.settings import Settings

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
        document, start = await pipeline.open_page(
            app.stages, url, wanted, deadline, cursor=cursor, force_refresh=refresh
        )
        if sys.stderr.isatty():
            took_s = anyio.current_time() - began
            click.echo(
                f"{document.how} · {took_s:.2f} s · {len(document.text):,} characters", err=True
            )
        return document_output(url, document, start, NO_FENCE, app.tokens_for(max_tokens))

    return _show(settings, verb, as_json=as_json)


def _show(settings: Settings, verb: Verb, *, as_json: bool) -> int:
    redactor = Redactor.of(settings.secrets())
    output = anyio.run(_run, settings, verb)
    if isinstance(output, KindlyError):
        raise output
    if as_json:
        structured = redactor.value(output.structured)
        click.echo(json.dumps(structured, ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(redactor.text(output.text)))
    else:
        click.echo(redactor.text(output.text))
    return 0


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
        yield pipeline.silent
        return
    from rich.console import Console

    with Console(stderr=True).status("…") as status:

        async def progress(done: float, total: float, message: str) -> None:
            status.update(message)

        yield progress

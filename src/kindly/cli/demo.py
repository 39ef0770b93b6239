"""`demo`: a first answer on any machine, replayed from a recording that comes with the package."""

from importlib.resources import as_file, files

import anyio
import click

import kindly
from kindly.budget import count_tokens
from kindly.models import PageFindings, SearchResults
from kindly.settings import Settings

QUERY = "how bees tell each other where food is"
QUESTION = "How does a bee say how far away food is?"


def show(settings: Settings) -> int:
    """Search, read the first page found, and print the passage that answers."""
    with as_file(files("kindly.cli").joinpath("demo.jsonl")) as path:
        found, answer = anyio.run(_research, Settings.replaying(path, settings.child_environ))
    click.echo(f'$ kindly search "{QUERY}"\n')
    for number, hit in enumerate(found.hits.hits, start=1):
        click.echo(f"{number}. {hit.title} · {hit.url}\n   {hit.snippet}")
    best = answer.findings[0].citations[0].passage
    click.echo(f'\n$ kindly read {answer.page.url} "{QUESTION}"\n\n{best.text}\n')
    whole = sum(count_tokens(source.document.text) for source in found.sources if source.document)
    click.echo(
        f"{whole} tokens on these pages, {count_tokens(best.text)} in the answer. "
        "Replayed from a recording: no key, no network."
    )
    return 0


async def _research(settings: Settings) -> tuple[SearchResults, PageFindings]:
    async with kindly.open(settings) as web:
        found = await web.search(QUERY)
        answer = await web.read(found.hits.hits[0].url, QUESTION)
    return found, answer

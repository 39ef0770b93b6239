"""Passages on a terminal: each in a frame, with the words of the question highlighted."""

import re
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from kindly.server.render.results import FindingsResult, PassageResult
from kindly.text.terms import terms

WORD = re.compile(r"\w+")


def print_findings(console: Console, result: FindingsResult, redact: Callable[[str], str]) -> None:
    """Print the result of `read` or `recall`."""
    if page := result.page:
        console.print(Text(redact(page.title), style="bold"))
        console.print(Text(redact(f"{page.url} · {page.how}"), style="dim"))
    for finding in result.findings:
        console.print()
        console.print(Text(redact(finding.question), style="bold cyan"))
        note = Text(redact(finding.note), style="yellow")
        if note and not finding.answered:
            console.print(note)
        for passage in finding.passages:
            console.print(_framed(passage, finding.question, redact))
        if note and finding.answered:
            console.print(note)


def _framed(passage: PassageResult, question: str, redact: Callable[[str], str]) -> RenderableType:
    text = redact(passage.text)
    body = Text(text)
    question_terms = set(terms(question))
    for match in WORD.finditer(text):
        if question_terms.intersection(terms(match.group())):
            body.stylize("bold magenta", *match.span())
    title = [passage.page.title] if passage.page and passage.page.title else []
    where = redact(" > ".join([*title, *passage.section]))
    return Panel(
        Group(body, Text(redact(passage.link), style="dim", overflow="fold")),
        title=Text(where) if where else None,
        title_align="left",
        subtitle=Text(f"{passage.score:.2f}"),
        subtitle_align="right",
    )

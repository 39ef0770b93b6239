"""Findings on a terminal: each passage in a frame, with the question's words marked."""

import re
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from kindly.text.terms import terms

WORD = re.compile(r"\w+")


def print_findings(console: Console, structured: dict[str, Any]) -> None:
    """Show what `read` and `recall` found."""
    if title := structured.get("title"):
        console.print(Text(title, style="bold"))
        console.print(Text(f"{structured['url']} · {structured['how']}", style="dim"))
    for finding in structured["findings"]:
        console.print()
        console.print(Text(finding["question"], style="bold cyan"))
        for passage in finding["passages"]:
            console.print(_framed(passage, finding["question"]))
        if "note" in finding:
            console.print(Text(finding["note"], style="yellow"))


def _framed(passage: dict[str, Any], question: str) -> RenderableType:
    body = Text(passage["text"])
    wanted = set(terms(question))
    for match in WORD.finditer(passage["text"]):
        if wanted.intersection(terms(match.group())):
            body.stylize("bold magenta", *match.span())
    where = " > ".join([*filter(None, [passage.get("title", "")]), *passage["section"]])
    return Panel(
        Group(body, Text(passage["link"], style="dim", overflow="fold")),
        title=Text(where) if where else None,
        title_align="left",
        subtitle=Text(f"{passage['score']:.2f}"),
        subtitle_align="right",
    )

"""Records `kindly demo` on a pseudo-terminal as the animation `docs/demo.svg`: `python -m tools.record_terminal`.

The command appears letter by letter, then the lines at the time at which they were printed. With
`prefers-reduced-motion` everything is visible at once.
"""

import os
import pty
import re
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

COMMAND = ("kindly", "demo")
TARGET = Path(__file__).parents[1] / "docs" / "demo.svg"
COLUMNS = 96
SIZE, LEADING, MARGIN = 14, 20, 18
WIDTH = int(COLUMNS * SIZE * 0.602) + 2 * MARGIN
TYPING_S = 0.06
PAUSE_S = 0.4
BETWEEN_S = 0.08
"""Minimum time between two lines, so that a reader can follow."""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line on the screen and the time at which it appears."""

    text: str
    at_s: float


def run() -> list[tuple[str, float]]:
    """The lines that the command writes, each with the seconds since its start."""
    ours, theirs = pty.openpty()
    script = Path(sys.executable).with_name(COMMAND[0])
    began = time.monotonic()
    process = subprocess.Popen(
        [str(script), *COMMAND[1:]], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    lines: list[tuple[str, float]] = []
    with (
        os.fdopen(ours, encoding="utf-8", newline="\n") as screen,
        suppress(OSError),  # a pseudo-terminal reports the end of the process as an error
    ):
        for line in screen:
            lines += [(CONTROL.sub("", line).rstrip(), time.monotonic() - began)]
    if process.wait():
        raise SystemExit(f"{' '.join(COMMAND)} failed")
    return lines


def wrapped(text: str) -> list[str]:
    """A line wrapped between words."""
    return textwrap.wrap(text, COLUMNS, replace_whitespace=False, drop_whitespace=True) or [""]


def staged(lines: list[tuple[str, float]]) -> list[Line]:
    """The wrapped lines with the times at which they appear."""
    start = TYPING_S * len(" ".join(COMMAND)) + PAUSE_S
    now = 0.0
    found = []
    for text, at_s in lines:
        for piece in wrapped(text):
            now = max(at_s, now + BETWEEN_S)
            found.append(Line(piece, start + now))
    return found


def draw(lines: list[Line]) -> str:
    """The SVG."""
    height = (len(lines) + 2) * LEADING + 2 * MARGIN
    typed = "".join(
        f'<tspan class="t" style="animation-delay:{number * TYPING_S:.2f}s">{escape(letter)}</tspan>'
        for number, letter in enumerate(" ".join(COMMAND))
    )
    rows = [f'<text x="{MARGIN}" y="{MARGIN + LEADING}"><tspan class="p">$ </tspan>{typed}</text>']
    for number, line in enumerate(lines, start=2):
        kind = "t p" if line.text.startswith("$ ") else "t h" if line.text.startswith("#") else "t"
        rows.append(
            f'<text class="{kind}" style="animation-delay:{line.at_s:.2f}s" x="{MARGIN}" '
            f'y="{MARGIN + number * LEADING}">{escape(line.text)}</text>'
        )
    body = "\n".join(rows)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img"
  aria-label="A terminal: {" ".join(COMMAND)} and what it prints">
<style>
  text {{ font: {SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d7dde4; white-space: pre }}
  .p {{ fill: #7fd1c7 }} .h {{ fill: #f0c674 }}
  .t {{ opacity: 0; animation: on 0s linear forwards }}
  @keyframes on {{ to {{ opacity: 1 }} }}
  @media (prefers-reduced-motion: reduce) {{ .t {{ opacity: 1; animation: none }} }}
</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
{body}
</svg>
"""


if __name__ == "__main__":
    TARGET.write_text(draw(staged(run())), encoding="utf-8")

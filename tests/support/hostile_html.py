"""A worker program that misbehaves as its pages command; run as `python -m tests.support.hostile_html`."""

import os
import signal
import sys
import time
from pathlib import Path

from kindly.errors import PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_process import MAX_GROWTH_BYTES, main
from kindly.models import Document, OutcomeKind, Page

LEAKED: list[bytearray] = []
"""Memory that is never released."""


def write_process(report: str) -> None:
    """Write the number of this process to a file, if one is given; it exists only when it is complete."""
    if report:
        new = Path(f"{report}.new")
        new.write_text(str(os.getpid()), encoding="ascii")
        new.replace(report)


def hang(go: str) -> None:
    """Wait until this file exists; without a name, for ten minutes."""
    until = time.monotonic() + 600
    while time.monotonic() < until and not (go and Path(go).exists()):
        time.sleep(0.01)


def obey(page: Page, options: ExtractOptions) -> Document:
    text, _, report = page.body.decode().partition(" ")
    match text:
        case "hang":
            where, _, go = report.partition(" ")
            write_process(where)
            hang(go)
        case "killed" | "crash":
            os.kill(os.getpid(), signal.SIGKILL if text == "killed" else signal.SIGSEGV)
        case "bug":
            raise ZeroDivisionError
        case "bomb":
            text = str(len(bytearray(10**12)))
        case "keep":
            LEAKED.append(bytearray(os.urandom(1)) * (MAX_GROWTH_BYTES + 5_000_000))
            text = "kept"
        case "wall":
            raise PageWalled("walled", url=page.url, wall=OutcomeKind.AUTH)
        case "print":
            os.write(1, b"noise on standard output")
        case "environment":
            text = "\n".join(sorted(os.environ))
        case "process":
            text = str(os.getpid())
    return Document(url=page.url, text=text, fetched_at=page.fetched_at, format=options.format)


if __name__ == "__main__":
    main(int(sys.argv[1]), obey)

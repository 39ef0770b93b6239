"""A worker program that misbehaves as its pages command; run as `python -m tests.support.hostile_html`."""

import os
import signal
import sys
import time

from kindly.errors import PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_process import MAX_GROWTH_BYTES, main
from kindly.models import Document, OutcomeKind, Page

LEAKED: list[bytearray] = []
"""Memory that is never released."""


def obey(page: Page, options: ExtractOptions) -> Document:
    text = page.body.decode()
    match text:
        case "hang":
            time.sleep(600)
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

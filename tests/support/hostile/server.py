"""The hostile server, in a process of its own: every case at its path, and one plain page.

    python -m tests.support.hostile.server

Prints its port on the first line and serves until its standard input closes. `/plain` is an ordinary page,
`/vendor/<provider>` a search API that answers as the query names it.
"""

import sys

import anyio

from tests.support.hostile import answers, content, raw_wire
from tests.support.hostile.case import Case
from tests.support.site import ARTICLE, html, running_site

CASES: tuple[Case, ...] = (*raw_wire.CASES, *content.CASES)


async def serve() -> None:
    """Serve until standard input closes."""
    async with running_site() as site:
        site.add("/plain", html(ARTICLE))
        for case in CASES:
            site.add(case.path, case.route)
        for path, route in answers.routes():
            site.add(path, route)
        sys.stdout.write(f"{site.port}\n")
        sys.stdout.flush()
        await anyio.to_thread.run_sync(sys.stdin.read)


if __name__ == "__main__":
    anyio.run(serve)

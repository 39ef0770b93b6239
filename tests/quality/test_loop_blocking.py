"""The event loop stays free: no single step of the server takes long with fifty pages at once.

What is measured is the CPU time of the loop's thread in each step, which other programs on the machine do not change.
"""

import asyncio
import gc
import time
from asyncio.events import Handle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from bench.realistic_pages import realistic_page

import kindly.app
from kindly import pipeline
from kindly.budget import Deadline
from kindly.extract import ExtractOptions
from kindly.settings import Settings
from tests.support.served_world import environment
from tests.support.site import html, running_site

pytestmark = pytest.mark.slow

PAGES = 50
MAX_STEP_S = 0.05


@contextmanager
def timed_steps() -> Iterator[list[tuple[float, str]]]:
    """The CPU time of each step of the event loop in this thread, and what it was."""
    steps: list[tuple[float, str]] = []
    run = Handle._run

    def timed(handle: Handle) -> None:
        began = time.thread_time()
        try:
            run(handle)
        finally:
            steps.append((time.thread_time() - began, repr(handle)))

    Handle._run = timed  # type: ignore[method-assign,assignment]
    gc.disable()  # a collection takes as long as the tests before this one left objects
    try:
        yield steps
    finally:
        gc.enable()
        Handle._run = run  # type: ignore[method-assign]


async def fetch_all(folder: Path) -> list[tuple[float, str]]:
    """The steps of a warm server that fetches fifty pages at once."""
    async with running_site() as site:
        urls = [site.add(f"/page{n}", html(realistic_page(n))) for n in range(PAGES)]
        warm = [site.add(f"/warm{n}", html(realistic_page(n))) for n in range(2)]
        settings = Settings.load(environment(site, folder, KINDLY_BROWSER="off"))
        async with kindly.app.open_app(settings, many_pages=True) as app:

            async def fetch(url: str) -> None:
                await pipeline.fetch(app.stages, url, ExtractOptions(), Deadline.after(300))

            for url in warm:
                await fetch(url)
            with timed_steps() as steps:
                async with anyio.create_task_group() as tasks:
                    for url in urls:
                        tasks.start_soon(fetch, url)
            return steps


def test_no_step_of_the_event_loop_takes_long_with_fifty_pages_at_once(tmp_path: Path) -> None:
    steps = asyncio.run(fetch_all(tmp_path))
    assert len(steps) > PAGES
    slow = [step for step in steps if step[0] >= MAX_STEP_S]
    assert slow == []

"""The server process stays small: it neither splits nor embeds the pages that it answers, and holds few of them."""

import json
import os
import sys
import tracemalloc
from pathlib import Path

import anyio
import pytest

from kindly.read.answering import INDEXED_BYTES, index_bytes
from kindly.read.chunk import split
from kindly.read.indexing.index_queue import QueueLimits
from kindly.read.ranking.rank import Index
from kindly.read.ranking.static_model import load
from kindly.stages import RECENT_BYTES
from tests.support.served_world import BOTH, environment, serper
from tests.support.site import html, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PAGES = 20
SEARCHED = 3
PROGRAM = """
import json, sys
import anyio
import kindly.app
from kindly import pipeline, urls
from kindly.budget import Deadline
from kindly.extract import ExtractOptions
from kindly.models import Query
from kindly.settings import Settings
from kindly.stages import ignore_progress

async def main(environ, addresses):
    async with kindly.app.open_app(Settings.load(environ)) as app:
        async with anyio.create_task_group() as tasks:
            for address in addresses:
                options, deadline = ExtractOptions(), Deadline.after(120)
                tasks.start_soon(pipeline.fetch, app.stages, address, options, deadline)
        found = await pipeline.search(app.stages, Query("bees"), Deadline.after(120), ignore_progress)
        await app.settle_library()
        stats = await (await app.library_store()).stats()
        print(json.dumps({
            "imported": sorted({"numpy", "tokenizers", "kindly.read.chunk"} & set(sys.modules)),
            "ranked": sum(bool(source.passages) for source in found.sources),
            "pages": stats.pages,
            "complete": stats.model is not None,
            "recent": app.stages.recent.weight,
        }))

anyio.run(main, *json.loads(sys.argv[1]))
"""


async def test_pages_are_answered_ranked_and_stored_without_a_model_in_the_server(
    tmp_path: Path,
) -> None:
    body = "".join(f"<p>Sentence {n} tells how bees find their way home.</p>" for n in range(300))
    async with running_site() as site:
        addresses = [
            site.add(f"/page{n}", html(f"<h1>Bees {n}</h1>{body}")) for n in range(PAGES + SEARCHED)
        ]
        site.add("/serper/search", serper(addresses[PAGES:]))
        key = {"SERPER_API_KEY": BOTH["SERPER_API_KEY"], "KINDLY_BROWSER": "off"}
        settings = environment(site, tmp_path, **key)
        asked = json.dumps([settings, addresses[:PAGES]])
        with anyio.fail_after(300):
            ended = await anyio.run_process(
                [sys.executable, "-c", PROGRAM, asked], env=dict(os.environ), stderr=None
            )
    told = json.loads(ended.stdout)
    assert told.pop("recent") <= RECENT_BYTES
    assert told == {
        "imported": [],
        "ranked": SEARCHED,
        "pages": PAGES + SEARCHED,
        "complete": True,
    }


def test_what_waits_to_be_stored_takes_little_memory() -> None:
    limits = QueueLimits()
    assert limits.max_bytes <= 12_000_000
    assert limits.batch_bytes <= limits.early_bytes <= limits.max_bytes
    assert RECENT_BYTES <= 6_000_000
    assert INDEXED_BYTES <= 20_000_000


def test_a_ranking_index_takes_no_more_memory_than_is_counted_for_it() -> None:
    words = ["hive", "honey", "queen", "meadow", "flower", "winter", "forager", "keeper", "swarm"]
    text = " ".join(
        f"The {words[n % 9]} of part {n} meets a {words[n * 7 % 8]}, says keeper {n % 31}."
        for n in range(400)
    )
    chunks = split(text, "https://site.example/bees")
    vectors = load().embed([chunk.text for chunk in chunks])
    Index(chunks, vectors)
    tracemalloc.start()
    try:
        held = Index(chunks, vectors)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(held.chunks) == len(chunks)
    assert taken < 1.5 * index_bytes(chunks)

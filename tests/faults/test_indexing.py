"""Indexing that is killed goes on: the collection ends complete, no page twice, none lost.

`python -m bench.index_kills` kills at many random moments.
"""

import signal
import subprocess
import sys
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from anyio.abc import SocketStream

from kindly.read.crawls.collection import CollectionState, TaskState
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store
from tests.support.docs_site import DocsSite
from tests.support.postgres import postgres as postgres
from tests.support.postgres import schema
from tests.support.processes import PATIENCE_S, SCRIPT, child_environment, until
from tests.support.site import Answer, SiteRequest, running_site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX"),
]

FREE = 2
"""Pages that are answered at once; the others wait until the gate opens."""
MORE_THAN_ONE_HOLDS = 18
"""Pages: one process has 16 in hand, so the last ones are left to another."""


@dataclass
class GatedSite(DocsSite):
    """A site that stops answering in the middle of a crawl, so that a process is killed with pages in hand."""

    gate: anyio.Event = field(default_factory=anyio.Event)

    async def _page(self, request: SiteRequest, stream: SocketStream) -> Answer:
        if int(request.path.rpartition("/p")[2]) >= FREE:
            await self.gate.wait()
        return await super()._page(request, stream)

    def held(self) -> int:
        """Requests for pages behind the gate."""
        return sum(self.site.count(f"/docs/p{number}") for number in range(FREE, self.pages))


def start(docs: DocsSite, folder: Path, store: str) -> "subprocess.Popen[bytes]":
    command = [str(SCRIPT), "index", docs.start, "--name", "docs"]
    environ = {
        "DATA_DIR": str(folder),
        "KINDLY_ALLOW_PRIVATE": docs.site.host,
        "KINDLY_STORE": store,
    }
    return subprocess.Popen(
        command,
        env=child_environment(environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


async def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    _, errors = await anyio.to_thread.run_sync(lambda: process.communicate(timeout=PATIENCE_S * 2))
    return process.returncode, errors


async def kill(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    await ended(process)


async def assert_complete(name: str, settings: StoreSettings, docs: DocsSite) -> None:
    async with aclosing(open_store(name, settings)) as store:
        status = await store.crawls.collection("docs")
        assert status is not None
        assert status.collection.state is CollectionState.READY
        assert status.tasks == {TaskState.DONE: docs.pages + 1}
        entries = await store.entries(limit=1_000, collection="docs")
        assert Counter(one.url for one in entries) == Counter([docs.start, *docs.addresses])


@pytest.mark.parametrize("name", ["sqlite", "duckdb"])
async def test_a_killed_index_ends_complete(name: str, tmp_path: Path) -> None:
    async with running_site() as site:
        docs = GatedSite(site, 6)
        killed = start(docs, tmp_path, name)
        await until(lambda: docs.held() >= 2)
        await kill(killed)
        docs.gate.set()
        code, errors = await ended(start(docs, tmp_path, name))
        assert code == 0, errors
        await assert_complete(name, StoreSettings(tmp_path), docs)


async def test_of_two_workers_on_postgres_one_is_killed(tmp_path: Path, postgres: str) -> None:
    url = schema(postgres)
    async with running_site() as site:
        docs = GatedSite(site, MORE_THAN_ONE_HOLDS)
        killed = start(docs, tmp_path / "killed", url)
        await until(lambda: docs.held() >= 2)
        other = start(docs, tmp_path / "other", url)
        await until(lambda: site.count(f"/docs/p{docs.pages - 1}") > 0)
        await kill(killed)
        docs.gate.set()
        code, errors = await ended(other)
        assert code == 0, errors
        await assert_complete("postgres", StoreSettings(None, url), docs)

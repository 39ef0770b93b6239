"""Indexing that is killed at any moment goes on: the collection ends complete, no page twice, none lost."""

import random
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from kindly.read.crawls.collection import CollectionState, TaskState
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store
from tests.support.docs_site import DocsSite
from tests.support.postgres import postgres as postgres
from tests.support.postgres import schema
from tests.support.processes import PATIENCE_S, SCRIPT, child_environment, until
from tests.support.site import running_site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX"),
]

KILLS = {"sqlite": 5, "duckdb": 3, "postgres": 3}
PAGES = 60


def start(environ: dict[str, str], docs: DocsSite) -> "subprocess.Popen[bytes]":
    command = [str(SCRIPT), "index", docs.start, "--name", "docs"]
    env = child_environment(environ)
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


async def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    _, errors = await anyio.to_thread.run_sync(lambda: process.communicate(timeout=PATIENCE_S * 2))
    return process.returncode, errors


async def killed_at(process: "subprocess.Popen[bytes]", docs: DocsSite, requests: int) -> None:
    """Kill a process after so many more requests, or let it end."""
    goal = len(docs.site.requests) + requests
    await until(lambda: len(docs.site.requests) >= goal or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    await ended(process)


async def assert_complete(name: str, settings: StoreSettings, docs: DocsSite) -> None:
    async with aclosing(open_store(name, settings)) as store:
        status = await store.crawls.collection("docs")
        assert status is not None
        assert status.collection.state is CollectionState.READY
        assert status.tasks == {TaskState.DONE: PAGES + 1}
        entries = await store.entries(limit=1_000, collection="docs")
        assert sorted(one.url for one in entries) == sorted([docs.start, *docs.addresses])


@pytest.mark.parametrize(("name", "kills"), KILLS.items())
async def test_a_killed_index_ends_complete(
    name: str, kills: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = schema(request.getfixturevalue("postgres")) if name == "postgres" else ""
    chance = random.Random(name)  # noqa: S311 - moments
    async with running_site() as site:
        docs = DocsSite(site, PAGES)
        environ = {
            "DATA_DIR": str(tmp_path),
            "KINDLY_ALLOW_PRIVATE": site.host,
            "KINDLY_STORE": url or name,
        }
        for _ in range(kills):
            await killed_at(start(environ, docs), docs, chance.randint(1, PAGES // kills + 8))
        code, errors = await ended(start(environ, docs))
        assert code == 0, errors
        await assert_complete(name, StoreSettings(tmp_path, url), docs)


async def test_of_two_workers_on_postgres_one_is_killed(tmp_path: Path, postgres: str) -> None:
    url = schema(postgres)
    async with running_site() as site:
        docs = DocsSite(site, PAGES)
        common = {"KINDLY_ALLOW_PRIVATE": site.host, "KINDLY_STORE": url}
        one = start({**common, "DATA_DIR": str(tmp_path / "one")}, docs)
        await until(lambda: site.count("/docs/p0") > 0)
        other = start({**common, "DATA_DIR": str(tmp_path / "other")}, docs)
        await killed_at(one, docs, 15)
        code, errors = await ended(other)
        assert code == 0, errors
        await assert_complete("postgres", StoreSettings(None, url), docs)

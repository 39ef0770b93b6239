"""Writes that wait for each other share a transaction; a refused one fails alone."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator

import anyio
import pytest

from kindly.errors import ModelMismatch
from kindly.read.stores.sqlite.batch import BATCH, WriteBatches

pytestmark = pytest.mark.anyio

Work = Callable[[sqlite3.Connection], None]


class Base:
    """A database whose work waits until it is released; it counts the calls."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.database.execute("CREATE TABLE kept (name TEXT UNIQUE)")
        self.runs = 0
        self.gate = anyio.Event()
        self.batches = WriteBatches(self.run)

    async def run(self, work: Work) -> None:
        self.runs += 1
        await self.gate.wait()
        work(self.database)

    def write(self, name: str) -> Callable[[sqlite3.Connection], Work]:
        def put(database: sqlite3.Connection) -> None:
            database.execute("INSERT INTO kept VALUES (?)", (name,))
            if name.startswith("bad"):
                raise ModelMismatch(name)

        return lambda _: put

    def kept(self) -> list[str]:
        return [name for (name,) in self.database.execute("SELECT name FROM kept ORDER BY rowid")]


@pytest.fixture
def base() -> Iterator[Base]:
    made = Base()
    with contextlib.closing(made.database):
        yield made


async def test_a_write_alone_is_there_when_its_caller_goes_on(base: Base) -> None:
    base.gate.set()
    with anyio.fail_after(120):
        await base.batches.write(base.write("tea"))
    assert base.kept() == ["tea"]


async def test_writes_that_wait_share_a_transaction_in_their_order(base: Base) -> None:
    names = [str(number) for number in range(BATCH + 3)]
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(base.batches.write, base.write(name))
            await anyio.wait_all_tasks_blocked()
            base.gate.set()
    assert base.kept() == names
    assert base.runs == 2


async def test_of_several_writes_only_the_refused_one_fails(base: Base) -> None:
    refused = []

    async def write(name: str) -> None:
        try:
            await base.batches.write(base.write(name))
        except ModelMismatch as error:
            refused.append(error.detail)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for name in ("tea", "bad wine", "ale"):
                tasks.start_soon(write, name)
            await anyio.wait_all_tasks_blocked()
            base.gate.set()
    assert refused == ["bad wine"]
    assert sorted(base.kept()) == ["ale", "tea"]
    assert not base.database.in_transaction


async def test_a_write_that_is_cancelled_while_it_waits_writes_nothing(base: Base) -> None:
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(base.batches.write, base.write("tea"))
            await anyio.wait_all_tasks_blocked()
            async with anyio.create_task_group() as impatient:
                impatient.start_soon(base.batches.write, base.write("wine"))
                await anyio.wait_all_tasks_blocked()
                impatient.cancel_scope.cancel()
            base.gate.set()
    assert base.kept() == ["tea"]

"""A task group for background work that ends with its block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def background_tasks() -> AsyncIterator[TaskGroup]:
    """A task group whose tasks are cancelled when the block ends.

    An exception of the block is raised as it is, where anyio would raise an exception group with it.
    """
    try:
        async with anyio.create_task_group() as tasks:
            try:
                yield tasks
            finally:
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        only = group.exceptions[0]
        raise only from only.__cause__

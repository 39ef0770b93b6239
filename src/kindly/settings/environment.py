"""The environment of the process: the only module that reads or writes it."""

import os
from collections.abc import MutableMapping

from kindly.concurrency.blas import THREAD_VARIABLES


def read_environment() -> dict[str, str]:
    """A copy of the environment."""
    return dict(os.environ)


def limit_numeric_threads(environ: MutableMapping[str, str] = os.environ) -> None:
    """Write the environment variables that limit BLAS and tokenizers to one thread, unless the user has set them.

    Calls run concurrently, so threads inside one call only compete. Call this before numpy is imported.
    """
    for name in THREAD_VARIABLES:
        environ.setdefault(name, "1")

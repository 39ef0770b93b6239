"""Starts the sites of benchmarks, each in its own process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(module: str, *arguments: str) -> Iterator[tuple[int, int]]:
    """Run a module that prints its port and serves until its standard input closes; yields the port and the process."""
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield int(process.stdout.readline()), process.pid
        process.stdin.close()

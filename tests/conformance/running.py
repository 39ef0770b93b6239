"""A server over HTTP in a process of its own, for as long as it is wanted."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager


@contextmanager
def serving(command: Sequence[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Start a server that writes its address as the first line of its log; gives that address."""
    process = subprocess.Popen(
        command, env=dict(environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stderr is not None
        match = re.search(r"http://\S+", json.loads(process.stderr.readline())["event"])
        assert match is not None
        yield match[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def plain_environ() -> dict[str, str]:
    """What a program needs, and what coverage needs, and nothing that is a setting."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "HOME", "SYSTEMROOT", "TMPDIR"} or name.startswith("COV")
    }

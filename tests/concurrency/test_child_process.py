"""A child process answers messages, and gets nothing of the server's environment."""

import os
import sys
from pathlib import Path

import pytest

from kindly.concurrency.child_process import (
    BROKEN_PIPE,
    ONE_THREAD,
    ChildProcess,
    child_environment,
)

pytestmark = pytest.mark.anyio

ECHO = """
import sys
from kindly.concurrency.pipe_frames import encode_frame, read_frame
while (message := read_frame(sys.stdin.buffer)) is not None:
    if message[0] == b"end":
        sys.exit()
    sys.stdout.buffer.writelines(encode_frame((message[1], message[0]), outgrown=message[0] == b"large"))
    sys.stdout.flush()
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "echo_of_messages.py").write_text(ECHO, encoding="utf-8")
    kept = child_environment(os.environ)
    return kept | {"PYTHONPATH": os.pathsep.join((str(tmp_path), kept["PYTHONPATH"]))}


async def test_each_message_gets_its_answer(environ: dict[str, str]) -> None:
    child = await ChildProcess.start("echo_of_messages", environ=environ)
    assert await child.ask((b"head", b"body")) == (b"body", b"head")
    assert not child.outgrown
    assert await child.ask((b"large", b"")) == (b"", b"large")
    assert child.outgrown
    assert child.asked == 2
    await child.aclose()
    assert not child.alive


async def test_a_process_that_ends_breaks_the_pipe(environ: dict[str, str]) -> None:
    child = await ChildProcess.start("echo_of_messages", environ=environ)
    with pytest.raises(BROKEN_PIPE):
        await child.ask((b"end", b""))
    assert await child.ended_by() == ""
    await child.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
async def test_a_killed_process_tells_the_signal(environ: dict[str, str]) -> None:
    child = await ChildProcess.start("echo_of_messages", environ=environ)
    child.kill()
    assert await child.ended_by() == "SIGKILL"
    await child.aclose()


def test_the_environment_has_only_what_python_needs() -> None:
    kept = child_environment({"LANG": "C", "TAVILY_API_KEY": "made-up", "KINDLY_PROFILE": "media"})
    assert set(kept) == {"LANG", "PYTHONPATH", "TOKENIZERS_PARALLELISM", *ONE_THREAD}

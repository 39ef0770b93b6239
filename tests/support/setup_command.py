"""`kindly setup` in a home folder of the test's own."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner, Result

from kindly.cli.commands import cli

ELSEWHERE = (
    "XDG_CONFIG_HOME",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "VSCODE_PORTABLE",
    "FLATPAK_XDG_CONFIG_HOME",
    "CONTINUE_GLOBAL_DIR",
)


def setup(home: Path, *arguments: str, answer: str = "", **environ: str) -> Result:
    """`kindly setup …` with `home` as the home folder."""
    nothing = dict.fromkeys(ELSEWHERE)
    env = {**nothing, "HOME": str(home), "USERPROFILE": str(home), **environ}
    with logging_kept():
        return CliRunner().invoke(cli, ["setup", *arguments], input=answer, env=env)


@contextmanager
def logging_kept() -> Iterator[None]:
    """Undo the logging that a command sets up for its process."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)

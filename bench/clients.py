"""Whether the clients that are on npm list Kindly as connected, after `kindly setup` has written their files.

    python -m bench.clients [--only codex,opencode]

Each program is installed into `.bench/clients`, and started with a temporary home folder: `… mcp list`. Codex lists
what is configured without a connection, so there only the entry is checked. Exits 1 if a client does not see it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".bench/clients"
SCRIPTS = Path(sys.executable).parent
LIST_S = 240


@dataclass(frozen=True, slots=True)
class Program:
    """A client as npm has it."""

    name: str
    """As `kindly setup` calls it."""
    package: str
    script: str
    connected: str
    """What its list says of a server that answers."""
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def path(self) -> Path:
        return self.folder / "node_modules/.bin" / self.script


PROGRAMS = (
    Program("claude-code", "@anthropic-ai/claude-code", "claude", "Connected"),
    Program("codex", "@openai/codex", "codex", "enabled"),
    Program("gemini-cli", "@google/gemini-cli", "gemini", "Connected"),
    Program("opencode", "opencode-ai", "opencode", "connected"),
)


def install(program: Program) -> str:
    """Install it if it is not there; why that failed, or nothing."""
    if program.path.exists():
        return ""
    if shutil.which("npm") is None:
        return "npm is not installed"
    program.folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--prefix", str(program.folder), "--no-audit", "--no-fund"]
    done = subprocess.run(
        [*command, "--loglevel=error", f"{program.package}@latest"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else f"npm cannot install it ({done.returncode})"


def listed(program: Program, home: Path) -> str:
    """What the client lists after `kindly setup`."""
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1", "LANG": "C.UTF-8"}
    environ |= {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    start = f"{sys.executable} -m kindly"
    set_up = [str(SCRIPTS / "kindly"), "setup", program.name, "--yes", "--command", start]
    subprocess.run(set_up, env=environ, check=True, capture_output=True)
    done = subprocess.run(
        [str(program.path), "mcp", "list"],
        env=environ,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIST_S,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout + done.stderr


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each client says of Kindly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="names of clients")
    wanted = set(filter(None, parser.parse_args(arguments).only.split(",")))
    missed = 0
    for program in PROGRAMS:
        if wanted and program.name not in wanted:
            continue
        if wrong := install(program):
            print(f"{program.name}: skipped, because {wrong}")
            continue
        with tempfile.TemporaryDirectory() as home:
            text = listed(program, Path(home))
        lines = [line.strip() for line in text.splitlines() if "kindly" in line.lower()]
        is_there = any(program.connected in line for line in lines)
        missed += not is_there
        print(f"{program.name}: {'ok' if is_there else 'not connected'}: {' / '.join(lines[:2])}")
        if not is_there:
            print(text)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())

"""Finds Node and installs the packages of `package.json`.

    python -m tests.support.node_tools

puts them into a folder of the virtual environment, or the one that CONFORMANCE_TOOLS names, with npm. Nothing is run
from a package while it is installed. Where there is no npm, or no registry, it says so and leaves with success: the
tests that need Node then skip, saying so.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import TESTS

PACKAGES = json.loads((TESTS / "conformance" / "package.json").read_text(encoding="utf-8"))[
    "dependencies"
]
LEAST = (22, 19)
NODE_VERSION = "24"
OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")
PATIENCE_S = 300
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win"}


def folder() -> Path:
    """Where the packages are, or would be."""
    named = os.environ.get("CONFORMANCE_TOOLS")
    return Path(named) if named else Path(sys.prefix) / "conformance"


@dataclass(frozen=True)
class Node:
    """A Node that is new enough, and packages for it."""

    program: Path
    packages: Path

    def command(self, script: str, *arguments: str) -> list[str]:
        """The command that runs a script of a package."""
        return [str(self.program), str(self.packages / script), *arguments]


def find() -> Node | str:
    """Node and its packages, or why there are none."""
    packages = folder() / "node_modules"
    for name, version in PACKAGES.items():
        installed = packages / name / "package.json"
        if not installed.is_file():
            return f"{name} is not installed; `make conformance` installs it"
        found = json.loads(installed.read_text(encoding="utf-8"))["version"]
        if found != version:
            return f"{name} is {found}, not {version}; `make conformance` installs it"
    own = sorted(packages.glob("node-*-*/bin/node"))
    program = own[0] if own else system_node()
    return Node(program, packages) if program else "there is no Node 22 or newer"


def system_node() -> Path | None:
    """The Node of this machine, if it is new enough."""
    program = shutil.which("node")
    if program is None:
        return None
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    numbers = told.stdout.strip().removeprefix("v").split(".")[:2]
    new = all(part.isdigit() for part in numbers) and tuple(map(int, numbers)) >= LEAST
    return Path(program) if new else None


def install() -> str:
    """Install what is missing; return what was done, or why not."""
    if isinstance(find(), Node):
        return "Node and the packages are in place."
    npm = shutil.which("npm")
    if npm is None:
        return "npm is absent: the conformance tests will be skipped."
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    if system_node() is None:
        system = SYSTEMS.get(platform.system().lower(), "linux")
        machine = ARCHITECTURES.get(platform.machine().lower(), "x64")
        wanted.append(f"node-{system}-{machine}@{NODE_VERSION}")
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    try:
        subprocess.run(
            [npm, "install", *OPTIONS, *wanted], cwd=place, check=True, timeout=PATIENCE_S
        )
    except (subprocess.SubprocessError, OSError):
        return "npm could not install them: the conformance tests will be skipped."
    return "Installed."


if __name__ == "__main__":
    sys.stderr.write(f"{install()}\n")

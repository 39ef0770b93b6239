"""A provider, a loader, a store, an embedder and a profile each are one file and one entry in a catalogue.

The test adds one of each to a copy of the source tree and runs the contract tests on them.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

STORE = '''"""A store in memory."""

from kindly.read.specs import StoreSpec
from kindly.read.store import Store, StoreSettings


def _open(_: StoreSettings) -> Store:
    from dataclasses import replace

    from kindly.read.store import StoreStats
    from kindly.read.stores.memory.store import MemoryStore

    class DummyStore(MemoryStore):
        """The store in memory under another name."""

        async def stats(self) -> StoreStats:
            return replace(await super().stats(), kind="dummy")

    return DummyStore()


SPEC = StoreSpec(name="dummy", open=_open)
'''
EMBEDDER = '''"""An embedder that counts letters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kindly.needs import Need
from kindly.read.specs import EmbedderSpec


@dataclass(frozen=True)
class Letters:
    """Counts letters."""

    name: str = "letters"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A vector for each text."""
        rows = [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


SPEC = EmbedderSpec(
    name="dummy",
    label="the letters",
    open=lambda _: Letters(),
    model=lambda _: Letters.name,
    fix="Count again.",
    setting=Need("DUMMY_LETTERS", "flag", "Whether to count letters."),
)
'''
PROFILE = '''"""Profile `dummy`: one tool that echoes."""

from kindly.server.arguments import Arguments
from kindly.server.json_schema import TEXT, record
from kindly.server.tool import Call, Output, Profile, Tool
from kindly.settings.profile_defaults import ProfileDefaults


class Echo(Arguments):
    """The arguments of `echo`."""

    text: str


async def echo(call: Call, arguments: Echo) -> Output:
    """The text as it came."""
    return Output(arguments.text, {"text": arguments.text})


PROFILE = Profile(
    name="dummy",
    summary="One tool that echoes",
    instructions="echo returns its text.",
    tools=(Tool("echo", "Echo", "Returns its text.", Echo, record({"text": TEXT}), echo),),
    defaults=ProfileDefaults(settings={"CONCURRENCY": 3}),
)
'''
CONTRACTS = (
    "tests/contracts/test_providers.py",
    "tests/contracts/test_loaders.py",
    "tests/contracts/test_embedders.py",
    "tests/read/stores/test_contract.py",
    "tests/server/profiles/test_catalogue.py",
)
SETTINGS = """
from kindly.settings import Settings

environ = {"KINDLY_PROFILE": "dummy", "KINDLY_STORE": "dummy", "DUMMY_API_KEY": "x", "DUMMY_LETTERS": "1"}
loaded = Settings.load(environ)
print(loaded.profile, [spec.name for spec in loaded.configured()], loaded.embedder_spec.name, loaded.concurrency)
"""


def add(file: Path, text: str, entry: tuple[str, str]) -> None:
    """Write a plugin, and make its entry in the catalogue of its folder."""
    file.write_text(text, encoding="utf-8")
    catalogue = file.with_name("__init__.py")
    pattern, replacement = entry
    edited, count = re.subn(pattern, replacement, catalogue.read_text(encoding="utf-8"))
    assert count == 1, pattern
    catalogue.write_text(edited, encoding="utf-8")


def renamed(text: str, name: str) -> str:
    """The source of a plugin under the name `dummy`."""
    for old, new in ((name, "dummy"), (name.upper(), "DUMMY"), (name.title(), "Dummy")):
        text = text.replace(old, new)
    return text


def add_provider(copy: Path) -> None:
    folder = copy / "src/kindly/search/providers"
    text = renamed((folder / "tavily.py").read_text(encoding="utf-8"), "tavily")
    imported = "from kindly.search.providers import dummy\n\n"
    add(folder / "dummy.py", text, (r"\)\n\Z", "    dummy.SPEC,\n)\n"))
    catalogue = folder / "__init__.py"
    before, found, after = catalogue.read_text(encoding="utf-8").partition("PROVIDERS: ")
    catalogue.write_text(before + imported + found + after, encoding="utf-8")
    data = copy / "tests/data/providers"
    shutil.copytree(data / "tavily", data / "dummy")


def add_loader(copy: Path) -> None:
    folder = copy / "src/kindly/fetch/loaders"
    text = (folder / "hackernews.py").read_text(encoding="utf-8")
    text = renamed(text, "hackernews").replace("HN_API_URL", "DUMMY_URL")
    text = text.replace("news.ycombinator.com", "dummy.example")
    entry = (r"\(\n    STACKEXCHANGE", "(\n    DUMMY,\n    STACKEXCHANGE")
    add(folder / "dummy.py", text, entry)
    catalogue = folder / "__init__.py"
    before, found, after = catalogue.read_text(encoding="utf-8").partition("LOADERS: ")
    imported = "from kindly.fetch.loaders.dummy import DUMMY\n\n"
    catalogue.write_text(before + imported + found + after, encoding="utf-8")
    data = copy / "tests/data/loaders"
    shutil.copytree(data / "hackernews", data / "dummy")
    urls = (data / "dummy/urls.txt").read_text(encoding="utf-8")
    (data / "dummy/urls.txt").write_text(urls.replace("news.ycombinator.com", "dummy.example"))


def add_reading(copy: Path) -> None:
    folder = copy / "src/kindly/read"
    add(folder / "stores/dummy.py", STORE, (r"(?<=import )duckdb,", "dummy, duckdb,"))
    add(folder / "embedders/dummy.py", EMBEDDER, (r"(?<=import )local,", "dummy, local,"))
    for name, pattern in (
        ("stores", r"(?<=\()sqlite\.SPEC"),
        ("embedders", r"(?<=\()openai\.SPEC"),
    ):
        catalogue = folder / name / "__init__.py"
        text = catalogue.read_text(encoding="utf-8")
        catalogue.write_text(re.sub(pattern, r"dummy.SPEC, \g<0>", text), encoding="utf-8")


def add_profile(copy: Path) -> None:
    folder = copy / "src/kindly/server/profiles"
    add(folder / "dummy.py", PROFILE, (r'(?<="media")\)', ', "dummy")'))


def test_a_plugin_is_one_file_and_passes_the_contract_tests(tmp_path: Path) -> None:
    no_caches = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=no_caches)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    add_provider(tmp_path)
    add_loader(tmp_path)
    add_reading(tmp_path)
    add_profile(tmp_path)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    assert python("-c", SETTINGS).split("\n")[0] == "dummy ['dummy'] dummy 3"
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "dummy and not documented",
        "--no-header",
        "-rA",
    )
    report = python("-m", "pytest", *options, *CONTRACTS)
    passed = re.findall(r"^PASSED (\S+?)::", report, re.MULTILINE)
    assert set(passed) == set(CONTRACTS)
    assert len(passed) > 60

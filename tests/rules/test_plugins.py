"""A provider, a loader, a store, an embedder and a profile each are one file and one entry in a catalogue.

The test adds one of each to a copy of the source tree, runs the contract tests on them, and looks for their settings in
everything that is derived from specs.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

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

from kindly.plugin_settings import Option
from kindly.read.specs import EmbedderSpec

LETTERS = Option("DUMMY_LETTERS", "flag", "Whether to count letters.", default=False)
ALPHABET = Option(
    "DUMMY_ALPHABET", "text", "The letters to count.", default="abcdefgh", low=2, high=26
)


@dataclass(frozen=True)
class Letters:
    """Counts letters."""

    alphabet: str

    @property
    def name(self) -> str:
        return f"letters-{self.alphabet}"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A vector for each text."""
        rows = [[text.count(letter) + 0.1 for letter in self.alphabet] for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


SPEC = EmbedderSpec(
    name="dummy",
    label="the letters",
    open=lambda settings: Letters(ALPHABET.of(settings.options)),
    model=lambda settings: Letters(ALPHABET.of(settings.options)).name,
    fix="Count again.",
    options=(LETTERS, ALPHABET),
)
'''
PROFILE = '''"""Profile `dummy`: one tool that echoes."""

from dataclasses import replace
from typing import TYPE_CHECKING

from kindly.plugin_settings import Option
from kindly.plugin_settings import ProfileDefaults
from kindly.server.arguments import Arguments
from kindly.server.json_schema import TEXT, record
from kindly.server.profile_spec import ProfileSpec
from kindly.server.tool import Call, Output, Profile, Tool

if TYPE_CHECKING:
    from kindly.settings import Settings

TITLE = Option("DUMMY_TITLE", "text", "The title of `echo`.", default="Echo", high=20)
OFFERED = Option("KINDLY_DUMMY_OFFERED", "flag", "Offer `echo`.", default=True)


class Echo(Arguments):
    """The arguments of `echo`."""

    text: str


async def echo(call: Call, arguments: Echo) -> Output:
    """The text as it came."""
    return Output(arguments.text, {"text": arguments.text})


TOOL = Tool("echo", "Echo", "Returns its text.", Echo, record({"text": TEXT}), echo)


def tools_for(settings: "Settings") -> tuple[Tool, ...]:
    """The tool, if it is offered."""
    tool = replace(TOOL, title=TITLE.of(settings.options))
    return (tool,) if OFFERED.of(settings.options) else ()


PROFILE = Profile(
    name="dummy",
    summary="One tool that echoes",
    instructions="echo returns its text.",
    tools=(TOOL,),
    tools_for=tools_for,
    defaults=ProfileDefaults(settings={"CONCURRENCY": 3}),
)
SPEC = ProfileSpec(name="dummy", load=lambda: PROFILE, options=(TITLE, OFFERED))
'''
CONTRACTS = (
    "tests/contracts/test_providers.py",
    "tests/contracts/test_loaders.py",
    "tests/contracts/test_embedders.py",
    "tests/read/stores/test_contract.py",
    "tests/server/profiles/test_catalogue.py",
)
ENVIRON = {
    "KINDLY_PROFILE": "dummy",
    "KINDLY_STORE": "dummy",
    "DUMMY_API_KEY": "canary-dummy",
    "DUMMY_LETTERS": "1",
    "DUMMY_ALPHABET": "xyz",
    "DUMMY_TITLE": "Twice",
}
OPTIONS = ("DUMMY_LETTERS", "DUMMY_ALPHABET", "DUMMY_TITLE", "KINDLY_DUMMY_OFFERED")
SETTINGS = """
from kindly.server.profiles import profile_for
from kindly.settings import Settings

loaded = Settings.load()
print(loaded.profile, [spec.name for spec in loaded.configured()], loaded.embedder_spec.name, loaded.concurrency)
print([tool.title for tool in profile_for(loaded).tools])
"""
MANIFESTS = """
from tools.manifests import manifests

print(*(path for path, text in manifests().items() if "DUMMY_API_KEY" in text))
"""


def add(file: Path, text: str, *, first: bool = False, entry: str = "dummy.SPEC") -> None:
    """Write a plugin, and add an import and a line to the catalogue of its folder."""
    file.write_text(text, encoding="utf-8")
    catalogue = file.with_name("__init__.py")
    lines = catalogue.read_text(encoding="utf-8").splitlines()
    start = next(
        number for number, line in enumerate(lines) if re.match(r"[A-Z]+: tuple.*\($", line)
    )
    place = start + 1 if first else lines.index(")", start)
    lines.insert(place, f"    {entry},")
    package = ".".join(file.parent.parts[file.parts.index("src") + 1 :])
    imported = next(number for number, line in enumerate(lines) if line.startswith("from kindly"))
    name = f"import {entry.split('.')[0]}"
    lines.insert(imported, f"from {package}{'' if '.' in entry else '.dummy'} {name}")
    catalogue.write_text("\n".join(lines) + "\n", encoding="utf-8")


def renamed(text: str, name: str) -> str:
    """The source of a plugin under the name `dummy`."""
    for old, new in ((name, "dummy"), (name.upper(), "DUMMY"), (name.title(), "Dummy")):
        text = text.replace(old, new)
    return text


def add_provider(copy: Path) -> None:
    folder = copy / "src/kindly/search/providers"
    add(folder / "dummy.py", renamed((folder / "tavily.py").read_text(encoding="utf-8"), "tavily"))
    data = copy / "tests/data/providers"
    shutil.copytree(data / "tavily", data / "dummy")


def add_loader(copy: Path) -> None:
    folder = copy / "src/kindly/fetch/loaders"
    text = (folder / "hackernews.py").read_text(encoding="utf-8")
    text = renamed(text, "hackernews").replace("HN_API_URL", "DUMMY_URL")
    text = text.replace("news.ycombinator.com", "dummy.example")
    add(folder / "dummy.py", text, first=True, entry="DUMMY")
    data = copy / "tests/data/loaders"
    shutil.copytree(data / "hackernews", data / "dummy")
    urls = (data / "dummy/urls.txt").read_text(encoding="utf-8")
    (data / "dummy/urls.txt").write_text(urls.replace("news.ycombinator.com", "dummy.example"))


def add_plugins(copy: Path) -> None:
    add_provider(copy)
    add_loader(copy)
    add(copy / "src/kindly/read/stores/dummy.py", STORE)
    add(copy / "src/kindly/read/embedders/dummy.py", EMBEDDER, first=True)
    add(copy / "src/kindly/server/profiles/dummy.py", PROFILE)


class Copy:
    """A copy of the repository with a plugin of each kind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        no_caches = shutil.ignore_patterns("__pycache__", "node_modules")
        for name in ("src", "tests", "docs", "tools"):
            shutil.copytree(ROOT / name, folder / name, ignore=no_caches)
        shutil.copy(ROOT / "pyproject.toml", folder)
        add_plugins(folder)

    def python(
        self,
        *arguments: str,
        environ: Mapping[str, str] | None = None,
        codes: tuple[int, ...] = (0,),
    ) -> str:
        """Run Python in the copy; return what it prints."""
        data = {"DATA_DIR": str(self.folder / "data"), "KINDLY_CONFIG": os.devnull}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "src"), **data, **(environ or {})},
            capture_output=True,
            text=True,
        )
        assert done.returncode in codes, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def test_a_plugin_is_one_file_and_passes_the_contract_tests(copy: Copy) -> None:
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "dummy and not documented",
        "--no-header",
        "-rA",
    )
    report = copy.python("-m", "pytest", *options, *CONTRACTS)
    passed = re.findall(r"^PASSED (\S+?)::", report, re.MULTILINE)
    assert set(passed) == set(CONTRACTS)
    assert len(passed) > 60


def test_settings_select_the_plugins_and_reach_them(copy: Copy) -> None:
    chosen, tools = copy.python("-c", SETTINGS, environ=ENVIRON).splitlines()
    assert chosen == "dummy ['dummy'] dummy 3"
    assert tools == "['Twice']"
    assert copy.python("-c", SETTINGS, environ={**ENVIRON, "KINDLY_DUMMY_OFFERED": "0"}).endswith(
        "[]\n"
    )


@pytest.mark.parametrize(
    "name", ["kindly.settings", "kindly.server.tool", "kindly.server.profiles.dummy"]
)
def test_a_profile_of_one_file_can_be_imported_in_any_order(copy: Copy, name: str) -> None:
    copy.python("-c", f"import {name}, kindly.settings, kindly.server.tool")


def test_an_option_of_a_plugin_is_checked(copy: Copy) -> None:
    code = "from kindly.settings import Settings; Settings.load({'DUMMY_ALPHABET': 'x'})"
    command = f"try:\n  {code}\nexcept Exception as error:\n  print(error)"
    assert "DUMMY_ALPHABET from the environment is not valid" in copy.python("-c", command)


def test_the_doctor_shows_the_plugins(copy: Copy) -> None:
    told = copy.python("-m", "kindly", "doctor", "--no-live", codes=(0, 1), environ=ENVIRON)
    assert "DUMMY_ALPHABET: xyz, from the environment" in told
    assert "DUMMY_TITLE: Twice, from the environment" in told
    assert "dummy: configured (keys hidden), number 1 in order" in told
    assert "model: letters-xyz (the letters) works, 3 dimensions" in told
    assert "canary" not in told


def test_help_table_and_manifests_name_the_plugins(copy: Copy) -> None:
    assert "dummy" in copy.python("-m", "kindly", "start-mcp-server", "--help")
    table = copy.python("-m", "tools.settings_table")
    for name in ("DUMMY_API_KEY", "DUMMY_BASE_URL", "KINDLY_DUMMY_URL", *OPTIONS):
        assert f"| `{name}` |" in table
    assert "| `DUMMY_ALPHABET` | text | `abcdefgh` | The letters to count. |" in table
    assert re.search(r"`KINDLY_STORE`.*\bdummy\b", table)
    assert re.search(r"`KINDLY_PROFILE`.*`dummy`", table)
    assert set(copy.python("-c", MANIFESTS).split()) == {
        "packaging/server.json",
        "packaging/server.yaml",
        "packaging/mcpb/manifest.json",
        ".claude-plugin/plugin.json",
        "gemini-extension.json",
    }

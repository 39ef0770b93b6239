"""The catalogue of profiles: a profile is one file and one line, and everything else learns about it from its spec."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kindly.plugin_settings import ProfileDefaults
from kindly.server.profiles import DEFAULT_PROFILE, PROFILE_NAMES, all_profiles, load_profile
from kindly.server.tool import Profile
from kindly.settings import ENV_BY_FIELD, NEEDS, Settings
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "kindly"

DUMMY = '''
"""Profile `dummy`: one tool that echoes."""

from kindly.server.arguments import Arguments
from kindly.server.json_schema import TEXT, record
from kindly.plugin_settings import ProfileDefaults
from kindly.server.profile_spec import ProfileSpec
from kindly.server.tool import Call, Output, Profile, Tool


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
    defaults=ProfileDefaults(settings={"CONCURRENCY": 3}, queues_searches=True),
)
SPEC = ProfileSpec(name="dummy", load=lambda: PROFILE)
'''
USE = """
import json
from click.testing import CliRunner
from kindly.cli.commands import cli
from kindly.server.profiles import profile_for
from kindly.settings import Settings

settings = Settings.load({"KINDLY_PROFILE": "dummy"})
print(json.dumps({
    "tools": [tool.name for tool in profile_for(settings).tools],
    "concurrency": settings.concurrency,
    "origin": settings.origin("CONCURRENCY"),
    "queues": settings.profile_defaults.queues_searches,
    "help": CliRunner().invoke(cli, ["start-mcp-server", "--help"]).output,
}))
"""


def undocumented(profile: Profile, page: str) -> list[str]:
    """What `docs/profiles.md` must say about a profile and does not."""
    rows = [line for line in page.splitlines() if line.startswith(f"| `{profile.name}` |")]
    names = [f"`{tool.name}`" for tool in profile.tools]
    facts = [*names, profile.summary]
    missing = [fact for fact in facts if not any(fact in row for row in rows)]
    variables = [f"`{name}`" for name in profile.defaults.settings]
    return missing + [name for name in variables if name not in page]


@pytest.mark.parametrize("profile", all_profiles(), ids=lambda profile: profile.name)
def test_every_profile_is_documented(profile: Profile) -> None:
    assert undocumented(profile, PAGE) == []


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_a_profile_has_the_name_of_its_module(name: str) -> None:
    assert load_profile(name).name == name


@pytest.mark.parametrize("profile", all_profiles(), ids=lambda profile: profile.name)
def test_the_defaults_of_a_profile_are_settings(profile: Profile) -> None:
    known = {env.name for env in ENV_BY_FIELD.values()} | set(NEEDS)
    assert set(profile.defaults.settings) <= known
    loaded = Settings.load({"KINDLY_PROFILE": profile.name})
    assert all(loaded.origin(name) == "profile" for name in profile.defaults.settings)


def test_the_default_profile_changes_no_setting() -> None:
    assert load_profile(DEFAULT_PROFILE).defaults == ProfileDefaults()


def test_a_profile_is_one_file_and_one_line(tmp_path: Path) -> None:
    copy = tmp_path / "kindly"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    catalogue = copy / "server" / "profiles" / "__init__.py"
    text = catalogue.read_text(encoding="utf-8")
    imported = "from kindly.server.profiles import dummy\n"
    for line, added in (
        ("from kindly.server.profiles", imported),
        (")\nPROFILE_NAMES", "dummy.SPEC,\n"),
    ):
        assert text.count(line) == 1
        text = text.replace(line, added + line)
    catalogue.write_text(text, encoding="utf-8")
    (copy / "server" / "profiles" / "dummy.py").write_text(DUMMY.lstrip(), encoding="utf-8")

    run = subprocess.run(
        [sys.executable, "-c", USE],
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    answer = json.loads(run.stdout)
    assert answer["tools"] == ["echo"]
    assert (answer["concurrency"], answer["origin"], answer["queues"]) == (3, "profile", True)
    assert "dummy" in answer["help"]


def test_a_profile_without_its_row_in_the_docs_is_reported() -> None:
    profile = load_profile("media")
    without = "\n".join(line for line in PAGE.splitlines() if "| `media` |" not in line)
    assert "`WebFetch`" in undocumented(profile, without)


def test_listing_tools_imports_neither_other_profiles_nor_heavy_libraries() -> None:
    code = (
        "import sys; from kindly.settings import Settings; "
        "from kindly.server.mcp import build_server; from kindly.server.profiles import profile_for; "
        "build_server(None, profile_for(Settings.load({}))); "
        "print(*sorted(name for name in sys.modules if name in "
        "{'numpy', 'duckdb', 'psycopg', 'prometheus_client', 'turbohtml', 'pypdfium2', 'playwright', 'wordllama'} "
        "or (name.startswith('kindly.server.profiles.') and name.count('.') > 3)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert run.stdout.split() == ["kindly.server.profiles.kindly.profile"]

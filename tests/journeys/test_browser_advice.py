"""A page that needs a browser where none is usable says what to run; `doctor`, `setup` and the README say the same."""

import json
import re
import shlex
import sys
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from kindly.cli.commands import cli
from kindly.cli.start_command import DISTRIBUTION, Install
from kindly.fetch.browser import executables
from kindly.fetch.browser.advice import WITH_PIP, WITH_UVX
from kindly.version import REPOSITORY
from tests.support.paths import ROOT
from tests.support.processes import run_kindly
from tests.support.served_world import BOTH, calling, environment, serper, text_of
from tests.support.setup_command import setup
from tests.support.site import Site, html

SHELL = """<!doctype html><html><head><title>App</title></head><body><div id="root"></div>
<noscript>You need to enable JavaScript to run this app.</noscript><script src="/app.js"></script></body></html>"""
HALF_DRAWN = """<!doctype html><html><head><title>App</title></head><body><h1>The weather in Kiel</h1>
<div id="root"></div><script type="module" src="/app.js"></script></body></html>"""
CHALLENGE = """<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>
<script>(function(){window._cf_chl_opt = {cvId: '3', cType: 'managed'};})();</script></body></html>"""
APT = "apt-get install chromium libatomic1"
ADVICE = (WITH_UVX, WITH_PIP, APT)


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after the `uvx` line without the extra."""
    for package in ("playwright", "nodriver"):
        monkeypatch.setitem(sys.modules, package, None)


@pytest.fixture
def no_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executables, "candidates", lambda machine: ())
    monkeypatch.setattr(sys, "platform", "linux")


@pytest.mark.anyio
@pytest.mark.usefixtures("no_driver", "no_chromium")
async def test_a_page_drawn_by_a_script_says_what_to_run(site: Site, tmp_path: Path) -> None:
    url = site.add("/app", html(SHELL))
    site.add("/serper/search", serper([url]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        with anyio.fail_after(120):
            (result,) = await call.search()
            page = await call("get_content", url=url)
            read = await call("read_page", url=url, question="What is the weather?")
    assert result["status"] == "empty"
    assert result["page_content"].startswith(
        "_Page not read (empty): The page needs JavaScript to show its text. "
        f"No browser driver is installed: start Kindly with `{WITH_UVX}`, or run `{WITH_PIP}`. "
        f"No browser was found: install Chromium, for example with `{APT}`"
    )
    assert page.structured_content is not None
    assert page.structured_content["page_content"] == result["page_content"]
    for answer in (page, read):
        assert answer.is_error
        assert all(command in text_of(answer) for command in ADVICE)


@pytest.mark.anyio
@pytest.mark.usefixtures("no_driver")
async def test_what_is_there_already_is_not_advised(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executables, "candidates", lambda machine: (sys.executable,))
    url = site.add("/app", html(SHELL))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            said = text_of(await call("get_content", url=url))
    assert WITH_UVX in said
    assert "Chromium" not in said


@pytest.mark.anyio
@pytest.mark.usefixtures("no_chromium")
async def test_with_the_driver_only_chromium_is_advised(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="the driver is not installed")
    url = site.add("/app", html(SHELL))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            said = text_of(await call("get_content", url=url))
    assert APT in said
    assert "uvx" not in said


@pytest.mark.anyio
@pytest.mark.usefixtures("no_driver", "no_chromium")
async def test_a_page_with_a_little_text_comes_with_the_same_advice(
    site: Site, tmp_path: Path
) -> None:
    url = site.add("/app", html(HALF_DRAWN))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
            article = await call.page(site.url("/article"))
    assert "The weather in Kiel" in page["page_content"]
    text, mark, advice = page["page_content"].partition(
        "\n_The page draws some of its text with JavaScript. "
    )
    assert mark
    assert "uvx" not in text
    assert all(command in advice for command in ADVICE)
    assert "JavaScript" not in article["page_content"]


@pytest.mark.anyio
@pytest.mark.usefixtures("no_driver", "no_chromium")
async def test_a_bot_check_is_no_reason_to_install_a_browser(site: Site, tmp_path: Path) -> None:
    url = site.add("/wall", html(CHALLENGE))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            said = text_of(await call("get_content", url=url))
    assert "(blocked)" in said
    assert "install" not in said


@pytest.mark.anyio
@pytest.mark.usefixtures("no_driver", "no_chromium")
@pytest.mark.parametrize("body", [SHELL, HALF_DRAWN], ids=["shell", "half drawn"])
async def test_a_profile_without_a_browser_advises_none(
    site: Site, tmp_path: Path, body: str
) -> None:
    url = site.add("/app", html(body))
    async with calling(environment(site, tmp_path, KINDLY_PROFILE="media")) as call:
        with anyio.fail_after(120):
            said = text_of(await call("WebFetch", url=url))
    assert not re.search(r"uvx|pip install|chromium|browser|doctor", said, re.IGNORECASE)


@pytest.mark.anyio
async def test_a_browser_that_is_turned_off_is_reported_as_that(site: Site, tmp_path: Path) -> None:
    url = site.add("/app", html(SHELL))
    async with calling(environment(site, tmp_path, KINDLY_BROWSER="off")) as call:
        with anyio.fail_after(120):
            said = text_of(await call("get_content", url=url))
    assert "KINDLY_BROWSER=off" in said
    assert "install" not in said


@pytest.fixture
def broken_browser(tmp_path: Path) -> dict[str, str]:
    """Settings with a browser that ends as soon as it starts."""
    pytest.importorskip("playwright", reason="the driver is not installed")
    if sys.platform == "win32":
        pytest.skip("a script is no program there")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    return {"KINDLY_BROWSER_PATH": str(program), "KINDLY_BROWSER_BACKOFF_S": "0"}


@pytest.mark.anyio
@pytest.mark.parametrize(("attempts", "failed"), [("3", "3 attempts"), ("1", "1 attempt")])
async def test_failed_starts_are_reported_as_that(
    site: Site, tmp_path: Path, broken_browser: dict[str, str], attempts: str, failed: str
) -> None:
    links = [site.add(f"/app/{n}", html(SHELL)) for n in range(3)]
    site.add("/serper/search", serper(links))
    settings = {**BOTH, **broken_browser, "KINDLY_BROWSER_ATTEMPTS": attempts}
    async with calling(environment(site, tmp_path, **settings)) as call:
        with anyio.fail_after(120):
            results = await call.search()
            again = await call.search()
    assert [result["page_content"] for result in results] == [
        "_Page not read (empty): The page needs JavaScript to show its text. "
        f"The browser did not start: {failed} failed. Run `kindly doctor` to see why. "
        "Use another result._"
    ] * 3
    assert again == results


@pytest.mark.anyio
async def test_failed_starts_are_reported_beside_a_bot_check(
    site: Site, tmp_path: Path, broken_browser: dict[str, str]
) -> None:
    url = site.add("/wall", html(CHALLENGE))
    async with calling(environment(site, tmp_path, **broken_browser)) as call:
        with anyio.fail_after(120):
            said = text_of(await call("get_content", url=url))
    assert "(blocked)" in said
    assert "The browser did not start: 3 attempts failed." in said


@pytest.mark.anyio
@pytest.mark.parametrize("command", [["start-mcp-server"], ["fetch", "https://example.com/"]])
async def test_a_named_driver_that_is_not_installed_is_an_error_at_start(
    tmp_path: Path, command: list[str]
) -> None:
    environ = {"KINDLY_BROWSER": "nodriver", "DATA_DIR": str(tmp_path)}
    done = await run_kindly(environ, *command)
    assert done.code == 2
    assert done.err.strip() == (
        "kindly: KINDLY_BROWSER=nodriver needs a package that is not installed: "
        "pip install nodriver (its licence is AGPL-3). Or unset KINDLY_BROWSER."
    )


@pytest.mark.usefixtures("no_driver")
def test_playwright_that_is_named_and_not_installed_is_an_error_at_start(tmp_path: Path) -> None:
    environ = {"KINDLY_BROWSER": "playwright", "DATA_DIR": str(tmp_path)}
    done = CliRunner().invoke(cli, ["doctor", "--no-live"], env=environ)
    assert "KINDLY_BROWSER=playwright needs a package" in str(done.exception)
    assert WITH_PIP in str(done.exception)


@pytest.mark.usefixtures("no_driver", "no_chromium")
def test_doctor_says_what_to_run(tmp_path: Path) -> None:
    environ = {"DATA_DIR": str(tmp_path), "KINDLY_CONFIG": "/dev/null"}
    done = CliRunner().invoke(cli, ["doctor", "--no-live", "--json"], env=environ)
    checks = {row["check"]: row for row in json.loads(done.output)["findings"]}
    assert checks["browser"]["state"] == "note"
    assert all(command in checks["browser"]["fix"] for command in ADVICE)


def git_install() -> Install:
    origin = {"url": REPOSITORY, "vcs_info": {"vcs": "git", "commit_id": "0f"}}
    return Install(json.dumps(origin), "/cache/uv/archive-v0/x/bin/python")


@pytest.fixture
def from_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were the program that the README's `uvx` line installs."""
    monkeypatch.setattr("kindly.cli.setup.installed", git_install)
    monkeypatch.setattr("kindly.cli.setup.shutil.which", lambda name, path=None: "/bin/uvx")


@pytest.mark.usefixtures("from_git", "no_chromium")
def test_setup_writes_the_extra_on_request(tmp_path: Path) -> None:
    plain = setup(tmp_path, "cursor", "--yes")
    assert plain.exit_code == 0, plain.output
    assert "run this again with --browser" in plain.output
    done = setup(tmp_path, "cursor", "--yes", "--browser")
    assert done.exit_code == 0, done.output
    assert APT in done.output
    file = tmp_path / ".cursor" / "mcp.json"
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["kindly"]
    assert ["uvx", *entry["args"][:4]] == shlex.split(WITH_UVX)
    again = setup(tmp_path, "cursor", "--yes", "--browser")
    assert "nothing to change" in again.output


def test_setup_in_an_environment_names_the_command_that_installs_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Install(json.dumps({"url": "file:///src/kindly", "dir_info": {}}), sys.executable)
    monkeypatch.setattr("kindly.cli.setup.installed", lambda: here)
    for _ in range(2):
        done = setup(tmp_path, "cursor", "--yes", "--browser")
        assert f"{sys.executable} -m {WITH_PIP}" in done.output


@pytest.mark.parametrize("other", [("--http", "http://127.0.0.1:8000/mcp"), ("--command", "x")])
def test_setup_refuses_the_extra_where_it_installs_nothing(
    tmp_path: Path, other: tuple[str, str]
) -> None:
    done = setup(tmp_path, "cursor", "--yes", "--browser", *other)
    assert "--browser" in str(done.exception)


def test_the_readme_says_what_to_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(command in readme for command in (*ADVICE, "--browser"))
    assert f'Repository = "{REPOSITORY}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert WITH_UVX.endswith(f"{DISTRIBUTION} start-mcp-server")

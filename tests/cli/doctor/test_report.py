"""`kindly doctor`: its text, its JSON and its exit code."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from kindly.cli.doctor.report import examine
from kindly.settings import Settings
from tests.support.served_world import BOTH, CANARIES, SERPER_KEY, environment, serper
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


async def run(environ: dict[str, str], *, live: bool = False, as_json: bool = False) -> int:
    """`kindly doctor` in a thread, while the site runs."""
    chosen = Settings.load({"KINDLY_BROWSER": "off", "KINDLY_CONFIG": "/dev/null", **environ})
    call = partial(examine, chosen, as_json=as_json, live=live)
    with anyio.fail_after(120):
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)


async def read(
    capsys: pytest.CaptureFixture[str], environ: dict[str, str], *, live: bool = False
) -> tuple[int, dict[str, Any]]:
    code = await run(environ, live=live, as_json=True)
    return code, json.loads(capsys.readouterr().out)


async def test_a_healthy_setup_has_no_problem(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    environ = environment(site, tmp_path, SERPER_API_KEY=SERPER_KEY)
    assert await run(environ, live=True) == 0
    lines = capsys.readouterr().out.splitlines()
    cost = next(n for n, line in enumerate(lines) if "counts against your quota" in line)
    answer = next(n for n, line in enumerate(lines) if "serper live: answered" in line)
    assert cost < answer
    assert not any(line.startswith("✗") for line in lines)
    assert SERPER_KEY not in "\n".join(lines)


async def test_without_live_no_service_is_called(site: Site, tmp_path: Path) -> None:
    assert await run(environment(site, tmp_path, **BOTH)) == 0
    assert site.requests == []


async def test_a_problem_is_reported_with_its_fix_and_the_exit_code_is_1(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.add("/serper/search", Answer(status=401))
    environ = environment(site, tmp_path, SERPER_API_KEY=SERPER_KEY)
    code, report = await read(capsys, environ, live=True)
    problems = [finding for finding in report["findings"] if finding["state"] == "problem"]
    assert code == 1
    assert [(finding["check"], bool(finding["fix"])) for finding in problems] == [
        ("serper live", True)
    ]


async def test_every_setting_is_reported_with_its_source(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('concurrency = 7\nbrave_api_key = "canary-brave-77"\n', encoding="utf-8")
    environ = environment(
        site,
        tmp_path,
        **BOTH,
        KINDLY_CONFIG=str(file),
        KINDLY_HTTP_TOKEN="canary-http-token",
        SEARXNG_BASE_URL="http://user:canary-searxng@127.0.0.1:9",
    )
    _, report = await read(capsys, environ)
    rows = {row["name"]: (row["value"], row["origin"]) for row in report["settings"]}
    assert rows["CONCURRENCY"] == ("7", "file")
    assert rows["BRAVE_API_KEY"] == ("set (hidden)", "file")
    assert rows["SERPER_API_KEY"] == ("set (hidden)", "environment")
    assert rows["GITHUB_TOKEN"] == ("set (hidden)", "environment")
    assert rows["SERPER_BASE_URL"] == (site.url("/serper"), "environment")
    assert rows["SEARXNG_BASE_URL"] == ("http://***@127.0.0.1:9", "environment")
    assert rows["KINDLY_PORT"] == ("8000", "default")
    assert rows["HTTPS_PROXY"] == ("", "default")
    shown = json.dumps(report)
    assert str(file) in shown
    assert not any(
        secret in shown
        for secret in (*CANARIES, "canary-brave-77", "canary-http-token", "canary-searxng")
    )


async def test_a_provider_not_in_use_is_a_note(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = await read(capsys, environment(site, tmp_path, **BOTH, KINDLY_PROVIDERS="tavily"))
    details = {finding["check"]: finding["detail"] for finding in report["findings"]}
    assert "not in use" in details["serper"]
    assert "number 1 in order" in details["tavily"]

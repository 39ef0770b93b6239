"""The command line in real processes, with a site on loopback."""

import json
from pathlib import Path

import pytest

import kindly
from tests.support.processes import run_kindly as run
from tests.support.served_world import BOTH, CANARIES, environment, tavily
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

STILL = {"KINDLY_BROWSER": "off"}


async def test_version() -> None:
    done = await run({}, "--version")
    assert (done.code, done.out.strip()) == (0, f"kindly, version {kindly.__version__}")


async def test_help_names_every_command() -> None:
    done = await run({}, "--help")
    assert done.code == 0
    assert all(name in done.out for name in ("start-mcp-server", "search", "fetch", "doctor"))


async def test_doctor_finds_nothing_wrong_with_a_key(site: Site, tmp_path: Path) -> None:
    done = await run(environment(site, tmp_path, **BOTH, **STILL), "doctor", "--no-live")
    assert done.code == 0, done.out
    assert "serper: configured" in done.out
    assert not any(canary in done.out for canary in CANARIES)


async def test_doctor_shows_statistics_of_providers(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=503))
    site.add("/tavily/search", tavily([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH, **STILL)
    await run(environ, "search", "bees")
    done = await run(environ, "doctor", "--no-live")
    assert "serper statistics: 1 calls; failed: 1 unreachable" in done.out
    assert "tavily statistics: 1 calls; none failed" in done.out


async def test_doctor_reports_a_provider_with_missing_settings(tmp_path: Path) -> None:
    environ = {"DATA_DIR": str(tmp_path), "GOOGLE_API_KEY": "canary-google-1", **STILL}
    done = await run(environ, "doctor", "--no-live")
    assert done.code == 1
    assert "GOOGLE_SEARCH_ENGINE_ID" in done.out
    assert "canary-google-1" not in done.out


async def test_doctor_reports_each_problem_with_a_fix(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    environ = {
        "DATA_DIR": str(blocked / "data"),
        "SSL_CERT_FILE": str(tmp_path / "none.pem"),
        "HTTPS_PROXY": "http://user:canary-password@proxy.example:3128",
        "KINDLY_TRANSPORT": "http",
        "KINDLY_PORT": "0",
        **STILL,
    }
    done = await run(environ, "doctor", "--json", "--no-live")
    findings = {finding["check"]: finding for finding in json.loads(done.out)["findings"]}
    assert done.code == 1
    for check in ("search", "data folder", "certificates"):
        assert findings[check]["state"] == "problem"
        assert findings[check]["fix"]
    assert findings["proxy"]["detail"] == "as set by HTTPS_PROXY"
    assert findings["port"]["state"] == "ok"
    assert "canary-password" not in done.out


async def test_unknown_setting_stops_every_command() -> None:
    done = await run({"KINDLY_CONTEX": "codex"}, "doctor")
    assert done.code == 2
    assert "KINDLY_CONTEXT" in done.err

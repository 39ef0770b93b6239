"""Checks of `doctor` on this machine, working and broken."""

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from kindly.cli.doctor import local
from kindly.cli.doctor.finding import CheckResult
from kindly.errors import SettingsError
from kindly.extract.formats import recognition
from kindly.fetch.browser.executables import find, this_machine
from kindly.settings import Settings

pytestmark = pytest.mark.anyio


def has_browser() -> bool:
    try:
        return find_spec("playwright") is not None and bool(find(this_machine(os.environ)))
    except SettingsError:
        return False


def settings(folder: Path, **environ: str) -> Settings:
    return Settings.load({"DATA_DIR": str(folder), "KINDLY_CONFIG": "/dev/null", **environ})


def only(found: list[CheckResult]) -> CheckResult:
    (finding,) = found
    assert finding.state != "problem" or finding.fix
    return finding


async def test_a_folder_that_can_be_written_is_fine(tmp_path: Path) -> None:
    assert only(await local.folder(settings(tmp_path / "new"))).state == "ok"
    assert list((tmp_path / "new").iterdir()) == []


async def test_a_folder_that_cannot_be_created_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert only(await local.folder(settings(tmp_path / "file" / "data"))).state == "problem"


@pytest.mark.parametrize("content", [None, b"no certificate"], ids=["missing", "no certificate"])
async def test_an_invalid_certificate_file_is_a_problem(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    finding = only(await local.certificates(settings(tmp_path, SSL_CERT_FILE=str(file))))
    assert finding.state == "problem"
    assert str(file) in finding.detail


async def test_the_systems_certificates_are_fine(tmp_path: Path) -> None:
    finding = only(await local.certificates(settings(tmp_path)))
    assert (finding.state, finding.detail) == ("ok", "of the system")


async def test_the_parser_reads_a_page(tmp_path: Path) -> None:
    with anyio.fail_after(120):
        assert only(await local.engine(settings(tmp_path))).check == "parser"


async def test_search_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    broken = settings(tmp_path, SERPER_API_KEY="canary-1", SSL_CERT_FILE=str(tmp_path / "none"))
    with anyio.fail_after(120):
        found = await local.engine(broken)
    assert [(finding.check, finding.state) for finding in found] == [
        ("parser", "ok"),
        ("search", "problem"),
    ]


async def test_a_disabled_browser_is_only_a_note(tmp_path: Path) -> None:
    assert only(await local.browser(settings(tmp_path, KINDLY_BROWSER="off"))).state == "note"


async def test_a_configured_driver_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    """Settings refuse it at start; the package may go later."""
    chosen = settings(tmp_path).changed(browser="nodriver")
    finding = only(await local.browser(chosen))
    assert finding.state == "problem"
    assert "pip install nodriver" in finding.fix


async def test_an_invalid_browser_path_is_a_problem(tmp_path: Path) -> None:
    path = str(tmp_path / "chrome")
    finding = only(await local.browser(settings(tmp_path, KINDLY_BROWSER_PATH=path)))
    assert finding.state == "problem"
    assert path in finding.fix


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
async def test_a_browser_that_does_not_start_is_a_problem(tmp_path: Path) -> None:
    script = tmp_path / "chrome"
    script.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    script.chmod(0o755)
    with anyio.fail_after(120):
        finding = only(await local.browser(settings(tmp_path, KINDLY_BROWSER_PATH=str(script))))
    assert finding.state == "problem"
    assert "did not start" in finding.detail
    assert "\n" not in finding.detail


@pytest.mark.skipif(not has_browser(), reason="no browser, or no playwright, is installed")
async def test_a_browser_is_found_and_started(tmp_path: Path) -> None:
    with anyio.fail_after(120):
        assert only(await local.browser(settings(tmp_path))).state == "ok"


@pytest.mark.parametrize(("transport", "state"), [("http", "problem"), ("stdio", "note")])
async def test_a_port_in_use_is_reported(tmp_path: Path, transport: str, state: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        found = await local.port(settings(tmp_path, KINDLY_PORT=port, KINDLY_TRANSPORT=transport))
    assert only(found).state == state


async def test_a_free_port_is_fine(tmp_path: Path) -> None:
    assert only(await local.port(settings(tmp_path, KINDLY_PORT="0"))).state == "ok"


async def test_missing_character_recognition_is_a_note_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "is_installed", lambda: False)
    finding = only(await local.recognition(settings(tmp_path)))
    assert finding.state == "note"
    assert "[ocr]" in finding.fix


async def test_installed_character_recognition_names_its_models(tmp_path: Path) -> None:
    if not recognition.is_installed():
        pytest.skip("the extra `ocr` is not installed")
    finding = only(await local.recognition(settings(tmp_path)))
    assert finding.state == "ok"
    assert "_rec_" in finding.detail

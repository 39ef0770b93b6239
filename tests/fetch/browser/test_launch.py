from pathlib import Path

import anyio
import pytest

from kindly.errors import SettingsError
from kindly.fetch.browser.browser_process import StartError
from kindly.fetch.browser.drivers import DRIVERS
from kindly.fetch.browser.launch import (
    START_ERRORS,
    BrowserSettings,
    _is_retryable_browser_connect_error,
    chosen_driver,
    worker_launch,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (StartError("Failed to connect to browser"), True),
        (Exception("failed to connect to the browser: possibly running as root"), True),
        (StartError("Target page, context or browser has been closed"), True),
        (StartError("connect ECONNREFUSED 127.0.0.1:9222"), True),
        (StartError("Timeout 30000ms exceeded"), True),
        (StartError("browser logs: --disable-devtools\nWebSocket error"), True),
        (StartError("Failed to create /x/SingletonLock: File exists"), True),
        (StartError("The browser's worker process ended early."), True),
        (StartError("fork: Resource temporarily unavailable"), True),
        (TimeoutError(), True),
        (ConnectionRefusedError(), True),
        (StartError("Executable doesn't exist at /opt/x"), False),
        (StartError("browser has been closed\n[err] No usable sandbox!"), False),
        (
            StartError("browser has been closed\nerror while loading shared libraries: libnss3"),
            False,
        ),
        (StartError("spawn /opt/x EACCES"), False),
        (StartError("No module named 'nodriver'"), False),
        (StartError("Missing X server or $DISPLAY"), False),
        (StartError("something else"), False),
        (SettingsError("Failed to connect to browser"), False),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_only_temporary_start_errors_are_retried(error: Exception, retryable: bool) -> None:
    assert _is_retryable_browser_connect_error(error) is retryable


def test_patterns_of_permanent_failures_come_first() -> None:
    flags = [retryable for _, retryable in START_ERRORS]
    assert flags == sorted(flags)


def test_driver_is_the_named_one_or_the_first_installed() -> None:
    assert chosen_driver("auto", lambda package: True) == DRIVERS["playwright"].program
    assert chosen_driver("auto", lambda package: package == "nodriver").endswith("nodriver")
    assert chosen_driver("nodriver", lambda package: True) == DRIVERS["nodriver"].program


@pytest.mark.parametrize("name", ["auto", "playwright", "nodriver"])
def test_missing_driver_says_how_to_install_it(name: str) -> None:
    with pytest.raises(SettingsError, match="pip install"):
        chosen_driver(name, lambda package: False)  # type: ignore[arg-type]  # a plain string


async def test_named_executable_that_is_missing_is_a_settings_error() -> None:
    pytest.importorskip("playwright", reason="the driver is not installed")
    launch = worker_launch(BrowserSettings(path="/nowhere/chromium"), {})
    async with anyio.create_task_group() as tasks:
        with pytest.raises(SettingsError, match="KINDLY_BROWSER_PATH"):
            await launch("http://127.0.0.1:1", tasks)


async def test_browser_that_exits_at_once_is_reported_by_the_driver_in_words_that_mean_a_retry(
    tmp_path: Path,
) -> None:
    pytest.importorskip("playwright", reason="the driver is not installed")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    launch = worker_launch(BrowserSettings(path=str(program)), {"PATH": "/usr/bin:/bin"})
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            with pytest.raises(StartError) as caught:
                await launch("http://127.0.0.1:1", tasks)
    assert _is_retryable_browser_connect_error(caught.value)


async def test_missing_executable_is_reported_by_playwright_in_words_that_mean_no_retry() -> None:
    api = pytest.importorskip("playwright.async_api", reason="the driver is not installed")
    with anyio.fail_after(120):
        async with api.async_playwright() as playwright:
            with pytest.raises(api.Error) as caught:
                await playwright.chromium.launch(executable_path="/nowhere/chromium")
    assert not _is_retryable_browser_connect_error(caught.value)

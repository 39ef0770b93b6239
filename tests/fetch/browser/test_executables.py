from collections.abc import Mapping

import pytest

from kindly.errors import SettingsError
from kindly.fetch.browser.executables import LINUX, BrowserHost, Executable, find, this_machine


def machine(
    *files: str,
    platform: str = "linux",
    environ: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
) -> BrowserHost:
    targets = links or {}
    return BrowserHost(
        platform,
        {"HOME": "/people/ann"} if environ is None else environ,
        lambda path: path in files,
        lambda path: targets.get(path, path),
    )


@pytest.mark.parametrize("path", [path for path in LINUX if "snap" not in path])
def test_each_usual_place_on_linux_is_found(path: str) -> None:
    assert find(machine(path)) == Executable(path)


def test_first_of_several_is_taken() -> None:
    both = machine("/usr/bin/google-chrome", "/usr/bin/chromium")
    assert find(both).path == "/usr/bin/chromium"


@pytest.mark.parametrize(
    "at",
    [
        machine("/snap/bin/chromium"),
        machine("/usr/bin/chromium-browser", "/snap/bin/chromium"),
        machine("/usr/bin/chromium", links={"/usr/bin/chromium": "/snap/chromium/1/chrome"}),
    ],
    ids=["snap", "wrapper script", "link"],
)
def test_browser_from_a_snap_keeps_its_profile_where_it_may_write(at: BrowserHost) -> None:
    assert find(at).profile_root == "/people/ann/snap/chromium/common"


def test_snap_without_a_home_folder_is_tried_anyway() -> None:
    assert find(machine("/snap/bin/chromium", environ={})) == Executable("/snap/bin/chromium")


@pytest.mark.parametrize(
    ("at", "path"),
    [
        (
            machine("/Applications/Chromium.app/Contents/MacOS/Chromium", platform="darwin"),
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
        ),
        (
            machine(
                "/people/ann/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
                platform="darwin",
            ),
            "/people/ann/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        ),
        (
            machine(
                r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
                platform="win32",
                environ={
                    "PROGRAMFILES": r"C:\Program Files",
                    "PROGRAMFILES(X86)": r"C:\Program Files (x86)",
                },
            ),
            r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
        ),
    ],
    ids=["mac", "mac, the user's own", "windows"],
)
def test_usual_places_elsewhere_are_found(at: BrowserHost, path: str) -> None:
    assert find(at) == Executable(path)


def test_named_browser_is_taken_before_all_others() -> None:
    at = machine("/usr/bin/chromium", "/opt/mine")
    assert find(at, "/opt/mine") == Executable("/opt/mine")


def test_named_browser_that_is_not_there_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="KINDLY_BROWSER_PATH"):
        find(machine("/usr/bin/chromium"), "/opt/mine")


def test_no_browser_at_all_says_how_to_get_one() -> None:
    with pytest.raises(SettingsError, match="KINDLY_BROWSER_PATH"):
        find(machine())


def test_this_machine_looks_at_the_disk() -> None:
    here = this_machine({"USERPROFILE": "/u"})
    assert here.home == "/u"
    assert here.exists(__file__)
    assert here.resolve(__file__).endswith("test_executables.py")

"""Finds an installed browser: the usual paths of each platform in, one `Executable` out.

Pure: it looks at the disk only through the `exists` that it is given.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from kindly.errors import SettingsError
from kindly.fetch.browser.advice import install_chromium
from kindly.frozen import frozen

LINUX = (
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
    "/usr/bin/google-chrome",
    "/opt/google/chrome/chrome",
    "/usr/bin/microsoft-edge-stable",
    "/usr/bin/microsoft-edge",
    "/usr/bin/brave-browser-stable",
    "/usr/bin/brave-browser",
    "/usr/local/bin/chromium",
    "/usr/local/bin/google-chrome",
    "/snap/bin/chromium",
)
MAC = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "Brave Browser.app/Contents/MacOS/Brave Browser",
)
"""Below `/Applications` or the user's own `Applications`."""
WINDOWS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
    r"BraveSoftware\Brave-Browser\Application\brave.exe",
)
"""Below one of the program folders."""
WINDOWS_ROOTS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")

SNAP = "/snap/"
SNAP_FOLDER = "snap/chromium/common"
"""Below the home folder: the only place where a browser from a Snap can write its profile."""


@frozen
class Executable:
    """A browser that can be started."""

    path: str
    profile_root: str | None = None
    """Where its profile must be; anywhere if None."""


@frozen
class BrowserHost:
    """The machine on which browsers are looked for."""

    platform: str
    """As in `sys.platform`."""
    environ: Mapping[str, str]
    exists: Callable[[str], bool]
    resolve: Callable[[str], str] = lambda path: path
    """Resolves symbolic links."""

    @property
    def home(self) -> str:
        return self.environ.get("HOME") or self.environ.get("USERPROFILE", "")


def this_machine(environ: Mapping[str, str]) -> BrowserHost:
    """The machine on which this process runs."""
    return BrowserHost(
        sys.platform,
        environ,
        lambda path: Path(path).is_file(),
        lambda path: str(Path(path).resolve()),
    )


def find(machine: BrowserHost, named: str | None = None) -> Executable:
    """The browser that the user named, or the first one installed.

    Raises:
        SettingsError: there is none.
    """
    if named is not None:
        if not machine.exists(named):
            raise SettingsError(f"KINDLY_BROWSER_PATH names {named}, which is not a file.")
        return _executable(machine, named)
    for path in candidates(machine):
        if machine.exists(path):
            return _executable(machine, path)
    raise SettingsError(
        f"No browser was found: install Chromium, for example with `{install_chromium(machine.platform)}`, "
        "or name a browser with KINDLY_BROWSER_PATH."
    )


def candidates(machine: BrowserHost) -> tuple[str, ...]:
    """Paths where a browser may be, preferred ones first."""
    if machine.platform == "darwin":
        roots = ("/Applications", str(PurePosixPath(machine.home) / "Applications"))
        return tuple(f"{root}/{path}" for path in MAC for root in roots)
    if machine.platform == "win32":
        folders = [machine.environ[name] for name in WINDOWS_ROOTS if name in machine.environ]
        return tuple(str(PureWindowsPath(root) / path) for path in WINDOWS for root in folders)
    return LINUX


def _executable(machine: BrowserHost, path: str) -> Executable:
    """Ubuntu's `/usr/bin/chromium-browser` is a script that starts the Snap, where that is installed."""
    wrapper = path == "/usr/bin/chromium-browser" and machine.exists("/snap/bin/chromium")
    snap = wrapper or path.startswith(SNAP) or machine.resolve(path).startswith(SNAP)
    if snap and machine.home:
        return Executable(path, str(PurePosixPath(machine.home) / SNAP_FOLDER))
    return Executable(path)

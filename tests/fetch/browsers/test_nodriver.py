"""The second driver, against a stand-in for the library: its licence keeps the real one out of this project."""

from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from kindly.fetch.browsers import wire
from kindly.fetch.browsers.nodriver import open_driver
from kindly.fetch.browsers.worker import DriverFailed

pytestmark = pytest.mark.anyio

START = wire.Start("/chromium", ("--flag",), "http://127.0.0.1:9", "/folder", True, "UA", "en", 5)
JOB = wire.Job(7, "http://pub.example.com/a", "user", "password", 5, 2, 1_000)


class Commands:
    """A DevTools domain: each command is a tuple of its name and arguments, each event a name."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    def __getattr__(self, name: str) -> Any:
        if name[0].isupper() and name != "AuthChallengeResponse":
            return name
        return lambda *args, **named: (f"{self._domain}.{name}", args, named)


class FakeTab:
    """Plays one page: asks for the proxy's pass, opens a dialog, and shows a text."""

    target_id = "target"

    def __init__(self, page: dict[str, Any]) -> None:
        self.page = page
        self.sent: list[Any] = []
        self.handlers: dict[str, Any] = {}

    def add_handler(self, event: str, handler: Any) -> None:
        self.handlers[event] = handler

    async def send(self, command: Any) -> Any:
        self.sent.append(command)
        name, args, _ = command
        if name == "page.navigate":
            self._load()
            return "frame", "loader", self.page.get("error")
        if name != "runtime.evaluate":
            return None
        if "innerText" in args[0]:
            return SimpleNamespace(value=[self.page.get("chars", 500), True]), None
        if "location.href" in args[0]:
            return SimpleNamespace(value=self.page.get("at", JOB.url)), None
        return SimpleNamespace(value=self.page.get("html", "<p>Bees</p>")), None

    def _load(self) -> None:
        on = self.handlers
        on["RequestWillBeSent"](SimpleNamespace(request_id=1))
        on["RequestPaused"](SimpleNamespace(request_id=1))
        on["AuthRequired"](SimpleNamespace(request_id=1))
        for kind, status in (("Document", 203), ("Script", 500)):
            response = SimpleNamespace(status=status)
            on["ResponseReceived"](
                SimpleNamespace(type_=SimpleNamespace(value=kind), response=response)
            )
        on["LoadingFinished"](SimpleNamespace(request_id=1))
        on["LoadingFailed"](SimpleNamespace(request_id=2))
        on["JavascriptDialogOpening"](SimpleNamespace())


class FakeLibrary:
    """Stands where nodriver would."""

    cdp = SimpleNamespace(
        **{
            name: Commands(name)
            for name in ("target", "browser", "fetch", "network", "page", "runtime")
        }
    )

    def __init__(self, page: dict[str, Any] | None = None, error: Exception | None = None) -> None:
        self.tab = FakeTab(page or {})
        self.error = error
        self.options: dict[str, Any] = {}
        self.sent: list[str] = []
        self.stopped = False
        self.connection = self
        self._looks = 0

    async def start(self, **options: Any) -> "FakeLibrary":
        self.options = options
        if self.error is not None:
            raise self.error
        return self

    async def send(self, command: Any) -> Any:
        self.sent.append(command[0])
        return "target" if command[0] == "target.create_target" else "context"

    @property
    def tabs(self) -> list[FakeTab]:
        self._looks += 1
        return [self.tab] if self._looks > 1 else []

    def stop(self) -> None:
        self.stopped = True


async def rendered(library: FakeLibrary) -> wire.Rendered | wire.RenderFailed:
    with anyio.fail_after(5):
        async with open_driver(START, library) as driver:
            return await driver.render(JOB)


async def test_page_is_rendered_in_a_context_of_its_own_through_the_proxy() -> None:
    library = FakeLibrary()
    assert await rendered(library) == wire.Rendered(7, JOB.url, 203, "<p>Bees</p>")
    assert library.options["browser_args"] == ["--flag", "--proxy-server=http://127.0.0.1:9"]
    assert library.sent == [
        "target.create_browser_context",
        "target.create_target",
        "browser.set_download_behavior",
        "target.dispose_browser_context",
    ]
    names = [name for name, _, _ in library.tab.sent]
    assert {"fetch.continue_request", "fetch.continue_with_auth"} <= set(names)
    assert library.stopped


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ({"error": "net::ERR_NAME_NOT_RESOLVED"}, "navigation"),
        ({"at": "chrome-error://chromewebdata/"}, "navigation"),
        ({"html": ""}, "too_large"),
    ],
    ids=["no answer", "error page", "too large"],
)
async def test_each_way_to_fail_has_its_word(page: dict[str, Any], problem: str) -> None:
    answer = await rendered(FakeLibrary(page))
    assert isinstance(answer, wire.RenderFailed)
    assert answer.problem == problem


@pytest.mark.parametrize(
    "error", [Exception("Failed to connect to browser"), TimeoutError()], ids=["refused", "slow"]
)
async def test_start_that_fails_is_told(error: Exception) -> None:
    with pytest.raises(DriverFailed):
        await rendered(FakeLibrary(error=error))


async def test_end_of_the_browser_is_noticed() -> None:
    library = FakeLibrary()
    with anyio.fail_after(5):
        async with open_driver(START, library) as driver:
            library.stopped = True
            await driver.gone()


@pytest.mark.skipif(find_spec("nodriver") is not None, reason="nodriver is installed here")
async def test_missing_library_says_how_to_install_it() -> None:
    with pytest.raises(DriverFailed, match="pip install nodriver"):
        async with open_driver(START):
            pass

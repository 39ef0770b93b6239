"""The nodriver driver with a fake library: the real one is under the AGPL, and so is not a dependency."""

import base64
import os
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import PageNotFound
from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.browser_pool import open_browser
from kindly.fetch.browser.browser_process import marked
from kindly.fetch.browser.driver_worker import Driver, DriverFailed
from kindly.fetch.browser.drivers.nodriver import open_driver
from kindly.fetch.browser.launch import BrowserSettings
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.urls import parse
from tests.support.chromium import needs_chromium
from tests.support.site import html, running_site

pytestmark = pytest.mark.anyio

START = driver_protocol.Start(
    "/chromium", ("--flag",), "http://127.0.0.1:9", "/folder", True, "UA", "en", 5
)
JOB = driver_protocol.Job(7, "http://pub.example.com/a", "user", "password", 5, 2, 1_000)


class Commands:
    """A DevTools domain: each command is a tuple of its name and arguments, each event a name."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    def __getattr__(self, name: str) -> Any:
        if name[0].isupper() and name not in {"AuthChallengeResponse", "Viewport"}:
            return name
        return lambda *args, **named: (f"{self._domain}.{name}", args, named)


def seen(id: int, kind: str = "Script", frame: str = "target", **more: Any) -> SimpleNamespace:
    return SimpleNamespace(request_id=id, type_=SimpleNamespace(value=kind), frame_id=frame, **more)


class FakeTab:
    """Plays one page: asks for the proxy's credentials, opens a dialog, and shows a text."""

    target = SimpleNamespace(target_id="target")

    def __init__(self, page: dict[str, Any]) -> None:
        self.page = page
        self.sent: list[Any] = []
        self.handlers: dict[str, Any] = {}
        self.closed = False
        self._moves = page.get("moves", 0)

    def add_handler(self, event: str, handler: Any) -> None:
        self.handlers[event] = handler

    async def aclose(self) -> None:
        self.closed = True

    async def send(self, command: Any) -> Any:
        self.sent.append(command)
        name, args, _ = command
        if name in {"fetch.continue_request", self.page.get("breaks")}:
            raise Exception("Invalid InterceptionId.")  # noqa: TRY002 - as the library does
        if name == "page.navigate":
            await self._load()
            return "frame", "loader", self.page.get("error"), None
        if name != "runtime.evaluate":
            return self.page["png"] if name == "page.capture_screenshot" else None
        if "innerText" in args[0]:
            return SimpleNamespace(value=[self.page.get("chars", 500), True]), None
        if "location.href" in args[0]:
            return SimpleNamespace(value=self.page.get("at", JOB.url)), None
        if self._moves:
            self._moves -= 1
            raise Exception("Cannot find context")  # noqa: TRY002 - as the library does
        shown = self.page.get("html", "<p>Bees</p>")
        return SimpleNamespace(value=self.page.get("height", shown)), None

    async def _load(self) -> None:
        if self.page.get("hangs"):
            await anyio.sleep_forever()
        on = self.handlers
        main = "Document", "target"
        on["RequestWillBeSent"](seen(1, *main, request=SimpleNamespace(url=f"{JOB.url}#main")))
        on["RequestWillBeSent"](seen(2))
        on["RequestPaused"](seen(1))
        on["AuthRequired"](seen(1))
        for status, kind, frame in (
            (203, *main),
            (500, "Script", "target"),
            (404, "Document", "frame"),
        ):
            response = SimpleNamespace(
                status=status, mime_type=self.page.get("mime_type", "text/html")
            )
            on["ResponseReceived"](seen(1, kind, frame, response=response))
        on["LoadingFinished"](seen(1))
        on["LoadingFailed"](seen(2))
        on["JavascriptDialogOpening"](SimpleNamespace())


class FakeLibrary:
    """Replaces nodriver."""

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
        self.connection: FakeLibrary | None = None
        self.tabs: list[FakeTab] = []

    async def start(self, **options: Any) -> "FakeLibrary":
        self.options = options
        if self.error is not None:
            raise self.error
        return self

    async def send(self, command: Any) -> Any:
        self.sent.append(command[0])
        if command[0] == self.tab.page.get("breaks"):
            raise ConnectionError
        return "target" if command[0] == "target.create_target" else "context"

    async def update_targets(self) -> None:
        self.tabs = [self.tab]

    def stop(self) -> None:
        self.stopped = True


async def rendered(
    library: FakeLibrary, job: driver_protocol.Job = JOB
) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
    with anyio.fail_after(120):
        async with open_driver(START, library) as driver:
            return await driver.render(job)


@pytest.mark.parametrize("older", [False, True], ids=["since 0.50", "before"])
async def test_page_is_rendered_in_a_context_of_its_own_through_the_proxy(older: bool) -> None:
    library = FakeLibrary({"moves": 1})
    library.connection = library if older else None
    assert await rendered(library) == driver_protocol.Rendered(7, JOB.url, 203, "<p>Bees</p>")
    assert library.options["browser_args"] == ["--flag", "--proxy-server=http://127.0.0.1:9"]
    assert library.sent == [
        "target.create_browser_context",
        "target.create_target",
        "browser.set_download_behavior",
        "target.dispose_browser_context",
    ]
    names = [name for name, _, _ in library.tab.sent]
    assert {"fetch.continue_request", "fetch.continue_with_auth"} <= set(names)
    assert library.tab.closed
    assert library.stopped


async def test_a_screenshot_is_taken_from_the_top() -> None:
    library = FakeLibrary({"height": 900, "png": base64.b64encode(b"PNG").decode()})
    answer = await rendered(library, replace(JOB, picture=True))
    assert isinstance(answer, driver_protocol.Rendered)
    assert (answer.url, answer.status, answer.html) == (JOB.url, 203, "")
    assert (base64.b64decode(answer.png), answer.height, answer.page_height) == (b"PNG", 900, 900)
    (taken,) = (one for one in library.tab.sent if one[0] == "page.capture_screenshot")
    assert taken[2]["clip"][2] == {"x": 0, "y": 0, "width": 1280, "height": 900, "scale": 1}


async def test_a_page_without_an_address_has_no_screenshot() -> None:
    library = FakeLibrary({"height": 900, "png": "", "at": "about:blank"})
    answer = await rendered(library, replace(JOB, picture=True))
    assert isinstance(answer, driver_protocol.RenderFailed)
    assert answer.problem == "navigation"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ({"error": "net::ERR_NAME_NOT_RESOLVED"}, "navigation"),
        ({"at": "chrome-error://chromewebdata/"}, "navigation"),
        ({"html": ""}, "too_large"),
        ({"error": "net::ERR_ABORTED"}, "download"),
        ({"mime_type": "application/pdf"}, "download"),
        ({"breaks": "page.navigate"}, "driver"),
        ({"breaks": "target.create_target"}, "driver"),
        ({"moves": 9}, "driver"),
    ],
    ids=[
        "no answer",
        "error page",
        "too large",
        "download",
        "pdf",
        "library",
        "connection",
        "moves on for ever",
    ],
)
async def test_each_failure_has_its_problem(page: dict[str, Any], problem: str) -> None:
    answer = await rendered(FakeLibrary(page))
    assert isinstance(answer, driver_protocol.RenderFailed)
    assert answer.problem == problem


async def test_status_without_a_body_is_reported_with_its_url() -> None:
    library = FakeLibrary({"error": "net::ERR_HTTP_RESPONSE_CODE_FAILURE"})
    assert await rendered(library) == driver_protocol.Rendered(7, f"{JOB.url}#main", 203, "")


async def test_page_that_hangs_ends_with_its_time() -> None:
    answer = await rendered(FakeLibrary({"hangs": True}), replace(JOB, time_s=0.01))
    assert answer == driver_protocol.RenderFailed(7, "navigation", JOB.url)


async def test_browser_that_ended_is_reported() -> None:
    library = FakeLibrary({"breaks": "page.navigate"})
    library.stopped = True
    answer = await rendered(library)
    assert isinstance(answer, driver_protocol.RenderFailed)
    assert answer.problem == "gone"


@pytest.mark.parametrize(
    "error", [Exception("Failed to connect to browser"), TimeoutError()], ids=["refused", "slow"]
)
async def test_start_that_fails_is_reported(error: Exception) -> None:
    with pytest.raises(DriverFailed):
        await rendered(FakeLibrary(error=error))


async def test_end_of_the_browser_is_noticed() -> None:
    library, noticed = FakeLibrary(), anyio.Event()

    async def notice(driver: Driver) -> None:
        await driver.gone()
        noticed.set()

    with anyio.fail_after(120):
        async with open_driver(START, library) as driver:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(notice, driver)
                await anyio.wait_all_tasks_blocked()
                assert not noticed.is_set()
                library.stopped = True
            assert noticed.is_set()


@pytest.mark.skipif(find_spec("nodriver") is not None, reason="nodriver is installed here")
async def test_missing_library_says_how_to_install_it() -> None:
    with pytest.raises(DriverFailed, match="pip install nodriver"):
        async with open_driver(START):
            pass


@needs_chromium
@pytest.mark.skipif(find_spec("nodriver") is None, reason="nodriver is not installed here")
async def test_real_library_renders_pages_and_leaves_nothing() -> None:  # pragma: no cover
    script = "<div id=root></div><script>root.innerHTML = '<p>Bees dance</p>'; alert(1)</script>"
    with tempfile.TemporaryDirectory(prefix="k-") as folder:
        async with running_site() as site:
            guard = Guard(GuardPolicy(allow_private=(site.host,)))
            settings = BrowserSettings(driver="nodriver", settle_s=2)
            environ = {**os.environ, "TMPDIR": folder}
            url = parse(site.add("/app", html(script)))
            bodies: list[bytes] = []
            async with open_browser(settings, guard, environ=environ) as pool:

                async def show() -> None:
                    bodies.append((await pool.render(url, Deadline.after(60))).body)

                with anyio.fail_after(120):
                    async with anyio.create_task_group() as tasks:
                        for _ in range(6):
                            tasks.start_soon(show)
                    with pytest.raises(PageNotFound):
                        await pool.render(parse(site.url("/none")), Deadline.after(60))
        assert marked(folder) == []
    assert [b"Bees dance" in body for body in bodies] == [True] * 6

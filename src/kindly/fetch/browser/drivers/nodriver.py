"""nodriver, installed by the user, in a worker process: `python -m kindly.fetch.browser.drivers.nodriver`.

Its licence is the AGPL, so it is imported only in that process, and no part of it is part of Kindly. Only its browser
start and its raw DevTools protocol messages are used.
"""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import anyio
from anyio.abc import TaskGroup

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.driver_worker import Driver, DriverFailed, main
from kindly.fetch.browser.page_scripts import script
from kindly.fetch.browser.page_scripts.screenshot import (
    PAGE_HEIGHT,
    REMOVE,
    SCREENSHOT_WIDTH,
    pictured,
)
from kindly.fetch.browser.settle import Observation, Settling

OBSERVE_S = 0.05
CLOSE_S = 3.0
ALIVE_S = 0.2
TRIES = 3
NO_SERVICE_WORKERS = "delete Navigator.prototype.serviceWorker"


@asynccontextmanager
async def open_driver(start: driver_protocol.Start, nodriver: Any = None) -> AsyncIterator[Driver]:
    """A running Chromium, stopped at the end of the block; tests pass in another library.

    Raises:
        DriverFailed: it did not start, or the library is missing.
    """
    browser = await _started(start, nodriver or _library())
    try:
        yield browser
    finally:
        await browser.aclose()


def _library() -> Any:
    try:
        import nodriver  # type: ignore[import-not-found,unused-ignore]  # the user's own
    except ImportError as error:
        raise DriverFailed("nodriver is not installed: pip install nodriver.") from error
    return nodriver  # pragma: no cover - not part of this project


async def _started(start: driver_protocol.Start, nodriver: Any) -> "NodriverDriver":
    try:
        with anyio.fail_after(start.timeout_s):
            browser = await nodriver.start(
                browser_executable_path=start.executable,
                headless=True,
                sandbox=start.sandbox,
                user_data_dir=f"{start.profile_root}/profile",
                browser_args=[*start.flags, f"--proxy-server={start.proxy}"],
                lang=start.locale,
            )
    except TimeoutError as error:
        raise DriverFailed("Timeout: the browser did not start in time.") from error
    except Exception as error:
        # "Failed to connect to browser" is a bare Exception.
        raise DriverFailed(str(error)) from error
    return NodriverDriver(browser, start, nodriver.cdp)


class NodriverDriver:
    """A started Chromium."""

    def __init__(self, browser: Any, start: driver_protocol.Start, cdp: Any) -> None:
        self.version = "nodriver"
        self._browser = browser
        self._root = browser.connection or browser
        """The browser's own DevTools connection: since nodriver 0.50 the browser object, before that an attribute."""
        self._start = start
        self._cdp = cdp

    async def gone(self) -> None:
        """Wait until Chromium has ended."""
        while not self._browser.stopped:  # noqa: ASYNC110 - the library has no event for it
            await anyio.sleep(ALIVE_S)

    async def aclose(self) -> None:
        """Stop Chromium, and wait for its end."""
        self._browser.stop()
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self.gone()

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Render one page in a new browser context."""
        answer: driver_protocol.Rendered | driver_protocol.RenderFailed
        answer = driver_protocol.RenderFailed(job.id, "navigation", job.url)
        try:
            with anyio.move_on_after(job.time_s):
                answer = await self._rendered(job)
        except _Failed as error:
            answer = driver_protocol.RenderFailed(job.id, "driver", job.url, str(error))
        if isinstance(answer, driver_protocol.RenderFailed) and self._browser.stopped:
            return replace(answer, problem="gone")
        return answer

    async def _rendered(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        target = self._cdp.target
        context = await _sent(
            self._root,
            target.create_browser_context(
                dispose_on_detach=True,
                proxy_server=self._start.proxy,
                proxy_bypass_list="<-loopback>",
            ),
        )
        try:
            tab = await self._tab(context)
            async with anyio.create_task_group() as tasks:
                visit = _Visit(job, tab, self._cdp, tasks)
                answer = await visit.run(self._start.user_agent)
                tasks.cancel_scope.cancel()
            return answer
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True), suppress(_Failed):
                await _sent(self._root, target.dispose_browser_context(context))

    async def _tab(self, context: object) -> Any:
        target = self._cdp.target
        id = await _sent(
            self._root, target.create_target("about:blank", browser_context_id=context)
        )
        deny = self._cdp.browser.set_download_behavior("deny", browser_context_id=context)
        await _sent(self._root, deny)
        while True:
            for tab in self._browser.tabs:
                if tab.target.target_id == id:
                    return tab
            await self._browser.update_targets()


class _Failed(Exception):
    """The library failed; the text is its own."""


async def _sent(connection: Any, command: Any) -> Any:
    """The result of a DevTools command."""
    try:
        return await connection.send(command)
    except Exception as error:
        # The library raises bare exceptions, and those of its socket.
        raise _Failed(str(error)) from error


class _Visit:
    """The state of one page load."""

    def __init__(self, job: driver_protocol.Job, tab: Any, cdp: Any, tasks: TaskGroup) -> None:
        self._job = job
        self._tab = tab
        self._cdp = cdp
        self._tasks = tasks
        self._status = 0
        self._media_type = ""
        self._at = job.url
        self._pending: set[object] = set()

    async def run(self, user_agent: str) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Load the page, wait for its content, and take the visible HTML."""
        try:
            return await self._run(user_agent)
        except _Failed as error:
            return self._problem("driver", str(error))
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._tab.aclose()

    async def _run(
        self, user_agent: str
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        cdp, job = self._cdp, self._job
        end_s = anyio.current_time() + job.time_s
        self._subscribe()
        for command in (
            cdp.fetch.enable(handle_auth_requests=True),
            cdp.network.enable(),
            cdp.network.set_user_agent_override(user_agent=user_agent),
            cdp.network.set_bypass_service_worker(bypass=True),
            cdp.page.enable(),
            cdp.page.add_script_to_evaluate_on_new_document(NO_SERVICE_WORKERS),
        ):
            await _sent(self._tab, command)
        _, _, failed, *_ = await _sent(self._tab, cdp.page.navigate(job.url))
        if failed:
            return self._not_opened(str(failed))
        if self._media_type and not self._media_type.startswith(script.READABLE):
            return self._problem("download")
        await self._settle(end_s)
        return await (self._pictured() if job.picture else self._take())

    async def _pictured(self) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        page = self._cdp.page

        async def capture(height: int) -> bytes:
            clip = page.Viewport(x=0, y=0, width=SCREENSHOT_WIDTH, height=height, scale=1)
            taken = page.capture_screenshot("png", clip=clip, capture_beyond_viewport=True)
            return base64.b64decode(await _sent(self._tab, taken))

        await self._evaluate(REMOVE, list(script.BANNERS))
        height = int(await self._evaluate(PAGE_HEIGHT) or 0)
        at = str(await self._evaluate("() => location.href"))
        if not at.startswith(("http://", "https://")):
            return self._problem("navigation")
        return await pictured(self._job, at, self._status, height, capture)

    async def _take(self) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        for _ in range(TRIES):
            html = await self._evaluate(script.TAKE, [list(script.BANNERS), self._job.max_chars])
            at = await self._evaluate("() => location.href")
            if html is not None and at is not None:
                break
            await anyio.sleep(OBSERVE_S)
        else:
            return self._problem("driver")
        if not str(at).startswith(("http://", "https://")):
            return self._problem("navigation")
        if not html:
            return self._problem("too_large")
        return driver_protocol.Rendered(self._job.id, str(at), self._status, str(html))

    def _not_opened(self, error: str) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """The answer for an error of Chromium; a status without a body is reported as an error too."""
        if "ERR_HTTP_RESPONSE_CODE_FAILURE" in error:
            return driver_protocol.Rendered(self._job.id, self._at, self._status, "")
        return self._problem("download" if "ERR_ABORTED" in error else "navigation", error)

    def _problem(
        self, problem: driver_protocol.Problem, detail: str = ""
    ) -> driver_protocol.RenderFailed:
        return driver_protocol.RenderFailed(self._job.id, problem, self._at, detail)

    def _subscribe(self) -> None:
        fetch, network, page = self._cdp.fetch, self._cdp.network, self._cdp.page
        credentials = fetch.AuthChallengeResponse(
            response="ProvideCredentials", username=self._job.user, password=self._job.password
        )
        pending = self._pending

        def send(command: object) -> None:
            self._tasks.start_soon(self._send, command)

        for event, handler in (
            (fetch.RequestPaused, lambda event: send(fetch.continue_request(event.request_id))),
            (
                fetch.AuthRequired,
                lambda event: send(fetch.continue_with_auth(event.request_id, credentials)),
            ),
            (
                page.JavascriptDialogOpening,
                lambda event: send(page.handle_java_script_dialog(accept=False)),
            ),
            (network.RequestWillBeSent, self._started),
            (network.ResponseReceived, self._received),
            (network.LoadingFinished, lambda event: pending.discard(event.request_id)),
            (network.LoadingFailed, lambda event: pending.discard(event.request_id)),
        ):
            self._tab.add_handler(event, handler)

    async def _send(self, command: object) -> None:
        """Answer a request or a dialog, which may have ended already."""
        with suppress(_Failed):
            await _sent(self._tab, command)

    def _is_main(self, event: Any) -> bool:
        """Whether the event is about the top-level document: its frame has the id of the tab."""
        is_document = getattr(event.type_, "value", "") == "Document"
        return is_document and str(event.frame_id) == str(self._tab.target.target_id)

    def _started(self, event: Any) -> None:
        self._pending.add(event.request_id)
        if self._is_main(event):
            self._at = event.request.url

    def _received(self, event: Any) -> None:
        if self._is_main(event):
            self._status = int(event.response.status)
            self._media_type = str(event.response.mime_type).lower()

    async def _settle(self, end_s: float) -> None:
        """Wait until the content is complete, up to the time limit."""
        settling = Settling()
        left_s = end_s - anyio.current_time()
        with anyio.move_on_after(min(self._job.settle_s, left_s)):
            while not settling.done(anyio.current_time()):
                await anyio.sleep(OBSERVE_S)
                chars, complete = await self._evaluate(script.OBSERVE) or (0, False)
                now = anyio.current_time()
                observation = Observation(now, chars, len(self._pending), complete)
                settling = settling.observe(observation)

    async def _evaluate(self, function: str, argument: object = None) -> Any:
        """The result of a script in the page; None if a navigation destroyed its context."""
        call = f"({function})({json.dumps(argument)})"
        evaluate = self._cdp.runtime.evaluate(call, return_by_value=True, await_promise=True)
        try:
            found, *_ = await _sent(self._tab, evaluate)
        except _Failed:
            return None
        return found.value


if __name__ == "__main__":  # pragma: no cover - the worker process
    main(open_driver)

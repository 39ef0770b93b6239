"""nodriver, for those who install it themselves: runs in a worker process, `python -m kindly.fetch.browsers.nodriver`.

Its licence is the AGPL, so it is imported nowhere but in that process, and nothing of it is part of Kindly. Only its
start and its raw DevTools messages are used; the same words go over the wire as with the other driver.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from kindly.fetch.browsers import script, wire
from kindly.fetch.browsers.settle import Observation, Settling
from kindly.fetch.browsers.worker import Driver, DriverFailed, main

LOOK_S = 0.05
CLOSE_S = 3.0
ALIVE_S = 0.5
NO_SERVICE_WORKERS = "delete Navigator.prototype.serviceWorker"


@asynccontextmanager
async def open_driver(start: wire.Start, nodriver: Any = None) -> AsyncIterator[Driver]:
    """Chromium, started and at the end stopped; tests pass another library in.

    Raises:
        DriverFailed: it did not start, or the library is missing.
    """
    browser = await _started(start, nodriver or _library())
    try:
        yield browser
    finally:
        browser.stop()


def _library() -> Any:
    try:
        import nodriver  # type: ignore[import-not-found,unused-ignore]  # the user's own
    except ImportError as error:
        raise DriverFailed("nodriver is not installed: pip install nodriver.") from error
    return nodriver  # pragma: no cover - not part of this project


async def _started(start: wire.Start, nodriver: Any) -> "NodriverDriver":
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
        # "Failed to connect to browser" comes as a bare Exception.
        raise DriverFailed(str(error)) from error
    return NodriverDriver(browser, start, nodriver.cdp)


class NodriverDriver:
    """A started Chromium."""

    def __init__(self, browser: Any, start: wire.Start, cdp: Any) -> None:
        self.version = "nodriver"
        self.stop = browser.stop
        self._browser = browser
        self._start = start
        self._cdp = cdp

    async def gone(self) -> None:
        """Returns when Chromium has ended by itself."""
        while not self._browser.stopped:  # noqa: ASYNC110 - the library has no event for it
            await anyio.sleep(ALIVE_S)

    async def render(self, job: wire.Job) -> wire.Rendered | wire.RenderFailed:
        """What one page shows, in a context that nothing else was or will be seen in."""
        target, send = self._cdp.target, self._browser.connection.send
        context = await send(
            target.create_browser_context(
                dispose_on_detach=True,
                proxy_server=self._start.proxy,
                proxy_bypass_list="<-loopback>",
            )
        )
        try:
            id = await send(target.create_target("about:blank", browser_context_id=context))
            await send(self._cdp.browser.set_download_behavior("deny", browser_context_id=context))
            tab = await self._tab(id)
            async with anyio.create_task_group() as tasks:
                visit = _Visit(job, tab, self._cdp, tasks)
                answer = await visit.run(self._start.user_agent)
                tasks.cancel_scope.cancel()
            return answer
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await send(target.dispose_browser_context(context))

    async def _tab(self, id: object) -> Any:
        """The tab of a target, once the library has heard of it."""
        while True:
            for tab in self._browser.tabs:
                if tab.target_id == id:
                    return tab
            await anyio.sleep(LOOK_S)


class _Visit:
    """One page on its way: where it is, and what it waits for."""

    def __init__(self, job: wire.Job, tab: Any, cdp: Any, tasks: TaskGroup) -> None:
        self._job = job
        self._tab = tab
        self._cdp = cdp
        self._tasks = tasks
        self._status = 0
        self._pending: set[object] = set()

    async def run(self, user_agent: str) -> wire.Rendered | wire.RenderFailed:
        """Go there, wait for the content, take what is visible."""
        cdp, job = self._cdp, self._job
        end_s = anyio.current_time() + job.time_s
        self._watch()
        for command in (
            cdp.fetch.enable(handle_auth_requests=True),
            cdp.network.enable(),
            cdp.network.set_user_agent_override(user_agent=user_agent),
            cdp.page.enable(),
            cdp.page.add_script_to_evaluate_on_new_document(NO_SERVICE_WORKERS),
        ):
            await self._tab.send(command)
        _, _, failed, *_ = await self._tab.send(cdp.page.navigate(job.url))
        if failed:
            return self._problem("navigation", job.url)
        await self._settle(end_s)
        html = await self._ask(script.TAKE, [list(script.BANNERS), job.max_chars])
        at = str(await self._ask("() => location.href"))
        if not at.startswith(("http://", "https://")):
            return self._problem("navigation", at)
        return (
            wire.Rendered(job.id, at, self._status, html)
            if html
            else self._problem("too_large", at)
        )

    def _problem(self, problem: wire.Problem, at: str) -> wire.RenderFailed:
        return wire.RenderFailed(self._job.id, problem, at)

    def _watch(self) -> None:
        fetch, network, page = self._cdp.fetch, self._cdp.network, self._cdp.page
        pass_given = fetch.AuthChallengeResponse(
            response="ProvideCredentials", username=self._job.user, password=self._job.password
        )

        def say(command: object) -> None:
            self._tasks.start_soon(self._tab.send, command)

        def answered(event: Any) -> None:
            if str(getattr(event.type_, "value", "")) == "Document":
                self._status = int(event.response.status)

        on = self._tab.add_handler
        on(fetch.RequestPaused, lambda event: say(fetch.continue_request(event.request_id)))
        on(
            fetch.AuthRequired,
            lambda event: say(fetch.continue_with_auth(event.request_id, pass_given)),
        )
        on(
            page.JavascriptDialogOpening,
            lambda event: say(page.handle_java_script_dialog(accept=False)),
        )
        on(network.RequestWillBeSent, lambda event: self._pending.add(event.request_id))
        on(network.LoadingFinished, lambda event: self._pending.discard(event.request_id))
        on(network.LoadingFailed, lambda event: self._pending.discard(event.request_id))
        on(network.ResponseReceived, answered)

    async def _settle(self, end_s: float) -> None:
        """Until the content is there, or its time is up."""
        settling = Settling()
        left_s = end_s - anyio.current_time()
        with anyio.move_on_after(min(self._job.settle_s, left_s)):
            while not settling.done(anyio.current_time()):
                await anyio.sleep(LOOK_S)
                chars, complete = await self._ask(script.OBSERVE) or (0, False)
                now = anyio.current_time()
                seen = Observation(now, chars, len(self._pending), complete)
                settling = settling.seeing(seen)

    async def _ask(self, question: str, argument: object = None) -> Any:
        """What a script says inside the page; nothing when the page moved on under it."""
        call = f"({question})({json.dumps(argument)})"
        found, *_ = await self._tab.send(
            self._cdp.runtime.evaluate(call, return_by_value=True, await_promise=True)
        )
        return found.value


if __name__ == "__main__":  # pragma: no cover - the worker process
    main(open_driver)

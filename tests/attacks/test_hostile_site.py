"""One server survives every hostile response: each ends as expected, within its time and memory limits."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from kindly import pipeline
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.errors import KindlyError, SearchError
from kindly.extract import ExtractOptions
from kindly.models import OutcomeKind, Query
from kindly.search.provider import ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.settings import Settings
from tests.support.hostile.answers import LISTINGS, PATHS, SHAPES, Shape
from tests.support.hostile.case import MARK, Case
from tests.support.hostile.server import CASES
from tests.support.paths import ROOT
from tests.support.processes import killed_after

pytestmark = pytest.mark.anyio

PATIENCE_MS, LITTLE_PATIENCE_MS = 25_000, 700
PEAK_MB = 100
"""The peak memory that one case may take in the server itself."""
GROWTH_MB = 300
"""The memory growth of both servers and their processes after any case, relative to an ordinary page of one."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def process() -> "Iterator[subprocess.Popen[str]]":
    """The hostile server."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.hostile.server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        yield process
        process.stdin.close()


@pytest.fixture(scope="module")
def port(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    with killed_after(process):
        return int(process.stdout.readline())


def settings(port: int, folder: Path, **more: str) -> Settings:
    return Settings.load(
        {
            "DATA_DIR": str(folder),
            "KINDLY_ALLOW_PRIVATE": f"127.0.0.1:{port}",
            "KINDLY_BROWSER": "off",
            "KINDLY_WORKERS": "1",
            **more,
        }
    )


@dataclass(frozen=True)
class Server:
    """The one process under attack."""

    app: App
    hasty: App
    """The same with a short time-out, for responses that never end."""
    port: int
    site: int
    """The process of the hostile server."""
    idle_mb: float = 0.0

    def taken_mb(self) -> float:
        """Memory of this process and those below it, but for the hostile server."""
        children = Path("/proc/self/task").glob("*/children")
        pids = {pid for file in children for pid in file.read_text().split()}
        return sum(map(resident_mb, {"self", *pids} - {str(self.site)}))

    async def fetch(self, path: str, *, slow: bool = False) -> tuple[OutcomeKind, str]:
        """How a fetch ends, and its text."""
        app = self.hasty if slow else self.app
        url = f"http://127.0.0.1:{self.port}{path}"
        try:
            document = await pipeline.fetch(
                app.stages, url, ExtractOptions(), Deadline.after(100), force_refresh=True
            )
        except KindlyError as error:
            return error.kind, error.detail
        return OutcomeKind.OK, document.text


@pytest.fixture(scope="module")
async def server(
    anyio_backend: str,
    process: "subprocess.Popen[str]",
    port: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Server]:
    folder = tmp_path_factory.mktemp("hostile")
    patient = settings(port, folder / "patient", REQUEST_TIMEOUT_MS=str(PATIENCE_MS))
    hasty = settings(port, folder / "hasty", REQUEST_TIMEOUT_MS=str(LITTLE_PATIENCE_MS))
    async with open_app(patient) as app, open_app(hasty) as other:
        found = Server(app, other, port, process.pid)
        await found.fetch("/plain")
        yield replace(found, idle_mb=found.taken_mb())


def peak_mb(*, anew: bool = False) -> float:
    """The most memory that this process had, since it was last asked `anew`; nothing where the system does not say."""
    try:
        if anew:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def resident_mb(pid: str) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+)", status)  # a process that has just ended has none
    return int(found[1]) / 1000 if found else 0.0


def test_there_are_enough_cases_and_none_twice() -> None:
    names = [str(case) for case in CASES]
    assert len(set(names)) == len(names) >= 150
    assert len({case.group for case in CASES}) == 11


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_hostile_page_ends_as_it_should(server: Server, case: Case) -> None:
    before_mb = peak_mb(anew=True)
    with anyio.fail_after(case.seconds):
        outcome, told = await server.fetch(case.path, slow=case.slow)
    assert outcome in case.outcomes, told[:200]
    assert case.says in told
    assert not case.hides or case.hides not in told
    told.encode()
    assert peak_mb() - before_mb < PEAK_MB
    assert server.taken_mb() - server.idle_mb < GROWTH_MB

    outcome, told = await server.fetch("/plain")
    assert outcome is OutcomeKind.OK
    assert MARK in told


@pytest.fixture(scope="module")
async def vendors(
    anyio_backend: str, port: int, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, App]]:
    """An app for each provider that one server answers."""
    async with AsyncExitStack() as stack:
        folder = tmp_path_factory.mktemp("vendors")
        yield {
            name: await stack.enter_async_context(
                open_app(settings(port, folder / name, **keys(name, port)))
            )
            for name in PATHS
        }


def keys(name: str, port: int) -> dict[str, str]:
    address = f"http://127.0.0.1:{port}/vendor/{name}"
    if name == "searxng":
        return {"SEARXNG_BASE_URL": address}
    more = {"GOOGLE_SEARCH_ENGINE_ID": "engine"} if name == "google" else {}
    return {f"{name.upper()}_API_KEY": "canary", f"{name.upper()}_BASE_URL": address} | more


def served() -> list[ProviderSpec]:
    return [spec for spec in PROVIDERS if spec.needs[0].kind in {"secret", "addresses"}]


def test_every_provider_that_one_server_answers_is_here() -> None:
    assert {spec.name for spec in served()} == set(PATHS)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=str)
@pytest.mark.parametrize("provider", PATHS)
async def test_a_provider_answer_of_the_wrong_shape_is_one_error_or_borne(
    vendors: dict[str, App], provider: str, shape: Shape
) -> None:
    error: SearchError | None = None
    with anyio.fail_after(120):
        try:
            hits = await vendors[provider].stages.searcher.search(
                Query(shape.name), Deadline.after(60)
            )
        except SearchError as caught:
            error = caught
    assert (type(error) if error else None) is shape.error
    if error is None:
        assert len(hits.hits) <= 3
        repr(hits).encode()
    else:
        assert "canary" not in error.detail


@pytest.mark.parametrize("listing", LISTINGS)
async def test_a_list_of_instances_of_the_wrong_shape_is_one_error(
    port: int, tmp_path: Path, listing: str
) -> None:
    address = f"http://127.0.0.1:{port}/vendor/pool/{listing}"
    pool = settings(port, tmp_path, KINDLY_SEARXNG_POOL="1", SEARX_SPACE_URL=address)
    with anyio.fail_after(120):
        async with open_app(pool) as app:
            with pytest.raises(SearchError) as caught:
                await app.stages.searcher.search(Query("bees"), Deadline.after(60))
    assert caught.value.try_next

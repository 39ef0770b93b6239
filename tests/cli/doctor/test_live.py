"""Live checks of `doctor`: providers and proxies on loopback, working and broken."""

from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest

from kindly.cli.doctor import live
from kindly.cli.doctor.finding import CheckResult, run_checks
from kindly.search.providers import PROVIDERS
from kindly.settings import Settings
from tests.support.served_world import SERPER_KEY, environment, serper
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

SERPER = next(spec for spec in PROVIDERS if spec.name == "serper")


def settings(site: Site, folder: Path, **environ: str) -> Settings:
    return Settings.load(environment(site, folder, KINDLY_CONFIG="/dev/null", **environ))


def keyed(site: Site, folder: Path, **environ: str) -> Settings:
    return settings(site, folder, SERPER_API_KEY=SERPER_KEY, **environ)


def only(found: list[CheckResult]) -> CheckResult:
    (finding,) = found
    assert finding.state == "ok" or finding.fix
    assert SERPER_KEY not in finding.detail + finding.fix
    return finding


async def asked(chosen: Settings) -> CheckResult:
    with anyio.fail_after(120):
        return only(await live.provider(chosen, SERPER))


async def test_a_provider_that_answers_is_fine(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    finding = await asked(keyed(site, tmp_path))
    assert (finding.check, finding.state) == ("serper live", "ok")
    assert site.count("/serper/search") == 1


async def test_a_provider_without_results_is_a_note(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([]))
    assert (await asked(keyed(site, tmp_path))).state == "note"


@pytest.mark.parametrize(
    ("status", "named"),
    [(401, "SERPER_API_KEY"), (429, "plan"), (404, "SERPER_BASE_URL"), (503, "docs/providers.md")],
    ids=["key", "limit", "address", "down"],
)
async def test_a_provider_that_refuses_is_a_problem_with_its_fix(
    site: Site, tmp_path: Path, status: int, named: str
) -> None:
    site.add("/serper/search", Answer(status=status))
    finding = await asked(keyed(site, tmp_path))
    assert finding.state == "problem"
    assert named in finding.fix


async def test_an_unreachable_provider_is_a_problem(site: Site, tmp_path: Path) -> None:
    finding = await asked(keyed(site, tmp_path, SERPER_BASE_URL="http://127.0.0.1:9"))
    assert finding.state == "problem"
    assert "SERPER_BASE_URL" in finding.fix


async def test_each_provider_is_called_alone(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=503))
    site.add("/tavily/search", Answer(status=401))
    both = keyed(site, tmp_path, TAVILY_API_KEY="canary-tavily-1", KINDLY_FUSE="2")
    with anyio.fail_after(120):
        found = await run_checks(live.live_checks(both), both)
    states = {finding.check: finding.state for finding in found}
    assert states == {"DNS": "ok", "serper live": "problem", "tavily live": "problem"}


def test_the_cost_is_printed_first(tmp_path: Path) -> None:
    nothing = Settings.load({"DATA_DIR": str(tmp_path)})
    assert "no service" in live.cost(nothing).detail
    both = Settings.load(
        {"BRAVE_API_KEY": "canary-1", "EMBEDDING_SERVER_URL": "http://127.0.0.1:9"}
    )
    finding = live.cost(both)
    assert "Brave" in finding.detail
    assert "embedding server" in finding.detail
    assert "--no-live" in finding.fix


async def test_a_dead_proxy_is_a_problem_and_shows_no_password(site: Site, tmp_path: Path) -> None:
    chosen = settings(
        site,
        tmp_path,
        HTTPS_PROXY="http://user:canary-password@127.0.0.1:9",
        HTTP_PROXY=f"http://127.0.0.1:{site.port}",
    )
    found = await live.proxy(chosen)
    states = {finding.check: finding.state for finding in found}
    assert states == {"HTTPS_PROXY live": "problem", "HTTP_PROXY live": "ok"}
    assert not any("canary-password" in finding.detail + finding.fix for finding in found)


@pytest.mark.parametrize(
    ("address", "port"), [("https://127.0.0.1", 443), ("http://127.0.0.1", 80)]
)
async def test_a_proxy_without_a_port_uses_the_default_port(
    site: Site, tmp_path: Path, address: str, port: int
) -> None:
    (finding,) = await live.proxy(settings(site, tmp_path, HTTPS_PROXY=address))
    assert f"127.0.0.1:{port}" in finding.detail


class Names:
    """A resolver that knows some names."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Iterable[str]:
        self.asked.append(host)
        if host not in self.known:
            raise OSError("no such name")
        return ["192.0.2.1"]


async def test_the_names_of_providers_are_looked_up() -> None:
    chosen = Settings.load(
        {
            "SERPER_API_KEY": "canary-1",
            "BRAVE_API_KEY": "canary-2",
            "BRAVE_BASE_URL": "http://127.0.0.1:9",
            "SEARXNG_BASE_URL": "https://search.example, http://10.0.0.1:8080",
        }
    )
    names = Names("google.serper.dev", "search.example")
    assert only(await live.dns(chosen, names)).state == "ok"
    assert sorted(names.asked) == ["google.serper.dev", "search.example"]
    missing = only(await live.dns(chosen, Names("search.example")))
    assert missing.state == "problem"
    assert "google.serper.dev" in missing.detail


async def test_without_a_provider_a_well_known_name_is_looked_up() -> None:
    names = Names("example.com")
    assert only(await live.dns(Settings.load({}), names)).state == "ok"
    assert names.asked == ["example.com"]


async def test_behind_a_proxy_a_missing_name_is_only_a_note() -> None:
    chosen = Settings.load({"HTTPS_PROXY": "http://127.0.0.1:9"})
    assert only(await live.dns(chosen, Names())).state == "note"

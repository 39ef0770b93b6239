"""What every loader of the catalogue promises, whatever its source.

A new loader brings `urls.txt`, the addresses that it loads, and its recorded answers under
`tests/data/loaders/<name>/`, and must pass all of these tests.
"""

import pkgutil
from dataclasses import dataclass, field

import anyio
import pytest

from kindly.errors import KindlyError, PageUnreachable
from kindly.fetch import loaders
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.types import HopReply, HopRequest, PageRequest
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.fetch.loader_kit.loader import Loader, Loaders, LoaderSettings
from kindly.fetch.loader_kit.loader_client import LoaderChains
from kindly.fetch.loaders import LOADERS
from kindly.models import Page
from kindly.urls import parse
from tests.support.fakes import FakeSecret
from tests.support.fetch_fakes import FakeTime
from tests.support.loader_api import DATA

pytestmark = pytest.mark.anyio

KEY = "canary-0123456789"
BY_HOST = tuple(loader for loader in LOADERS if loader.name != "twin")
"""Those that know one source; the other looks for a twin of any page."""

each_loader = pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.name)


def urls_of(loader: Loader) -> list[str]:
    return (DATA / loader.name / "urls.txt").read_text(encoding="utf-8").split()


@dataclass
class SameForAll:
    """A hop that gives every address the same answer; the web page itself is out of reach."""

    status: int
    body: bytes = b""
    asked: list[HopRequest] = field(default_factory=list)

    async def __call__(self, request: HopRequest) -> HopReply:
        self.asked.append(request)
        body = self.body if self.status < 300 else b""
        return HopReply(request.url, self.status, (("content-type", "application/json"),), body)


def names_of(loader: Loader) -> list[str]:
    """The variables of its tokens."""
    return [need.name for need in loader.tokens]


def catalogue(hop: SameForAll, time: FakeTime) -> Loaders:
    chain = Redirects(hop, Guard(GuardPolicy()), 5, time.clock)
    tokens = {name: FakeSecret(KEY) for loader in LOADERS for name in names_of(loader)}
    chains = LoaderChains(chain, chain, LoaderSettings(tokens), time.clock)
    return Loaders(LOADERS, chains.open_client, chain)


async def outcome_of(url: str, hop: SameForAll) -> Page | KindlyError:
    time = FakeTime()
    try:
        with anyio.fail_after(120):
            return await catalogue(hop, time)(PageRequest(parse(url), time.deadline()))
    except KindlyError as error:
        return error


def test_catalogue_lists_every_file_of_its_folder() -> None:
    files = {module.name for module in pkgutil.iter_modules(loaders.__path__)}

    assert {loader.name for loader in LOADERS} == files
    assert len(LOADERS) == len(files)


@each_loader
def test_every_loader_has_recorded_answers_and_is_the_first_to_match_its_addresses(
    loader: Loader,
) -> None:
    assert len(list((DATA / loader.name).iterdir())) > 1
    assert urls_of(loader)
    for url in urls_of(loader):
        assert next(one for one in LOADERS if one.matches(parse(url))) is loader, url
        assert [one.name for one in BY_HOST if one.matches(parse(url))] in ([loader.name], []), url


@each_loader
@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "https://example.com/article/7",
        "http://127.0.0.1/",
        "https://[::1]/",
    ],
)
def test_no_loader_takes_just_any_page(loader: Loader, url: str) -> None:
    assert not loader.matches(parse(url))


@each_loader
def test_every_loader_has_settings_of_its_own_and_safe_addresses(loader: Loader) -> None:
    names = [name for one in LOADERS for name in (*names_of(one), *dict(one.base_urls))]

    assert all(names.count(name) == 1 for name in (*names_of(loader), *dict(loader.base_urls)))
    assert all(url.startswith("https://") for _, url in loader.base_urls)
    assert all(name == name.upper() for name in names)


@each_loader
@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(403, b"", id="refused"),
        pytest.param(404, b"", id="not-found"),
        pytest.param(429, b"", id="limited"),
        pytest.param(500, b"", id="failed"),
        pytest.param(200, b"{}", id="empty-object"),
        pytest.param(200, b"[]", id="list"),
        pytest.param(200, b'{"items": [{}], "data": 3}', id="other-shape"),
        pytest.param(200, b"", id="nothing"),
        pytest.param(200, b"\xff\xfe\x00{", id="bytes"),
    ],
)
async def test_whatever_its_source_answers_the_call_ends_in_a_page_or_a_leaf(
    loader: Loader, status: int, body: bytes
) -> None:
    for url in urls_of(loader):
        outcome = await outcome_of(url, SameForAll(status, body))
        if isinstance(outcome, KindlyError):
            assert status != 200
            assert KEY not in f"{outcome!r} {getattr(outcome, 'url', '')}"
        else:
            assert outcome.requested_url == str(parse(url))
            assert KEY not in outcome.url


@each_loader
async def test_secrets_go_to_the_declared_addresses_only(loader: Loader) -> None:
    own = {parse(base.replace("{", "").replace("}", "")).origin for _, base in loader.base_urls}
    for url in urls_of(loader):
        time, hop = FakeTime(), SameForAll(404)
        with pytest.raises(KindlyError):
            await catalogue(hop, time)(PageRequest(parse(url), time.deadline()))
        assert str(hop.asked[-1].url) == str(parse(url)) or loader.name == "twin"
        leaking = [
            request
            for request in hop.asked
            if KEY in f"{request.headers}{request.url}{request.body!r}"
        ]
        assert {request.url.origin for request in leaking} <= own


async def test_unreachable_source_ends_in_what_the_page_itself_says() -> None:
    time, hop = FakeTime(), SameForAll(500)

    with pytest.raises(PageUnreachable) as caught:
        await catalogue(hop, time)(
            PageRequest(parse("https://github.com/o/r/issues/1"), time.deadline())
        )

    assert caught.value.url == "https://github.com/o/r/issues/1"

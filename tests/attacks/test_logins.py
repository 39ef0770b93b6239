"""Login headers: they reach the exact host over TLS and nothing else, and what they bring is kept nowhere."""

import logging
from pathlib import Path

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import FetchError
from kindly.fetch import Egress, FetchLimits, Seams, open_fetcher
from kindly.fetch.chain.types import Logins
from kindly.recording.recording_file import open_recording
from kindly.recording.wrappers import RecordedHop
from kindly.redact import Redactor
from kindly.server.profiles import load_profile
from kindly.urls import parse
from tests.support.attack_engine import AnyTls, Network, running, text_of
from tests.support.fetch_fakes import PUBLIC, FakeDialler, FakeResolver, FakeTime, Seen
from tests.support.site import ARTICLE, Answer, html

pytestmark = pytest.mark.anyio

HOST = "wiki.example.com"
CANARY = "canary-login-51d0"
LOGINS = Logins({HOST: (("Authorization", f"Bearer {CANARY}"), ("Cookie", f"s={CANARY}"))})
SECRET = "The plan is to move to the coast in spring."
NAMES = {
    name: [[PUBLIC]]
    for name in (
        HOST,
        f"sub.{HOST}",
        "example.com",
        "evil.example",
        f"{HOST}.evil.example",
        "wiki.examp1e.com",
        "xn--wki-bma.example.com",
    )
}


def has_login(seen: Seen) -> bool:
    return any(CANARY in line for line in seen.lines)


def private_site(seen: Seen) -> Answer:
    """The wiki shows its page to those who are logged in; any other host shows an article."""
    if seen.target == "/robots.txt":
        return Answer(b"", 404)
    if seen.host.partition(":")[0] != HOST:
        return html(ARTICLE)
    return html(ARTICLE.replace("Bees see", f"{SECRET} Bees see")) if has_login(seen) else LOCKED


LOCKED = Answer(b"<h1>Log in</h1>", 401)


def redirecting(target: str, status: int = 302) -> Network:
    """The wiki sends every reader elsewhere."""

    def server(seen: Seen) -> Answer:
        if seen.host == HOST and seen.target == "/start":
            return Answer(b"", status, {"Location": target})
        return private_site(seen)

    return Network(NAMES, server, logins=LOGINS)


def leaks(seen: list[Seen], *, tls_names: list[str]) -> list[Seen]:
    """Requests with the login to another host than the one it is for."""
    assert set(tls_names) <= set(NAMES)
    return [one for one in seen if has_login(one) and one.host != HOST]


async def test_the_exact_host_over_tls_gets_the_login() -> None:
    async with running(Network(NAMES, private_site, logins=LOGINS)) as engine:
        with anyio.fail_after(120):
            answer = await engine.content(f"https://{HOST}/page")
    assert SECRET in text_of(answer)
    assert engine.dialler.names == [HOST]


@pytest.mark.parametrize(
    "url",
    [
        f"http://{HOST}/page",
        f"http://{HOST}:443/page",
        f"https://{HOST}:8443/page",
        f"https://sub.{HOST}/page",
        "https://example.com/page",
        f"https://{HOST}.evil.example/page",
        "https://wiki.examp1e.com/page",
        "https://wíki.example.com/page",
        f"https://evil.example/?u=https://{HOST}/",
        f"https://evil.example/{HOST}",
    ],
)
async def test_no_other_address_gets_it(url: str) -> None:
    async with running(Network(NAMES, private_site, logins=LOGINS)) as engine:
        with anyio.fail_after(120):
            answer = await engine.content(url)
    assert [one for one in engine.dialler.seen if has_login(one)] == []
    assert SECRET not in text_of(answer)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        f"http://{HOST}/plain",
        f"https://sub.{HOST}/",
        f"https://{HOST}.evil.example/",
        "https://wiki.examp1e.com/",
        f"https://{HOST}:8443/",
        "//evil.example/",
    ],
)
async def test_a_redirect_elsewhere_leaves_it_behind(target: str, status: int) -> None:
    async with running(redirecting(target, status)) as engine:
        with anyio.fail_after(120):
            await engine.content(f"https://{HOST}/start")
    with_login = [(one.host, one.target) for one in engine.dialler.seen if has_login(one)]
    assert with_login == [(HOST, "/start")]


async def test_it_is_not_sent_again_after_a_way_back() -> None:
    def server(seen: Seen) -> Answer:
        if seen.target == "/start":
            return Answer(b"", 302, {"Location": "https://evil.example/back"})
        if seen.target == "/back":
            return Answer(b"", 302, {"Location": f"https://{HOST}/page"})
        return private_site(seen)

    async with running(Network(NAMES, server, logins=LOGINS)) as engine:
        with anyio.fail_after(120):
            answer = await engine.content(f"https://{HOST}/start")
    assert SECRET not in text_of(answer)
    assert [one.target for one in engine.dialler.seen if has_login(one)] == ["/start"]


async def test_another_site_cannot_send_a_reader_to_the_private_page() -> None:
    def server(seen: Seen) -> Answer:
        if seen.host == "evil.example":
            return Answer(b"", 302, {"Location": f"https://{HOST}/page"})
        return private_site(seen)

    async with running(Network(NAMES, server, logins=LOGINS)) as engine:
        with anyio.fail_after(120):
            answer = await engine.content("https://evil.example/")
    assert SECRET not in text_of(answer)
    assert not any(map(has_login, engine.dialler.seen))


async def test_a_refresh_in_the_page_leaves_it_behind_too() -> None:
    refresh = b'<meta http-equiv="refresh" content="0; url=https://evil.example/">'

    def server(seen: Seen) -> Answer:
        return Answer(refresh) if seen.target == "/start" else private_site(seen)

    async with running(Network(NAMES, server, logins=LOGINS)) as engine:
        with anyio.fail_after(120):
            await engine.content(f"https://{HOST}/start")
    assert leaks(engine.dialler.seen, tls_names=engine.dialler.names) == []
    assert "evil.example" in [one.host for one in engine.dialler.seen]


async def test_a_redirect_within_the_host_keeps_it() -> None:
    async with running(redirecting("/page")) as engine:
        with anyio.fail_after(120):
            assert SECRET in text_of(await engine.content(f"https://{HOST}/start"))


async def test_robots_txt_is_read_without_it() -> None:
    network = Network(NAMES, private_site, logins=LOGINS, robots=True)
    async with running(network) as engine:
        with anyio.fail_after(120):
            assert SECRET in text_of(await engine.content(f"https://{HOST}/page"))
    assert [(one.target, has_login(one)) for one in engine.dialler.seen] == [
        ("/robots.txt", False),
        ("/page", True),
    ]


async def test_the_library_and_other_profiles_do_not_know_the_page() -> None:
    url = f"https://{HOST}/page"
    with anyio.fail_after(120):
        async with running(Network(NAMES, private_site, logins=LOGINS, reader=True)) as engine:
            await engine.content(url)
            asked = await engine.client.call_tool(
                "read_page", {"url": url, "question": "Where is the plan to move?"}
            )
            recalled = await engine.client.call_tool(
                "recall", {"question": "Where is the plan to move?"}
            )
        assert "coast" in text_of(asked)
        assert "coast" not in text_of(recalled)
        for profile, tool, arguments in (
            ("pages", "web.readFromPage", {"url": url, "query": "plan to move"}),
            ("chatgpt", "fetch", {"id": url}),
            ("media", "WebFetch", {"url": url}),
        ):
            async with running(
                Network(NAMES, private_site, reader=True), load_profile(profile)
            ) as other:
                answer = await other.client.call_tool(tool, arguments)
            assert "coast" not in text_of(answer)


async def fetched(path: str, logins: Logins) -> str:
    dialler = FakeDialler(private_site)
    seams = Seams(FakeResolver(NAMES), dialler, FakeTime().clock)
    limits = FetchLimits(respect_robots=False, logins=logins)
    async with open_fetcher(
        limits, egress=Egress(tls=AnyTls()), seams=seams, cache_path=path
    ) as fetcher:
        url = parse(f"https://{HOST}/page")
        assert await fetcher.cached(url) is None
        try:
            return (await fetcher.fetch(url, Deadline.after(60))).body.decode()
        except FetchError as error:
            return error.detail


def kept_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_the_page_cache_does_not_have_the_page(tmp_path: Path) -> None:
    path = tmp_path / "pages.sqlite"
    assert SECRET in await fetched(str(path), LOGINS)
    assert SECRET not in await fetched(str(path), Logins())
    kept = kept_in(tmp_path)
    assert b"coast" not in kept
    assert CANARY.encode() not in kept


async def test_a_recording_has_neither_the_login_nor_the_page(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    recording = open_recording(tape, Redactor.of(()), {})
    dialler = FakeDialler(private_site)
    seams = Seams(
        FakeResolver(NAMES),
        dialler,
        FakeTime().clock,
        wrap_http=lambda hop: RecordedHop(hop, recording, Redactor.of(())),
    )
    limits = FetchLimits(respect_robots=False, logins=LOGINS)
    async with open_fetcher(limits, egress=Egress(tls=AnyTls()), seams=seams) as fetcher:
        await fetcher.fetch(parse(f"https://{HOST}/page"), Deadline.after(60))
        await fetcher.fetch(parse("https://evil.example/page"), Deadline.after(60))
    recording.close()
    kept = tape.read_text(encoding="utf-8")
    assert "evil.example" in kept
    assert "coast" not in kept
    assert CANARY not in kept


async def test_no_log_and_no_error_shows_it(caplog: pytest.LogCaptureFixture) -> None:
    def server(seen: Seen) -> Answer:
        return Answer(b"", 500)

    caplog.set_level(logging.DEBUG)
    async with running(Network(NAMES, server, logins=LOGINS)) as engine:
        with anyio.fail_after(120):
            answer = await engine.content(f"https://{HOST}/page")
    assert answer.is_error
    assert CANARY not in answer.model_dump_json()
    own = [record.getMessage() + str(record.__dict__) for record in caplog.records]
    assert not any(CANARY in line for line in own)
    assert CANARY not in repr(LOGINS)

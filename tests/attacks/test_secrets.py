"""Canary keys through every path of the whole program: they appear nowhere but in the header that is meant for them.

The providers alone are tested in `tests/search/test_error_secrets.py`.
"""

import base64
import json
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream
from click.testing import CliRunner

from kindly.app import open_app
from kindly.app.stage_settings import browser_settings, egress, guard_policy, loader_settings
from kindly.budget import Deadline
from kindly.cli.commands import cli
from kindly.cli.logs import JsonLines
from kindly.errors import SettingsError
from kindly.extract import ExtractOptions
from kindly.models import Page, Query
from kindly.redact import MASK, Redactor
from kindly.server.http.asgi import build_http_app
from kindly.server.mcp import build_server
from kindly.server.profiles import profile_for
from kindly.settings import ENV_BY_FIELD, KEY_NAMES, TOKEN_NAMES, Settings
from kindly.urls import parse
from tests.support.chromium import needs_chromium
from tests.support.html_pages import page as page_of
from tests.support.served_world import as_json, calling, environment, serper, text_of
from tests.support.site import (
    Answer,
    Route,
    Site,
    SiteRequest,
    hang_up,
    html,
    redirect,
    running_site,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("parsers")]

KEYS = {
    name: f"canary-{name.lower().replace('_', '-')}-5b1f9c" for name in (*KEY_NAMES, *TOKEN_NAMES)
}
TOKEN = "canary-http-token-93be2c"
PASSWORD = "canary/pass+word-77d0"
PROXY = "http://me:canary%2Fpass%2Bword-77d0@127.0.0.1:9"
BASIC = base64.b64encode(f"me:{PASSWORD}".encode()).decode().rstrip("=")
STORE_PASSWORD = "canary-store-21ab7e"
ALL = {
    **KEYS,
    "GOOGLE_SEARCH_ENGINE_ID": "engine-1",
    "EMBEDDING_SERVER_API_KEY": "canary-embedding-0c44d1",
    "KINDLY_HTTP_TOKEN": TOKEN,
}
CANARIES = (
    *KEYS.values(),
    "canary-embedding-0c44d1",
    TOKEN,
    PASSWORD,
    "canary%2Fpass%2Bword-77d0",
    BASIC,
    STORE_PASSWORD,
)
PROVIDERS = {
    "serper": ("SERPER_API_KEY", "SERPER_BASE_URL", "/search"),
    "tavily": ("TAVILY_API_KEY", "TAVILY_BASE_URL", "/search"),
    "brave": ("BRAVE_API_KEY", "BRAVE_BASE_URL", "/res/v1/web/search"),
    "google": ("GOOGLE_API_KEY", "GOOGLE_BASE_URL", "/customsearch/v1"),
}


def found_in(text: str | bytes) -> list[str]:
    """The canaries that can be read in a text."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return [canary for canary in CANARIES if canary.encode() in data]


def kept_in(folder: Path) -> bytes:
    """Every byte of every file: cache, library, search state and files of the browser."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def told_of(environ: dict[str, str]) -> str:
    """The error or the representation of settings."""
    try:
        return repr(Settings.load(environ))
    except SettingsError as error:
        return error.detail


async def echo(request: SiteRequest, stream: SocketStream) -> Answer:
    """A gateway that echoes what it received, also as field names."""
    return as_json({"message": str(request.headers), str(request.headers): 1}, 400)


async def echo_as_results(request: SiteRequest, stream: SocketStream) -> Answer:
    """A gateway that echoes what it received in every shape of results."""
    said = " ".join(request.headers.values())
    item = {"title": said, "link": "https://example.invalid/", "url": "https://example.invalid/"}
    item |= {"snippet": said, "content": said, "description": said, said: said}
    results = [item]
    body = {"organic": results, "results": results, "items": results, "web": {"results": results}}
    return as_json({**body, said: said})


async def silent(request: SiteRequest, stream: SocketStream) -> None:
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()


async def cut_off(request: SiteRequest, stream: SocketStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")


FAILURES: dict[str, Route] = {
    **{str(status): Answer(status=status) for status in (400, 401, 403, 404, 429)},
    **{str(status): Answer(status=status) for status in (500, 503)},
    "not JSON": Answer(b"<html>"),
    "half JSON": Answer(b'{"organic": ['),
    "wrong shape": as_json({"organic": 7, "results": {}, "items": "x", "web": []}),
    "deep JSON": Answer(b"[" * 100_000),
    "echo": echo,
    "echo as results": echo_as_results,
    "reset": hang_up,
    "cut off": cut_off,
    "silent": silent,
    "moved": redirect("/elsewhere", 301),
    "other origin": redirect("http://localhost:{port}/elsewhere", 302),
    "other origin, body kept": redirect("http://localhost:{port}/elsewhere", 308),
}


@pytest.fixture
async def site(anyio_backend: str) -> AsyncIterator[Site]:
    async with running_site() as running:
        running.add("/elsewhere", as_json({"organic": [], "results": []}))
        yield running


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Every logger at level DEBUG."""
    names = (None, "kindly", "httpx2", "httpcore2", "mcp", "h2", "hpack", "asyncio")
    for name in names:
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """All that was logged, arguments and tracebacks included."""
    formatter = logging.Formatter("%(name)s %(message)s")
    return "\n".join(f"{formatter.format(record)} {record.args}" for record in caplog.records)


def with_all_keys(site: Site, folder: Path, **more: str) -> dict[str, str]:
    bases = {base: site.url(f"/{name}") for name, (_, base, _) in PROVIDERS.items()}
    return environment(site, folder, **{**ALL, **bases, "KINDLY_BROWSER": "off", **more})


@pytest.mark.parametrize("failure", FAILURES)
async def test_failing_providers_show_no_key_and_pass_none_on(
    failure: str, site: Site, tmp_path: Path, logs: pytest.LogCaptureFixture
) -> None:
    route = FAILURES[failure]
    if isinstance(route, Answer) and "{port}" in route.headers.get("Location", ""):
        route = redirect(route.headers["Location"].format(port=site.port), route.status)
    keys = {f"/{name}{path}": KEYS[key_name] for name, (key_name, _, path) in PROVIDERS.items()}
    for path in keys:
        site.add(path, route)
    environ = with_all_keys(site, tmp_path, KINDLY_PROVIDERS=",".join(PROVIDERS), KINDLY_FUSE="4")
    if failure == "silent":
        environ["KINDLY_SEARCH_TIMEOUT_S"] = "5"  # so that all are reached before
    with anyio.fail_after(120):
        async with calling(environ) as call:
            result = await call("web_search", query="bees", num_results=1)
    assert found_in(result.model_dump_json()) == []
    assert found_in(text_of(result)) == []
    assert found_in(logged(logs)) == []
    assert {request.path for request in site.requests} == set(keys)
    for request in site.requests:
        sent = str(request.headers) + request.target + request.body.decode("utf-8", "replace")
        assert set(found_in(sent)) <= {keys[request.path]}
        assert found_in(request.target) == []
    assert found_in(kept_in(tmp_path)) == []


@pytest.mark.parametrize("profile", ["pages", "media", "chatgpt"])
async def test_gateway_that_echoes_everything_shows_no_key_in_any_profile(
    profile: str, site: Site, tmp_path: Path, logs: pytest.LogCaptureFixture
) -> None:
    calls: dict[str, tuple[str, dict[str, object]]] = {
        "pages": ("web.search", {"query": ["bees", "wasps"]}),
        "media": ("WebSearch", {"query": "bees"}),
        "chatgpt": ("search", {"query": "bees"}),
    }
    for name, (_, _, path) in PROVIDERS.items():
        site.add(f"/{name}{path}", echo_as_results)
    more = {"KINDLY_PROFILE": profile, "KINDLY_STORE": "memory"}
    tool, arguments = calls[profile]
    with anyio.fail_after(120):
        async with calling(with_all_keys(site, tmp_path, **more)) as call:
            result = await call.client.call_tool(tool, arguments)
    assert found_in(result.model_dump_json()) == []
    assert MASK in result.model_dump_json()
    assert found_in(logged(logs)) == []


async def test_recorded_session_holds_no_key(site: Site, tmp_path: Path) -> None:
    tape = tmp_path / "session.jsonl"
    for name, (_, _, path) in PROVIDERS.items():
        site.add(f"/{name}{path}", echo_as_results)
    environ = with_all_keys(site, tmp_path / "data", KINDLY_CASSETTE=str(tape), KINDLY_FUSE="4")
    with anyio.fail_after(120):
        async with calling(environ) as call:
            await call("web_search", query="bees", num_results=1)
            await call("get_content", url=site.url("/echo"))
    assert b"/serper/search" in kept_in(tmp_path)
    assert found_in(kept_in(tmp_path)) == []


@pytest.mark.parametrize("before", range(170, 215, 9))
async def test_no_part_of_a_key_is_left_where_a_title_is_cut(
    before: int, site: Site, tmp_path: Path
) -> None:
    key = KEYS["SERPER_API_KEY"]
    title = f"{'x' * before}{key} and more {'y ' * 100}"
    item = {"title": title, "link": "https://example.invalid/", "snippet": title * 3, "position": 1}
    site.add("/serper/search", as_json({"organic": [item]}))
    with anyio.fail_after(120):
        async with calling(with_all_keys(site, tmp_path)) as call:
            (result,) = await call.search()
    assert key[:7] not in str(result)


async def test_pages_are_sent_no_key(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/echo")]))
    async with calling(with_all_keys(site, tmp_path)) as call:
        (result,) = await call.search()
    page_request = next(request for request in site.requests if request.path == "/echo")
    assert found_in(str(page_request.headers)) == []
    assert result["status"] == "ok"


async def test_a_page_that_quotes_a_key_is_masked(site: Site, tmp_path: Path) -> None:
    url = site.add("/leak", as_json({"found": KEYS["SERPER_API_KEY"], "text": "a public paste"}))
    async with calling(with_all_keys(site, tmp_path)) as call:
        page = await call.page(url)
    assert KEYS["SERPER_API_KEY"] not in str(page)
    assert "a public paste" in page["page_content"]


async def test_token_of_a_loader_does_not_follow_a_redirect_nor_show_in_an_error(
    site: Site, tmp_path: Path, logs: pytest.LogCaptureFixture
) -> None:
    seen: list[SiteRequest] = []

    async def away(request: SiteRequest, stream: SocketStream) -> Answer:
        seen.append(request)
        return redirect(f"http://localhost:{site.port}/elsewhere")

    site.add("/repos/a/b/issues/1", away)
    site.add("/questions/1", away)
    environ = with_all_keys(
        site,
        tmp_path,
        KINDLY_GITHUB_API_URL=site.url("/"),
        KINDLY_STACKEXCHANGE_API_URL=site.url("/"),
        KINDLY_ALLOW_PRIVATE=f"{site.host},localhost",
        REQUEST_TIMEOUT_MS="2000",
    )
    shown = ""
    with anyio.fail_after(120):
        async with calling(environ) as call:
            for url in ("https://github.com/a/b/issues/1", "https://stackoverflow.com/q/1"):
                shown += (await call("get_content", url=url)).model_dump_json()
    assert any(KEYS["GITHUB_TOKEN"] in str(request.headers) for request in seen)
    for request in site.requests:
        if request.path == "/elsewhere":
            assert found_in(str(request.headers) + request.target) == []
    assert found_in(shown) == []
    assert found_in(logged(logs)) == []


async def test_password_of_a_proxy_is_shown_nowhere(
    site: Site, tmp_path: Path, logs: pytest.LogCaptureFixture
) -> None:
    environ = with_all_keys(site, tmp_path, HTTP_PROXY=PROXY, HTTPS_PROXY=PROXY, NO_PROXY="x")
    settings = Settings.load(environ)
    with anyio.fail_after(120):
        async with calling(environ) as call:
            searched = await call("web_search", query="bees")
            read = await call("get_content", url="https://example.com/")
    assert searched.is_error
    assert read.is_error
    assert found_in(searched.model_dump_json() + read.model_dump_json()) == []
    assert found_in(logged(logs)) == []
    shown = f"{settings!r} {egress(settings, None)!r} {browser_settings(settings, None)!r}"  # type: ignore[arg-type]
    assert found_in(shown) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SERPER_BASE_URL", "https://me:{}@gateway.example/"),
        ("TAVILY_BASE_URL", "https://me:{}@gateway.example/x"),
        ("EMBEDDING_SERVER_URL", "https://me:{}@vectors.example/"),
        ("SEARXNG_BASE_URL", "https://me:{}@searx.example/,https://two.example/"),
        ("KINDLY_STORE", "postgresql://me:{}@db.example/kindly"),
        ("HTTPS_PROXY", "http://me:{}@proxy.example:3128"),
    ],
)
def test_password_within_an_address_is_a_secret(name: str, value: str) -> None:
    settings = Settings.load({name: value.format(STORE_PASSWORD)})
    assert STORE_PASSWORD not in repr(settings)
    assert STORE_PASSWORD not in str(settings)
    redactor = Redactor.of(settings.secrets())
    assert (
        redactor.text(f"cannot reach {value.format(STORE_PASSWORD)} ({STORE_PASSWORD})").count(
            STORE_PASSWORD
        )
        == 0
    )


def test_settings_and_what_is_built_of_them_show_no_secret() -> None:
    settings = Settings.load({**ALL, "HTTPS_PROXY": PROXY, "HTTP_PROXY": PROXY})
    assert set(KEYS.values()) <= set(settings.secrets())
    built = (settings, loader_settings(settings), guard_policy(settings), settings.hosting)
    for value in built:
        assert (
            found_in(f"{value!r} {value} {vars(value) if hasattr(value, '__dict__') else ''}") == []
        )


async def test_running_app_shows_no_secret(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", as_json({"organic": []}))
    settings = Settings.load(with_all_keys(site, tmp_path, HTTPS_PROXY=PROXY, NO_PROXY="*"))
    async with open_app(settings) as app:
        await app.stages.searcher.search(Query("bees"), Deadline.after(60))
        reached: set[int] = set()
        shown = " ".join(texts_within(app, reached, depth=6))
    assert found_in(shown) == []


def texts_within(value: object, reached: set[int], depth: int) -> Iterator[str]:
    """The reprs of a value and of what it holds, as an eager debugger would print them."""
    if id(value) in reached or depth == 0 or isinstance(value, type):
        return
    reached.add(id(value))
    if type(value).__module__.startswith("kindly"):
        yield repr(value)
    held = getattr(value, "__dict__", {})
    slots = {name: getattr(value, name, None) for name in getattr(type(value), "__slots__", ())}
    parts = [*dict(held).values(), *slots.values()] if "kindly" in type(value).__module__ else []
    if isinstance(value, Mapping):
        parts += list(value.values())
    elif isinstance(value, list | tuple | set):
        parts += list(value)
    for part in parts:
        yield from texts_within(part, reached, depth - 1)


SECRET_NAMES = {
    *KEY_NAMES,
    *TOKEN_NAMES,
    *(setting.name for setting in ENV_BY_FIELD.values() if setting.kind.values == "secret"),
}


@pytest.mark.parametrize(
    "value", ["canary-bad-8d2e \x00", "canary bad\n-8d2e", "ftp://canary-8d2e@"]
)
@pytest.mark.parametrize("name", sorted({*SECRET_NAMES, *(e.name for e in ENV_BY_FIELD.values())}))
def test_bad_value_of_a_setting_is_reported_without_any_secret(name: str, value: str) -> None:
    told = told_of({**KEYS, name: value})
    assert found_in(told) == []
    assert name not in SECRET_NAMES or "8d2e" not in told


@pytest.mark.parametrize("command", [(), *((name,) for name in sorted(cli.commands))], ids=str)
def test_help_shows_no_value_of_the_environment(command: tuple[str, ...]) -> None:
    done = CliRunner(env=ALL | {"HTTPS_PROXY": PROXY}).invoke(cli, [*command, "--help"])
    assert done.exit_code == 0
    assert found_in(done.output) == []


def test_unknown_setting_beside_keys_is_reported_without_them(tmp_path: Path) -> None:
    config = tmp_path / "kindly.toml"
    config.write_text(
        f'SERPER_API_KEY = "{KEYS["SERPER_API_KEY"]}"\nSERPER_API_KYE = "x"\n[[[', "utf-8"
    )
    done = CliRunner(env={**ALL, "KINDLY_CONFIG": str(config)}).invoke(
        cli, ["fetch", "http://x.invalid/"]
    )
    assert done.exit_code != 0
    assert found_in(done.output + str(done.exception)) == []


async def test_pages_beside_the_tools_show_no_secret(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=401))
    settings = Settings.load(with_all_keys(site, tmp_path, HTTPS_PROXY=PROXY, NO_PROXY="*"))
    server = build_server(lambda: open_app(settings), profile_for(settings))
    app = build_http_app(server, settings)
    seen = []
    with anyio.fail_after(120):
        async with httpx2.AsyncClient(
            timeout=60, transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1"
        ) as client:
            for path in ("/health", "/ready", "/metrics", "/console", "/nowhere", "/mcp"):
                for headers in ({}, {"Authorization": f"Bearer {TOKEN}x"}):
                    answer = await client.get(path, headers=headers)
                    seen.append(f"{answer.headers} {answer.text}")
    assert found_in(" ".join(seen)) == []


def test_log_line_of_an_unforeseen_error_is_masked_in_every_spelling() -> None:
    redactor = Redactor.of(Settings.load({**ALL, "HTTPS_PROXY": PROXY}).secrets())
    formatter = JsonLines(redactor)
    known: dict[object, object] = {}
    try:
        known[CANARIES[:-1]]
    except KeyError as error:
        record = logging.makeLogRecord(
            {
                "msg": "failed with %s and %r",
                "args": (PASSWORD, {"key": [*CANARIES[:-1]]}),
                "exc_info": (type(error), error, error.__traceback__),
                TOKEN: {TOKEN: TOKEN},
                "header": json.dumps(CANARIES[:-1]),
            }
        )
    assert found_in(formatter.format(record)) == []


@pytest.mark.parametrize(
    "spelled",
    [
        "pass/wörd +1%",
        "pass%2Fw%C3%B6rd%20%2B1%25",
        "pass%2Fw%C3%B6rd+%2B1%25",
        "pass/w\\u00f6rd +1%",
        base64.b64encode("pass/wörd +1%".encode()).decode(),
    ],
    ids=["plain", "quoted", "form", "JSON", "base64"],
)
def test_secret_is_masked_as_other_programs_spell_it(spelled: str) -> None:
    redactor = Redactor.of(["pass/wörd +1%"])
    assert spelled.rstrip("=") not in redactor.text(f"a {spelled} b")
    assert redactor.value({spelled: [spelled]}) == {
        MASK + "=" * spelled.count("="): [MASK + "=" * spelled.count("=")]
    }


def descendants() -> list[int]:
    """Processes that this one started, and those that they started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text("utf-8", "replace")
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


def told_by_processes() -> bytes:
    told = b""
    for pid in descendants():
        for name in ("environ", "cmdline"):
            try:
                told += Path(f"/proc/{pid}/{name}").read_bytes() + b"\n"
            except OSError:
                continue
    return told


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc")


@needs_proc
async def test_worker_processes_are_given_no_secret(site: Site, tmp_path: Path) -> None:
    environ = {**os.environ, **with_all_keys(site, tmp_path, HTTPS_PROXY=PROXY)}
    with anyio.fail_after(120):
        async with open_app(Settings.load(environ)) as app:
            document = await app.stages.extractor.extract(
                page_of("<main><p>Bees see ultraviolet light.</p></main>"),
                ExtractOptions(),
                Deadline.after(30),
            )
            told = told_by_processes()
    assert "ultraviolet" in document.text
    assert b"kindly.extract" in told
    assert found_in(told) == []


@pytest.mark.slow
@needs_proc
@needs_chromium
async def test_browser_is_given_no_secret_and_sends_none(site: Site) -> None:
    site.add(
        "/drawn", html("<div id=a></div><script>a.innerHTML='<p>Bees</p>'.repeat(90)</script>")
    )
    with tempfile.TemporaryDirectory(prefix="k-") as folder, anyio.fail_after(120):
        more = {"TMPDIR": folder, "KINDLY_BROWSER": "auto"}
        environ = {**os.environ, **with_all_keys(site, Path(folder), **more)}
        async with open_app(Settings.load(environ)) as app:
            assert app.stages.renderer is not None
            page: Page = await app.stages.renderer.render(
                parse(site.url("/drawn")), Deadline.after(90)
            )
            told = told_by_processes()
        kept = kept_in(Path(folder))
    assert b"Bees" in page.body
    assert b"--remote-debugging" in told
    assert found_in(told) == []
    assert found_in(kept) == []
    assert found_in(str([request.headers for request in site.requests])) == []


async def test_doctor_and_the_verbs_print_no_secret(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=401))
    environ = with_all_keys(
        site, tmp_path, HTTPS_PROXY=PROXY, NO_PROXY="*", KINDLY_LOG_LEVEL="debug"
    )
    commands = (
        ["doctor", "--json"],
        ["doctor"],
        ["search", "bees"],
        ["fetch", site.url("/status/500")],
        ["fetch", "--json", site.url("/article")],
    )

    def run() -> str:
        shown = ""
        for command in commands:
            done = CliRunner(env=environ).invoke(cli, command)
            shown += done.output + (repr(done.exception) if done.exception else "")
        return shown

    with anyio.fail_after(120):
        shown = await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    assert "serper" in shown.lower()
    assert found_in(shown) == []
    assert found_in(kept_in(tmp_path)) == []

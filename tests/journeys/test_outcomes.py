"""What `get_content` reports for walls and soft 404s, for pages that come late, and for pages that are too large."""

from pathlib import Path

import anyio
import pytest

from tests.support.chromium import needs_chromium
from tests.support.served_world import calling, environment, serper, text_of
from tests.support.site import ARTICLE, FRENCH, Answer, Route, Site, html, once

pytestmark = pytest.mark.anyio

CLOUDFLARE = """<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"></head><body><div class="main-wrapper" role="main">
<noscript><span id="challenge-error-text">Enable JavaScript and cookies to continue</span></noscript></div>
<script>(function(){window._cf_chl_opt = {cvId: '3', cType: 'managed'};})();</script></body></html>"""
DATADOME = """<html><head><title>shop.example</title></head><body style="margin:0">
<p id="cmsg">Please enable JS and disable any ad blocker</p>
<script src="https://ct.captcha-delivery.com/c.js"></script></body></html>"""
LOGIN = """<!doctype html><html><head><title>Sign in · Example</title></head><body><main><h1>Sign in</h1>
<form method=post action="/session"><label>Email <input type=email name=email></label>
<label>Password <input type="password" name="password"></label><button>Sign in</button></form>
<p><a href="/forgot">Forgot your password?</a></p></main></body></html>"""
PAYWALL = """<!doctype html><html><head><title>A quiet budget</title><script type="application/ld+json">
{"@type": "NewsArticle", "isAccessibleForFree": false}</script></head><body><article><h1>A quiet budget</h1>
<p>The minister spoke for an hour.</p><div class="paywall"><p>Subscribe to continue reading.</p>
<p>Already a subscriber? Log in.</p></div></article></body></html>"""
CONSENT = """<!doctype html><html><head><title>Before you continue</title></head><body><h1>Before you continue</h1>
<p>We and our 812 partners use cookies to store and access information on your device.</p>
<form><button>Accept all</button><button>Reject all</button></form></body></html>"""
SOFT_404 = """<!doctype html><html><head><title>Page not found – Example</title></head><body>
<h1>Page not found</h1><p>The page you are looking for does not exist or was moved.</p></body></html>"""
APP = """<!doctype html><html><head><title>App</title></head><body><div id="root"></div>
<noscript>You need to enable JavaScript to run this app.</noscript>
<script>root.innerHTML = '<main><h1>Drawn</h1>' + '<p>Drawn by a script for a reader.</p>'.repeat(9) + '</main>'
</script></body></html>"""
EMPTY = "<!doctype html><html><head><title>Nothing</title></head><body><div></div></body></html>"
WITHOUT_BROWSER = {"KINDLY_BROWSER": "off"}
LIMITED = Answer(b"<p>Slow down.</p>", 429, {"Retry-After": "1", "Content-Type": "text/html"})
PARAGRAPH = f"<p>{{n}} {'Bees see ultraviolet light and tell the others by a dance. ' * 9}</p>\n"


@pytest.mark.parametrize(
    ("body", "status", "outcome", "words"),
    [
        pytest.param(CLOUDFLARE, 403, "blocked", "bot check", id="Cloudflare, forbidden"),
        pytest.param(CLOUDFLARE, 503, "blocked", "bot check", id="Cloudflare, unavailable"),
        pytest.param(CLOUDFLARE, 200, "blocked", "bot check", id="Cloudflare, as if fine"),
        pytest.param(DATADOME, 403, "blocked", "bot check", id="DataDome"),
        pytest.param(LOGIN, 200, "auth", "login", id="login"),
        pytest.param(PAYWALL, 200, "paywalled", "subscribers", id="paywall"),
        pytest.param(CONSENT, 200, "blocked", "consent", id="consent"),
        pytest.param(SOFT_404, 200, "not_found", "does not exist", id="soft 404"),
        pytest.param(APP, 200, "empty", "JavaScript", id="app without a browser"),
        pytest.param(EMPTY, 200, "empty", "no readable text", id="no text"),
        pytest.param("", 200, "empty", "", id="no bytes"),
        pytest.param("", 204, "empty", "", id="no content"),
    ],
)
async def test_what_comes_in_place_of_a_page_is_reported(
    site: Site, tmp_path: Path, body: str, status: int, outcome: str, words: str
) -> None:
    answer = Answer(body.encode(), status, {"Content-Type": "text/html; charset=utf-8"})
    url = site.add("/wall", answer)
    async with calling(environment(site, tmp_path, **WITHOUT_BROWSER)) as call:
        with anyio.fail_after(120):
            result = await call("get_content", url=url)
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["status"] == outcome
    assert f"({outcome})" in text_of(result)
    assert words in text_of(result)


GRID = "".join(
    f"<li><h3><a href='/p/{name}'>{name}</a></h3><p>{name} of oiled oak, with a warranty of five years.</p>"
    "<span class='price'></span></li>"
    for name in ("Chair", "Table", "Lamp", "Bookcase")
)
SHOP = f"""<!doctype html><html><head><title>Furniture</title></head><body><nav><a href="/">Home</a></nav>
<main><h1>Furniture</h1><ul>{GRID}</ul></main><footer>© 2026 The Shop</footer><script src="/app.js"></script>
</body></html>"""


async def test_a_page_without_its_prices_is_partial_and_says_so(site: Site, tmp_path: Path) -> None:
    url = site.add("/shop", html(SHOP))
    site.add("/serper/search", serper([url]))
    environ = environment(site, tmp_path, SERPER_API_KEY="key", **WITHOUT_BROWSER)
    async with calling(environ) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
            (result,) = await call.search()
    for one in (page, result):
        assert one["status"] == "partial"
        assert "Bookcase of oiled oak" in one["page_content"]
        assert "Prices are missing" in one["page_content"]


async def test_a_refusal_of_the_proxy_is_not_the_site_s(site: Site, tmp_path: Path) -> None:
    site.add("http://shop.example/", Answer(b"", 403, {"X-Squid-Error": "ERR_ACCESS_DENIED 0"}))
    site.add("shop.example:443", Answer(b"", 403))
    proxies = {"HTTP_PROXY": site.url(), "HTTPS_PROXY": site.url(), "RESPECT_ROBOTS_TXT": "0"}
    async with calling(environment(site, tmp_path, **proxies, **WITHOUT_BROWSER)) as call:
        with anyio.fail_after(120):
            plain = await call("get_content", url="http://shop.example/")
            tunnel = await call("get_content", url="https://shop.example/")
    for result in (plain, tunnel):
        assert result.structured_content is not None
        assert result.structured_content["status"] == "unreachable"
        assert "The configured proxy, not shop.example, refused" in text_of(result)


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(once(LIMITED, html(ARTICLE)), id="429 with a short pause"),
        pytest.param(once(Answer(b"", 500), html(ARTICLE)), id="500 once"),
        pytest.param(once(Answer(b"", 503), html(ARTICLE)), id="503 once"),
    ],
)
async def test_what_passes_is_waited_for(site: Site, tmp_path: Path, route: Route) -> None:
    url = site.add("/later", route)
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert "ultraviolet" in page["page_content"]
    assert site.count("/later") == 2


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("utf-8", FRENCH.encode("latin-1")),
        ("us-ascii", FRENCH.encode()),
        ("no-such-charset", FRENCH.encode()),
        ("shift_jis", b"\xef\xbb\xbf" + FRENCH.encode()),
    ],
    ids=["Latin-1 as UTF-8", "UTF-8 as ASCII", "unknown", "a mark that says otherwise"],
)
async def test_a_charset_that_is_declared_wrongly_is_seen_through(
    site: Site, tmp_path: Path, declared: str, body: bytes
) -> None:
    url = site.add(
        "/wrong", Answer(body, headers={"Content-Type": f"text/html; charset={declared}"})
    )
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert FRENCH in page["page_content"]


async def test_a_page_without_an_end_is_read_up_to_the_limit(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(site.url("/huge"))
    assert "xxx" in page["page_content"]
    assert "only its beginning was read, up to 2 MB" in page["page_content"]


async def test_just_under_two_megabytes_are_read(site: Site, tmp_path: Path) -> None:
    url = site.add(
        "/long", html(f"<main>{''.join(PARAGRAPH.format(n=n) for n in range(3_500))}</main>")
    )
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert "ultraviolet" in page["page_content"]
    assert page["cursor"]


async def test_a_hundred_thousand_nested_tags_end_in_an_outcome(site: Site, tmp_path: Path) -> None:
    depth = 100_000
    url = site.add("/deep", html("<div>" * depth + "<p>At the bottom.</p>" + "</div>" * depth))
    async with calling(environment(site, tmp_path, **WITHOUT_BROWSER)) as call:
        with anyio.fail_after(120):
            result = await call("get_content", url=url)
            after = await call.page(site.url("/article"))
    assert (result.structured_content or {})["status"] in {"ok", "too_large", "unsupported"}
    assert "ultraviolet" in after["page_content"]


@pytest.mark.slow
@needs_chromium
async def test_a_page_that_only_a_script_draws_is_rendered(site: Site, tmp_path: Path) -> None:
    url = site.add("/app", html(APP))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert page["how"] == "browser"
    assert "Drawn by a script for a reader." in page["page_content"]


@pytest.mark.slow
@needs_chromium
async def test_a_bot_check_that_a_browser_does_not_pass_is_reported_as_one(
    site: Site, tmp_path: Path
) -> None:
    url = site.add("/wall", html(CLOUDFLARE))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            result = await call("get_content", url=url)
    assert result.is_error
    assert "(blocked)" in text_of(result)

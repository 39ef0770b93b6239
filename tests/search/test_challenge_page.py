import pytest

from kindly.errors import ProviderBlocked, ProviderRateLimited, SearchError
from kindly.search.challenge_page import LOOKED_AT, SHORT_PAGE, challenge_in, challenged
from kindly.search.providers.searxng import SPEC
from tests.support.fakes import PROVIDER_DATA

LONG = "<p>" + "text " * SHORT_PAGE


MARKUP = [
    ((PROVIDER_DATA / "duckduckgo" / "challenge.html").read_text("utf-8"), "DuckDuckGo"),
    ("<html><head><title>Just a moment...</title></head>", "Cloudflare"),
    ('<script src="/cdn-cgi/challenge-platform/h/b/orchestrate">', "Cloudflare"),
    ("<title>Attention Required! | Cloudflare</title>", "Cloudflare"),
    ('<script src="https://ct.captcha-delivery.com/c.js">', "DataDome"),
    ('<script src="https://js.hcaptcha.com/1/api.js">', "hCaptcha"),
    ('<div class="g-recaptcha" data-sitekey="x">', "reCAPTCHA"),
    ('<a href="https://www.google.com/sorry/index?continue=x">', "Google"),
    ('<script id="anubis_challenge" type="application/json">', "Anubis"),
    ('<iframe src="/_Incapsula_Resource?x=1">', "Imperva"),
    ("<title>Vercel Security Checkpoint</title>", "Vercel"),
    ("<script>window._cf_chl_opt = {}</script>", "Cloudflare"),
    ("<div id='sec-if-cpt-container'>", "Akamai"),
]
WORDS = [
    ("<h1>Verify you are human</h1>", "a bot check"),
    ("Making sure you're not a bot!", "a bot check"),
    ("Access denied", "a firewall"),
    ("IP is on BLOCKLIST - IP matches 192.0.2.0/24", "SearXNG's limiter"),
]


@pytest.mark.parametrize(("page", "vendor"), MARKUP + WORDS)
def test_challenge_is_known_by_its_mark(page: str, vendor: str) -> None:
    mark = challenge_in(page)
    assert mark is not None
    assert (mark.vendor, mark.rate_limit) == (vendor, False)


@pytest.mark.parametrize(("page", "vendor"), MARKUP)
def test_markup_counts_in_a_long_page_too(page: str, vendor: str) -> None:
    mark = challenge_in(page + LONG)
    assert mark is not None
    assert mark.vendor == vendor


@pytest.mark.parametrize("page", ["Too Many Requests", "<h1>429 Too many requests</h1>"])
def test_limiter_page_is_a_rate_limit(page: str) -> None:
    mark = challenge_in(page)
    assert mark is not None
    assert mark.rate_limit


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<p>Nothing found.</p>",
        "<p>How to answer with too many requests</p>" + LONG,
        " " * LOOKED_AT + "anomaly-modal",
        (PROVIDER_DATA / "searxng" / "no_results.html").read_text("utf-8"),
        (PROVIDER_DATA / "duckduckgo" / "no_results.html").read_text("utf-8"),
    ],
    ids=["nothing", "plain", "long-page-with-the-words", "far-below", "searxng", "duckduckgo"],
)
def test_ordinary_page_is_no_challenge(page: str) -> None:
    assert challenge_in(page) is None


@pytest.mark.parametrize(
    ("page", "leaf"), [("Too Many Requests", ProviderRateLimited), ("px-captcha", ProviderBlocked)]
)
def test_challenge_becomes_an_error_after_which_the_next_provider_is_tried(
    page: str, leaf: type[SearchError]
) -> None:
    mark = challenge_in(page)
    assert mark is not None
    error = challenged(mark, SPEC)
    assert type(error) is leaf
    assert error.try_next
    assert error.provider == "searxng"

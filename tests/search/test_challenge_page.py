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
]
WORDS = [
    ("<h1>Verify you are human</h1>", "a bot check"),
    ("Making sure you're not a bot!", "a bot check"),
    ("Access denied", "a firewall"),
    ("IP is on BLOCKLIST - IP matches 192.0.2.0/24", "SearXNG's limiter"),
]


@pytest.mark.parametrize(("page", "whose"), MARKUP + WORDS)
def test_challenge_is_known_by_its_sign(page: str, whose: str) -> None:
    sign = challenge_in(page)
    assert sign is not None
    assert (sign.whose, sign.leaf) == (whose, ProviderBlocked)


@pytest.mark.parametrize(("page", "whose"), MARKUP)
def test_markup_gives_a_long_page_away_too(page: str, whose: str) -> None:
    sign = challenge_in(page + LONG)
    assert sign is not None
    assert sign.whose == whose


@pytest.mark.parametrize("page", ["Too Many Requests", "<h1>429 Too many requests</h1>"])
def test_limiter_page_is_a_rate_limit(page: str) -> None:
    sign = challenge_in(page)
    assert sign is not None
    assert sign.leaf is ProviderRateLimited


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
def test_other_pages_are_no_challenge(page: str) -> None:
    assert challenge_in(page) is None


@pytest.mark.parametrize(
    ("page", "leaf"), [("Too Many Requests", ProviderRateLimited), ("px-captcha", ProviderBlocked)]
)
def test_challenge_becomes_an_error_after_which_another_is_asked(
    page: str, leaf: type[SearchError]
) -> None:
    sign = challenge_in(page)
    assert sign is not None
    error = challenged(sign, SPEC)
    assert type(error) is leaf
    assert error.try_next
    assert error.provider == "searxng"

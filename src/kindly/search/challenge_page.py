"""HTML that came instead of results → whose challenge or limit it is, or None.

Pure. To be asked only about a page in which no result was found: a result's own text may well speak of captchas.
"""

from dataclasses import dataclass

from kindly.errors import ProviderBlocked, ProviderRateLimited, SearchError
from kindly.search.provider import ProviderSpec

LOOKED_AT = 200_000
"""Characters; challenge pages are short, but some carry their script inline."""
SHORT_PAGE = 4_000
"""A page that only says "too many requests" is no longer than this; one that mentions it is."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What gives a page away."""

    marker: str
    """In lower case, as it stands in the HTML."""
    whose: str
    leaf: type[ProviderBlocked] | type[ProviderRateLimited] = ProviderBlocked


MARKUP = (
    Sign("anomaly-modal", "DuckDuckGo"),
    Sign("anomaly.js", "DuckDuckGo"),
    Sign("/cdn-cgi/challenge-platform/", "Cloudflare"),
    Sign("challenges.cloudflare.com", "Cloudflare"),
    Sign("cf-browser-verification", "Cloudflare"),
    Sign("cf-error-details", "Cloudflare"),
    Sign("<title>just a moment", "Cloudflare"),
    Sign("<title>attention required! | cloudflare", "Cloudflare"),
    Sign("captcha-delivery.com", "DataDome"),
    Sign("hcaptcha.com/1/api.js", "hCaptcha"),
    Sign('class="h-captcha"', "hCaptcha"),
    Sign("google.com/recaptcha/", "reCAPTCHA"),
    Sign('class="g-recaptcha"', "reCAPTCHA"),
    Sign("google.com/sorry/", "Google"),
    Sign("/sorry/index", "Google"),
    Sign('id="anubis_challenge"', "Anubis"),
    Sign("/.within.website/x/cmd/anubis/", "Anubis"),
    Sign("/.well-known/.git.gammaspectra.live/", "go-away"),
    Sign("_incapsula_resource", "Imperva"),
    Sign("px-captcha", "HUMAN"),
    Sign(".awswaf.com/", "AWS WAF"),
    Sign("ddos-guard/js-challenge", "DDoS-Guard"),
)
"""Scripts and frames that only a challenge page has."""

WORDS = (
    Sign("too many requests", "a rate limiter", ProviderRateLimited),
    Sign("rate limit exceeded", "a rate limiter", ProviderRateLimited),
    Sign("ip is on blocklist", "SearXNG's limiter"),
    Sign("unusual traffic", "a bot check"),
    Sign("are you a robot", "a bot check"),
    Sign("you are not a robot", "a bot check"),
    Sign("you're not a bot", "a bot check"),
    Sign("verify you are human", "a bot check"),
    Sign("checking your browser", "a bot check"),
    Sign("access denied", "a firewall"),
)
"""What short pages say in words; SearXNG's own limiter answers with the first, and nothing else."""


def challenge_in(page: str) -> Sign | None:
    """The first sign of a challenge or limit in a page without results."""
    text = page[:LOOKED_AT].lower()
    signs = MARKUP + WORDS if len(page) <= SHORT_PAGE else MARKUP
    return next((sign for sign in signs if sign.marker in text), None)


def challenged(sign: Sign, spec: ProviderSpec) -> SearchError:
    """The error for a page that bears the sign."""
    if sign.leaf is ProviderRateLimited:
        words = (
            f"{spec.label} answered that there were too many requests: wait before asking it again."
        )
    else:
        words = (
            f"{spec.label} answered with a bot challenge ({sign.whose}) instead of results: "
            "use another provider, or ask it less often."
        )
    return sign.leaf(words, provider=spec.name)

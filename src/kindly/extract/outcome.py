"""A page with little text → is it a bot challenge, a login, a paywall, an app shell, or merely short?

Called after extraction; a page with real content is never judged, so that an article about a wall is not one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from kindly.errors import NoContent, PageWalled
from kindly.models import OutcomeKind


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rules look at."""

    url: str
    title: str
    text: str
    """Readable text of the page, as extracted."""
    whole_text: str
    """Everything a browser without scripts would show, `noscript` included."""
    markup: str


CHALLENGE_CHARACTERS = 1_500
WALL_CHARACTERS = 900
SHELL_CHARACTERS = 250

CHALLENGE_TITLE = re.compile(
    r"just a moment|attention required! \| cloudflare|one moment,? please|checking your browser|"
    r"verify(?:ing)? (?:that )?you are (?:a )?human|are you a (?:robot|human)|robot check|human verification|"
    r"bot verification|security check(?:point)?|client challenge|ddos-guard|captcha|pardon our interruption|"
    r"access (?:to this page has been )?denied|making sure you(?:'|’)re not a bot|vercel security checkpoint|"
    r"request rejected|you have been blocked|blocked\Z|403 forbidden|please verify",
    re.I,
)
CHALLENGE_MARKUP = (
    "_cf_chl_opt",  # Cloudflare
    'id="challenge-form"',
    "captcha-delivery.com",  # DataDome
    'id="px-captcha"',  # PerimeterX
    "errors.edgesuite.net",  # Akamai
    "window.gokuProps",  # AWS WAF
    "awsWafCookieDomainList",
    "/.within.website/x/cmd/anubis",
    "sgcaptcha",  # SiteGround
)
CHALLENGE_TEXT = re.compile(
    r"verify (?:that )?you are (?:a )?human|checking your browser before|unusual traffic from your computer|"
    r"press (?:&|and) hold to confirm|request unsuccessful\. incapsula|complete the security check to access|"
    r"why (?:have i been|did i get) blocked|solve (?:this|the) captcha|"
    r"you(?:'|’)ve been blocked by network security|our systems have detected unusual",
    re.I,
)
LOGIN_TITLE = re.compile(
    r"\b(?:log ?in|sign ?in|sign ?on|anmelden|einloggen|connexion|iniciar sesión|accedi)\b", re.I
)
PASSWORD_FIELD = re.compile(r"<input[^>]{0,500}type=[\"']?password", re.I)
LOGIN_TEXT = re.compile(
    r"you (?:must|need to) (?:be logged in|log ?in|sign ?in)|"
    r"(?:log|sign) ?in to (?:continue|view|read|see|access)|(?:log|sign) ?in (?:is )?required|"
    r"join or (?:log|sign) in to",
    re.I,
)
PAYWALL_TEXT = re.compile(
    r"(?:subscribe|subscription) (?:now )?(?:to|required to) (?:continue|read|unlock|keep reading|access)|"
    r"(?:article|content|story|page) is (?:only )?(?:available|reserved|exclusive(?:ly)?)? ?(?:for|to) "
    r"(?:our )?(?:paid )?(?:subscribers|members)|already a subscriber\?|to (?:continue|keep) reading|"
    r"become a (?:subscriber|member) to (?:read|continue|unlock)|"
    r"you(?:'|’)ve reached your (?:free )?(?:article|monthly) limit",
    re.I,
)
SCRIPT_TEXT = re.compile(
    r"(?:enable|activate|turn on|requires?|need|without) (?:your )?java ?script|"
    r"java ?script (?:is|must be|seems to be|has been) (?:disabled|required|enabled|turned off|not enabled)",
    re.I,
)
SHELL_MARKUP = re.compile(
    r"<(?:div|main|section|body)[^>]{0,200}\bid=[\"']?(?:root|app|__next|__nuxt|main-app|app-root|react-root|svelte|gatsby-focus-wrapper)\b|"
    r"<app-root\b|<shreddit-app\b|ng-app=|<script[^>]{0,300}type=[\"']?module",
    re.I,
)


def refuse_walls(evidence: Evidence) -> None:
    """Return if the page holds content.

    Raises:
        PageWalled: a challenge, a login or a paywall stands in its place.
        NoContent: there is no text, or only a script would bring it.
    """
    for rule in RULES:
        rule(evidence)


def _challenge(evidence: Evidence) -> None:
    if len(evidence.text) > CHALLENGE_CHARACTERS:
        return
    if (
        any(mark in evidence.markup for mark in CHALLENGE_MARKUP)
        or CHALLENGE_TITLE.match(evidence.title.strip())
        or (len(evidence.text) <= WALL_CHARACTERS and CHALLENGE_TEXT.search(evidence.whole_text))
    ):
        raise PageWalled(
            "The site answered with a bot check instead of the page.",
            url=evidence.url,
            wall=OutcomeKind.BLOCKED,
        )


def _login(evidence: Evidence) -> None:
    if len(evidence.text) > WALL_CHARACTERS:
        return
    asks = LOGIN_TITLE.search(evidence.title) and PASSWORD_FIELD.search(evidence.markup)
    if asks or LOGIN_TEXT.search(evidence.text):
        raise PageWalled(
            "The page asks for a login before it shows anything.",
            url=evidence.url,
            wall=OutcomeKind.AUTH,
        )


def _paywall(evidence: Evidence) -> None:
    if len(evidence.text) <= WALL_CHARACTERS and PAYWALL_TEXT.search(evidence.text):
        raise PageWalled(
            "The page shows its text to subscribers only.",
            url=evidence.url,
            wall=OutcomeKind.PAYWALLED,
        )


def _shell(evidence: Evidence) -> None:
    if len(evidence.text) > SHELL_CHARACTERS:
        return
    told = SCRIPT_TEXT.search(evidence.whole_text)
    bare = (
        not evidence.text and "<script" in evidence.markup and SHELL_MARKUP.search(evidence.markup)
    )
    if told or bare:
        raise NoContent(
            "The page needs JavaScript to show its text; without it there is none.",
            url=evidence.url,
        )


def _empty(evidence: Evidence) -> None:
    if not evidence.text:
        raise NoContent("The page holds no readable text.", url=evidence.url)


RULES: tuple[Callable[[Evidence], None], ...] = (_challenge, _login, _paywall, _shell, _empty)

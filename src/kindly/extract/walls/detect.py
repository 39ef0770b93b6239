"""Wall detection: whether a page shows a bot check, login, paywall, consent form, "not found" or app shell instead.

It runs after extraction and only on pages with little text, so that an article about paywalls is not taken for one.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from kindly.errors import NeedsBrowser, NoContent, PageWalled
from kindly.extract import TEASER_CHARACTERS
from kindly.extract.walls import patterns
from kindly.frozen import frozen
from kindly.models import OutcomeKind
from kindly.text import challenges
from kindly.text.challenges import Where


@frozen
class Evidence:
    """The input of the rules."""

    url: str
    title: str
    text: str
    """Readable text of the page, as extracted."""
    whole_text: str
    """Everything a browser without scripts would show, `noscript` included."""
    markup: str


CHALLENGE_CHARACTERS: Final = 1_500
CONSENT_CHARACTERS: Final = 3_000
NOT_FOUND_CHARACTERS: Final = 1_500
WALL_CHARACTERS: Final = 900
BARE_CHARACTERS: Final = 400
SHELL_CHARACTERS: Final = 250
NOTHING_CHARACTERS: Final = 80
TEASER_WORDS: Final = 60
GALLERY_PICTURES: Final = 4
REACH_CHARACTERS: Final = 200
"""How far from one of its words a match of a pattern may reach."""
SILENT_TEASER_CHARACTERS: Final = 2_000
"""The teaser limit for a locked page whose text does not mention subscribers."""


def raise_if_walled(evidence: Evidence, *, keep_teaser: bool = False) -> None:
    """Return if the page has content; with `keep_teaser`, what a paywall leaves visible counts as content.

    Raises:
        PageWalled: it shows a challenge, a login, a paywall, a consent form or a "not found" instead.
        NeedsBrowser: only a script would load the text.
        NoContent: there is no text.
    """
    for rule in RULES:
        if rule is not _paywall or not (keep_teaser and evidence.text):
            rule(evidence)


def is_teaser(evidence: Evidence) -> bool:
    """Whether the page shows only the start of an article for subscribers."""
    if len(evidence.text) > TEASER_CHARACTERS:
        return False
    if _mentions_subscribers(evidence.text):
        return len(evidence.text) <= WALL_CHARACTERS or is_locked(evidence)
    if len(evidence.text) > SILENT_TEASER_CHARACTERS or not is_locked(evidence):
        return False
    return patterns.PAYWALL_MARKUP.search(evidence.markup) is not None


def _mentions_subscribers(text: str) -> bool:
    return _matches_near(patterns.PAYWALL_TEXT, patterns.PAYWALL_WORDS, text)


def _matches_near(pattern: re.Pattern[str], words: tuple[str, ...], text: str) -> bool:
    """Whether the pattern matches. Only the text around `words` is searched: every match contains one of them."""
    lower = text.lower()
    runs: list[tuple[int, int]] = []
    for at in sorted(at for word in words for at in _occurrences(word, lower)):
        start, end = max(0, at - REACH_CHARACTERS), at + REACH_CHARACTERS
        if runs and start <= runs[-1][1]:
            start = runs.pop()[0]
        runs.append((start, end))
    return any(pattern.search(lower, start, end) for start, end in runs)


def _occurrences(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def is_locked(evidence: Evidence) -> bool:
    """Whether the page's structured data says that it is not free to read."""
    markup = evidence.markup
    return "isAccessibleForFree" in markup and patterns.LOCKED_SCHEMA.search(markup) is not None


def _challenge(evidence: Evidence) -> None:
    size = len(evidence.text)
    title = evidence.title.strip()
    if size <= CHALLENGE_CHARACTERS and (
        challenges.in_html(_lower(evidence.markup), Where.PAGE)
        or challenges.in_title(title)
        or (size <= WALL_CHARACTERS and _is_human_check(evidence, title))
    ):
        raise PageWalled(
            "The site answered with a bot check instead of the page.",
            url=evidence.url,
            wall=OutcomeKind.BLOCKED,
        )


def _is_human_check(evidence: Evidence, title: str) -> bool:
    bare = len(evidence.text) <= BARE_CHARACTERS
    if bare and challenges.in_title(title, Where.BARE_TITLE) is not None:
        return True
    pattern, words = challenges.sentences()
    if _matches_near(pattern, words, evidence.whole_text):
        return bare or _has(evidence, Where.WIDGET)
    return not evidence.text and _has(evidence, Where.WIDGET | Where.EMPTY_PAGE)


def _has(evidence: Evidence, where: Where) -> bool:
    return challenges.in_html(_lower(evidence.markup), where) is not None


def _lower(markup: str) -> bytes:
    """The markup in lower case as far as it is ASCII, as bytes: much faster than `str.lower` on other letters."""
    return markup.encode("utf-8", "surrogatepass").lower()


def _consent(evidence: Evidence) -> None:
    size = len(evidence.text)
    if size > CONSENT_CHARACTERS or patterns.POLICY_TITLE.search(evidence.title):
        return
    named = patterns.CONSENT_ADDRESS.match(evidence.url) or patterns.CONSENT_TITLE.match(
        evidence.title.strip()
    )
    if (
        (named or _is_only_consent(evidence.text))
        and patterns.CONSENT_TEXT.search(evidence.text)
        and patterns.CONSENT_BUTTON.search(evidence.markup)
    ):
        if not named and _is_shell(evidence):
            raise _needs_browser(evidence)
        raise PageWalled(
            "The site shows a cookie and consent form (a consent wall) instead of the page.",
            url=evidence.url,
            wall=OutcomeKind.BLOCKED,
        )


def _is_only_consent(text: str) -> bool:
    if len(text) > WALL_CHARACTERS:
        return False
    other = sum(len(line) for line in text.splitlines() if not patterns.CONSENT_WORDS.search(line))
    return other <= NOTHING_CHARACTERS


def _login(evidence: Evidence) -> None:
    if len(evidence.text) > WALL_CHARACTERS:
        return
    bare = len(evidence.text) <= BARE_CHARACTERS
    has_title = patterns.LOGIN_TITLE.search(evidence.title) or patterns.LOGIN_PATH.search(
        evidence.url
    )
    if (has_title and _has_form(evidence)) or (bare and patterns.LOGIN_TEXT.search(evidence.text)):
        raise PageWalled(
            "The page requires a login.",
            url=evidence.url,
            wall=OutcomeKind.AUTH,
        )


def _has_form(evidence: Evidence) -> bool:
    if patterns.PASSWORD_FIELD.search(evidence.markup):
        return True
    bare = len(evidence.text) <= BARE_CHARACTERS
    return bare and patterns.SIGN_IN_WITH.search(evidence.whole_text) is not None


def _paywall(evidence: Evidence) -> None:
    if len(evidence.text) > TEASER_CHARACTERS:
        return
    if len(evidence.text.split()) < TEASER_WORDS and is_teaser(evidence):
        raise PageWalled(
            "The page shows its text only to subscribers.",
            url=evidence.url,
            wall=OutcomeKind.PAYWALLED,
        )


def _not_found(evidence: Evidence) -> None:
    size = len(evidence.text)
    if size > NOT_FOUND_CHARACTERS:
        return
    title = evidence.title.strip()
    has_title = patterns.NOT_FOUND_TITLE.match(title) or patterns.BARE_404.match(title)
    first_line = evidence.text.split("\n", 1)[0].strip("#* ")
    has_heading = size <= WALL_CHARACTERS and (
        patterns.NOT_FOUND_TITLE.match(first_line) or patterns.BARE_404.match(first_line)
    )
    if (has_title or has_heading) and (
        size <= NOTHING_CHARACTERS or patterns.NOT_FOUND_TEXT.search(evidence.text)
    ):
        raise PageWalled(
            "The site reports that the page does not exist, with a status of success (a soft 404).",
            url=evidence.url,
            wall=OutcomeKind.NOT_FOUND,
        )


def _shell(evidence: Evidence) -> None:
    size = len(evidence.text)
    if size > BARE_CHARACTERS or patterns.POLICY_TITLE.search(evidence.title):
        return
    says_so_elsewhere = size <= SHELL_CHARACTERS and _asks_for_scripts(evidence.whole_text)
    waiting = not evidence.text or patterns.LOADING_TEXT.match(evidence.text)
    if (
        (_asks_for_scripts(evidence.text) and (size <= SHELL_CHARACTERS or _is_shell(evidence)))
        or (says_so_elsewhere and (size <= NOTHING_CHARACTERS or _has_empty_mount(evidence)))
        or (waiting and _draws(evidence) and not _is_gallery(evidence))
    ):
        raise _needs_browser(evidence)


def _asks_for_scripts(text: str) -> bool:
    """Whether a text asks for JavaScript; most texts do not contain the word, which is fast to tell."""
    return patterns.SCRIPT_WORD in text.lower() and patterns.SCRIPT_TEXT.search(text) is not None


def _draws(evidence: Evidence) -> bool:
    markup = evidence.markup
    return "<script" in markup and patterns.DRAWING_SCRIPT.search(markup) is not None


def _has_empty_mount(evidence: Evidence) -> bool:
    return patterns.EMPTY_MOUNT.search(evidence.markup) is not None


def _is_gallery(evidence: Evidence) -> bool:
    """Whether the page shows pictures without words."""
    pictures = len(patterns.PICTURE.findall(evidence.markup))
    return pictures >= GALLERY_PICTURES and not _is_shell(evidence)


def _is_shell(evidence: Evidence) -> bool:
    return patterns.SHELL_MARKUP.search(evidence.markup) is not None


def _empty(evidence: Evidence) -> None:
    if not evidence.text:
        raise NoContent("The page has no readable text.", url=evidence.url)


def _needs_browser(evidence: Evidence) -> NeedsBrowser:
    return NeedsBrowser("The page needs JavaScript to show its text.", url=evidence.url)


RULES: tuple[Callable[[Evidence], None], ...] = (
    _challenge,
    _consent,
    _login,
    _paywall,
    _not_found,
    _shell,
    _empty,
)

import re

import pytest

from kindly.extract.walls import patterns


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (patterns.LOGIN_TITLE, "Log in to Example"),
        (patterns.LOGIN_PATH, "https://x.example/users/sign_in?next=1"),
        (patterns.PASSWORD_FIELD, "<input name=p type=password>"),
        (patterns.LOGIN_TEXT, "You must be logged in"),
        (patterns.LOCKED_SCHEMA, '"isAccessibleForFree": false'),
        (patterns.PAYWALL_MARKUP, '<div class="article-paywall">'),
        (patterns.PAYWALL_TEXT, "subscribe to continue reading"),
        (patterns.CONSENT_TITLE, "Before you continue"),
        (patterns.CONSENT_BUTTON, "<button class=x>Accept all</button>"),
        (patterns.NOT_FOUND_TITLE, "Page not found - Example"),
        (patterns.BARE_404, "404"),
        (patterns.NOT_FOUND_TEXT, "The page you are looking for does not exist"),
        (patterns.SCRIPT_TEXT, "Please enable JavaScript"),
        (patterns.SHELL_MARKUP, "<div id=root></div>"),
        (patterns.LOADING_TEXT, "Loading..."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_pattern_matches(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (patterns.LOGIN_TEXT, "You must be logged in to comment"),
        (patterns.PAYWALL_TEXT, "subscribe to our newsletter"),
        (patterns.NOT_FOUND_TITLE, "How we found the missing page"),
        (patterns.BARE_404, "404 reasons to visit Rome"),
        (patterns.SCRIPT_TEXT, "A book about JavaScript"),
        (patterns.LOADING_TEXT, "Loading docks of the world: " + "a history " * 10),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_pattern_does_not_match_ordinary_text(pattern: re.Pattern[str], text: str) -> None:
    assert not pattern.match(text)


def test_every_paywall_sentence_contains_one_of_the_words() -> None:
    for sentence in (
        "subscribe to continue",
        "this article is for subscribers",
        "you've reached your free limit",
        "unlock this article",
        "jetzt weiterlesen mit",
        "réservé aux abonnés",
    ):
        if patterns.PAYWALL_TEXT.search(sentence):
            assert any(word in sentence for word in patterns.PAYWALL_WORDS), sentence


def test_every_request_for_scripts_contains_the_word() -> None:
    for sentence in ("Please enable JavaScript", "JAVA SCRIPT is disabled", "请启用 JavaScript"):
        assert patterns.SCRIPT_TEXT.search(sentence)
        assert patterns.SCRIPT_WORD in sentence.lower()

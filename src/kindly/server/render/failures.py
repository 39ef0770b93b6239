"""Errors → what a model reads: what happened and the next step, once each. One table, specific classes first."""

import re
from collections.abc import Callable

from kindly.errors import (
    Busy,
    CallTimeout,
    ExtractError,
    FetchError,
    InputError,
    KindlyError,
    NoProvider,
    ProviderAuth,
    ProviderRejected,
    ReadError,
    SearchError,
    SelectorNotMatched,
    SettingsError,
)
from kindly.models import Outcome
from kindly.text.durations import seconds

UNEXPECTED = (
    "Internal error: the call failed, and the server's log has the reason. Try it once more."
)
SAYS_RETRY = re.compile(r"\b(?:try again|later|wait|retry)\b", re.IGNORECASE)
SAYS_WHEN = re.compile(r"\bagain in \d")
VAGUE_RETRY = re.compile(
    r"\btry again(?: later| in a moment)?|\bwait\b(?: before asking \w+ again)?", re.IGNORECASE
)
"""Advice that a known waiting time makes exact."""


def sentence(error: KindlyError, page_tool: str = "") -> str:
    """What happened, and what the model can do about it.

    `page_tool` is the tool that reads a known page, as the server offers it; it helps after a failed search.
    """
    said = next(say for kind, say in SENTENCES if isinstance(error, kind))(error)
    helps = isinstance(error, SearchError) and not isinstance(
        error, ProviderAuth | ProviderRejected
    )
    step = f"A known page can still be read with {page_tool}." if page_tool and helps else ""
    return _joined(said, step)


def explained(outcome: Outcome) -> str:
    """Why a page was not read, and the next step."""
    return _joined(outcome.detail, _next_step(outcome))


def _argument(error: KindlyError) -> str:
    """The detail, after the argument's name unless it contains that."""
    name = error.field if isinstance(error, InputError) else ""
    return error.detail if name in error.detail else f"{name}: {error.detail}"


def _configuration(error: KindlyError) -> str:
    return _joined(error.detail, "This is a configuration problem: tell the user.")


def _rejected(error: KindlyError) -> str:
    return _joined(error.detail, "Change the query or its filters.")


def _retry(error: KindlyError) -> str:
    """The detail and when to try again, which the detail may already say."""
    detail = error.detail
    if error.retry_after_s is None:
        return detail if SAYS_RETRY.search(detail) else _joined(detail, "Try again later.")
    if SAYS_WHEN.search(detail):
        return detail
    step = f"try again in {seconds(error.retry_after_s)}"
    exact, replaced = VAGUE_RETRY.subn(step, detail, count=1)
    return exact if replaced else _joined(detail, f"{step.capitalize()}.")


def _call_timeout(error: KindlyError) -> str:
    return _joined(error.detail, "Ask for fewer results, or try again.")


def _selector(error: KindlyError) -> str:
    return _joined(
        f"Not read ({error.kind}):", error.detail, "Correct the selector, or leave it out."
    )


def _page(error: KindlyError) -> str:
    return f"Not read ({error.kind}): {explained(error.outcome)}"


def _next_step(outcome: Outcome) -> str:
    if outcome.retryable and SAYS_RETRY.search(outcome.detail):
        return ""
    if outcome.retryable and outcome.retry_after_s is not None:
        return f"Try again in {seconds(outcome.retry_after_s)}, or use another source."
    return outcome.next_step


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


SENTENCES: tuple[tuple[type[KindlyError], Callable[[KindlyError], str]], ...] = (
    (InputError, _argument),
    (SettingsError, _configuration),
    (Busy, _retry),
    (CallTimeout, _call_timeout),
    (NoProvider, _configuration),
    (ProviderAuth, _configuration),
    (ProviderRejected, _rejected),
    (SearchError, _retry),
    (FetchError, _page),
    (SelectorNotMatched, _selector),
    (ExtractError, _page),
    (ReadError, _configuration),
)

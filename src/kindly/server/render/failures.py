"""Errors → what a model reads: what happened and the next step, once each. One table, specific classes first."""

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
    """Why a page was not read, and the next step. The same failure gives the same text: waiting times are not in it."""
    return _joined(outcome.detail, outcome.next_step)


def _argument(error: KindlyError) -> str:
    """The detail, after the argument's name unless it contains that."""
    name = error.field if isinstance(error, InputError) else ""
    return error.detail if name in error.detail else f"{name}: {error.detail}"


def _configuration(error: KindlyError) -> str:
    return _joined(error.detail, "This is a configuration problem: tell the user.")


def _rejected(error: KindlyError) -> str:
    return _joined(error.detail, "Change the query or its filters.")


def _retry(error: KindlyError) -> str:
    """The detail, and when to try again."""
    wait_s = error.retry_after_s
    when = "later" if wait_s is None else f"in {seconds(wait_s)}"
    return _joined(error.detail, f"Try again {when}.")


def _call_timeout(error: KindlyError) -> str:
    return _joined(error.detail, "Ask for fewer results, or try again.")


def _selector(error: KindlyError) -> str:
    return _joined(
        f"Not read ({error.kind}):", error.detail, "Correct the selector, or leave it out."
    )


def _page(error: KindlyError) -> str:
    """As in the page's note; where the waiting time is known, with that."""
    outcome, step = error.outcome, error.outcome.next_step
    if outcome.retryable and outcome.retry_after_s is not None:
        step = f"Try again in {seconds(outcome.retry_after_s)}, or use another source."
    return _joined(f"Not read ({error.kind}):", outcome.detail, step)


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

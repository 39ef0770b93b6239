"""Our error → the sentence that a model reads: one table, the most particular class first."""

from collections.abc import Callable

from kindly.errors import (
    ExtractError,
    FetchError,
    InputError,
    KindlyError,
    NoProvider,
    ProviderAuth,
    ProviderRateLimited,
    ProviderRejected,
    SearchError,
    SettingsError,
)
from kindly.models import Outcome

UNEXPECTED = (
    "Internal error: the call failed for a reason that is in the server's log. Try it once more."
)


def _plain(error: KindlyError) -> str:
    return error.detail


def _configuration(error: KindlyError) -> str:
    return f"{error.detail} This is a matter of configuration: tell the user."


def _rejected(error: KindlyError) -> str:
    return f"{error.detail} Change the query or its filters."


def _later(error: KindlyError) -> str:
    return f"{error.detail} {_when(error)} A known page can still be read with get_content."


def _page(error: KindlyError) -> str:
    step = Outcome(error.outcome).next_step
    wait = f" {_when(error)}" if error.retry_after_s is not None else ""
    return f"Not read ({error.outcome}): {error.detail} {step}{wait}"


def _when(error: KindlyError) -> str:
    if error.retry_after_s is None:
        return "Try again later."
    return f"Try again in {error.retry_after_s:.0f} seconds."


SENTENCES: tuple[tuple[type[KindlyError], Callable[[KindlyError], str]], ...] = (
    (InputError, _plain),
    (SettingsError, _configuration),
    (NoProvider, _configuration),
    (ProviderAuth, _configuration),
    (ProviderRejected, _rejected),
    (ProviderRateLimited, _later),
    (SearchError, _later),
    (FetchError, _page),
    (ExtractError, _page),
)


def sentence(error: KindlyError) -> str:
    """What a model is told of an error: what happened, and what it can do."""
    return next(say for kind, say in SENTENCES if isinstance(error, kind))(error)

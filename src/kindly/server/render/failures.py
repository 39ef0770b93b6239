"""Our error → the sentence that a model reads: one table, the most particular class first."""

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
    ProviderRateLimited,
    ProviderRejected,
    ReadError,
    SearchError,
    SettingsError,
)
from kindly.models import Outcome

UNEXPECTED = (
    "Internal error: the call failed for a reason that is in the server's log. Try it once more."
)


def _named(error: KindlyError) -> str:
    """The sentence, with the argument's name before it if it does not have it already."""
    name = error.field if isinstance(error, InputError) else ""
    return error.detail if name in error.detail else f"{name}: {error.detail}"


def _configuration(error: KindlyError) -> str:
    return f"{error.detail} This is a matter of configuration: tell the user."


def _rejected(error: KindlyError) -> str:
    return f"{error.detail} Change the query or its filters."


def _later(error: KindlyError) -> str:
    return f"{error.detail} {_when(error)} A known page can still be read with get_content."


def _soon(error: KindlyError) -> str:
    return f"{error.detail} {_when(error)}"


def _fewer(error: KindlyError) -> str:
    return f"{error.detail} Ask for fewer results, or try again."


def _page(error: KindlyError) -> str:
    step = Outcome(error.kind).next_step
    wait = f" {_when(error)}" if error.retry_after_s is not None else ""
    return f"Not read ({error.kind}): {error.detail} {step}{wait}"


def _when(error: KindlyError) -> str:
    if error.retry_after_s is None:
        return "Try again later."
    return f"Try again in {error.retry_after_s:.0f} seconds."


SENTENCES: tuple[tuple[type[KindlyError], Callable[[KindlyError], str]], ...] = (
    (InputError, _named),
    (SettingsError, _configuration),
    (Busy, _soon),
    (CallTimeout, _fewer),
    (NoProvider, _configuration),
    (ProviderAuth, _configuration),
    (ProviderRejected, _rejected),
    (ProviderRateLimited, _later),
    (SearchError, _later),
    (FetchError, _page),
    (ExtractError, _page),
    (ReadError, _configuration),
)


def sentence(error: KindlyError) -> str:
    """What a model is told of an error: what happened, and what it can do."""
    return next(say for kind, say in SENTENCES if isinstance(error, kind))(error)

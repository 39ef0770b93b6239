"""Every error of the tree has a sentence that says what happened and what to do."""

import pytest

from kindly import errors
from kindly.errors import (
    CallTimeout,
    CursorExpired,
    InputError,
    KindlyError,
    MediaUnsupported,
    NoProvider,
    PageNotFound,
    PageRateLimited,
    PageTooLarge,
    PageWalled,
    ProviderAuth,
    ProviderRateLimited,
    SelectorNotMatched,
)
from kindly.models import OutcomeKind
from kindly.server.render.failures import sentence

DETAIL = "It went wrong."
URL = "https://example.com/"


def leaves(root: type[KindlyError] = KindlyError) -> list[type[KindlyError]]:
    below = [
        leaf
        for child in root.__subclasses__()
        if child.__module__.startswith("kindly.")
        for leaf in leaves(child)
    ]
    return [root, *below] if root is not KindlyError else below


def example(kind: type[KindlyError]) -> KindlyError:
    special: dict[type[KindlyError], KindlyError] = {
        CallTimeout: CallTimeout(DETAIL, limit_s=1.0),
        MediaUnsupported: MediaUnsupported(DETAIL, url=URL, media_type="image/png"),
        PageTooLarge: PageTooLarge(DETAIL, url=URL, limit_bytes=1),
        PageWalled: PageWalled(DETAIL, url=URL, wall=OutcomeKind.PAYWALLED),
        SelectorNotMatched: SelectorNotMatched(DETAIL, url=URL, selector=".x"),
        InputError: InputError(DETAIL, field="x"),
        CursorExpired: CursorExpired(DETAIL, field="cursor"),
    }
    if kind in special:
        return special[kind]
    if issubclass(kind, errors.FetchError | errors.ExtractError):
        return kind(DETAIL, url=URL)
    return kind(DETAIL)


@pytest.mark.parametrize("kind", leaves(), ids=lambda kind: kind.__name__)
def test_every_error_becomes_a_sentence(kind: type[KindlyError]) -> None:
    text = sentence(example(kind))
    assert DETAIL in text
    assert text.endswith(".")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PageNotFound(DETAIL, url=URL), ("not_found", "search")),
        (PageRateLimited(DETAIL, url=URL, retry_after_s=60), ("rate_limited", "60 seconds")),
        (ProviderRateLimited(DETAIL), ("Try again later",)),
        (ProviderRateLimited(DETAIL, retry_after_s=7), ("7 seconds",)),
        (ProviderAuth(DETAIL), ("tell the user",)),
        (NoProvider(DETAIL), ("tell the user",)),
    ],
    ids=["not found", "page wait", "search wait", "search wait known", "key", "no provider"],
)
def test_sentence_says_what_to_do(error: KindlyError, words: tuple[str, ...]) -> None:
    assert all(word in sentence(error) for word in words)

"""Every error of the tree has a sentence that says what happened and what to do."""

import ast
import re
from collections.abc import Iterator
from itertools import combinations

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
    SchemeUnsupported,
    SelectorNotMatched,
)
from kindly.models import OutcomeKind
from kindly.search import vendor_api
from kindly.search.providers import PROVIDERS
from kindly.server.render.failures import sentence
from tests.support.paths import ROOT

DETAIL = "It went wrong."
URL = "https://example.com/"
SOURCE = ROOT / "src" / "kindly"


def leaves(root: type[KindlyError] = KindlyError) -> list[type[KindlyError]]:
    below = [
        leaf
        for child in root.__subclasses__()
        if child.__module__.startswith("kindly.")
        for leaf in leaves(child)
    ]
    return [root, *below] if root is not KindlyError else below


def example(kind: type[KindlyError], detail: str = DETAIL) -> KindlyError:
    special: dict[type[KindlyError], KindlyError] = {
        CallTimeout: CallTimeout(detail, limit_s=1.0),
        MediaUnsupported: MediaUnsupported(detail, url=URL, media_type="image/png"),
        PageTooLarge: PageTooLarge(detail, url=URL, limit_bytes=1),
        PageWalled: PageWalled(detail, url=URL, wall=OutcomeKind.PAYWALLED),
        SelectorNotMatched: SelectorNotMatched(detail, url=URL, selector=".x"),
        InputError: InputError(detail, field="x"),
        CursorExpired: CursorExpired(detail, field="cursor"),
        SchemeUnsupported: SchemeUnsupported(detail, field="url"),
    }
    if kind in special:
        return special[kind]
    if issubclass(kind, errors.FetchError | errors.ExtractError):
        return kind(detail, url=URL)
    return kind(detail)


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


TYPICAL = {
    "SettingsError": ("KINDLY_ARCHIVE from the environment is not valid: it must be 1 or 0.",),
    "Busy": ("The server is busy: it runs 128 calls, its limit.",),
    "CallTimeout": ("No answer within 50 seconds.",),
    "InputError": ("query is required.", "max_tokens: must be at least 500, not 1."),
    "CursorExpired": ("The page behind this cursor is no longer kept: call again without cursor.",),
    "SchemeUnsupported": ("Only http and https URLs can be fetched.",),
    "NoProvider": ("No search provider is configured: set SERPER_API_KEY or TAVILY_API_KEY.",),
    "ProviderUnreachable": ("Serper could not be reached (ConnectError): check the network.",),
    "CertificateRefused": ("The certificate of SearXNG was not accepted.",),
    "ProviderTimeout": ("Serper did not answer in time.",),
    "ProviderFailed": ("Serper returned a server error (HTTP 500).",),
    "ProviderRateLimited": ("Serper's rate limit or quota is reached (HTTP 429): check its plan.",),
    "ProviderBlocked": ("SearXNG shows a bot check: set up another provider.",),
    "PoolExhausted": ("No available SearXNG instances: 3 were called and did not answer.",),
    "ProviderAnswerInvalid": ("Serper sent an answer that is not valid JSON.",),
    "ProviderAuth": ("Serper refused the key (HTTP 401): check SERPER_API_KEY.",),
    "ProviderRejected": ("Serper rejected the request (HTTP 400).",),
    "AddressRefused": ("The address 127.0.0.1 is private and may not be fetched.",),
    "RobotsRefused": ("The robots.txt of example.com forbids this page.",),
    "PageNotFound": ("There is no such page (HTTP 404).",),
    "PageForbidden": ("The site refuses the request (HTTP 403).",),
    "PageChallenged": ("The site answered with a bot check instead of the page.",),
    "PageRateLimited": ("The site limits requests (HTTP 429).",),
    "PageUnreachable": ("The name example.com could not be looked up.",),
    "BrowserUnavailable": (
        "The browser did not start: 3 attempts failed. Run `kindly doctor` to see why.",
    ),
    "PageTimeout": ("The page did not arrive within 20 seconds.",),
    "PageTooLarge": ("The page is larger than the limit of 5000000 bytes.",),
    "MediaUnsupported": ("The address holds an image (12 bytes), which cannot be read as text.",),
    "NoContent": ("The page has no readable text.", "The page holds no readable text."),
    "NeedsBrowser": ("The page needs JavaScript to show its text; without it there is none.",),
    "PageWalled": ("The page shows its text to subscribers only.",),
    "SelectorNotMatched": ("The selector .x matches nothing on the page.",),
    "ExtractionFailed": ("The parser failed on the page, which may be too large.",),
    "ExtractionKilled": ("The parser was killed while it read the page.",),
    "ExtractionLate": ("There was no time left to read the page: too many were being read.",),
    "StoreUnavailable": ("The library at /data/library.sqlite cannot be used: disk full.",),
    "StoreRefused": ("The library was written by a newer version of Kindly.",),
    "ModelMismatch": ("The library has vectors of another model: run `kindly library rebuild`.",),
    "EmbeddingsDown": ("The embedding server returned no vectors: connection refused.",),
}
BRANCHES = {"SearchError", "FetchError", "ExtractError", "ReadError"}
CASES = [
    (kind, detail, wait)
    for kind in leaves()
    if kind.__module__ == "kindly.errors" and kind.__name__ not in BRANCHES
    for detail in TYPICAL[kind.__name__]
    for wait in (None, 1.0, 30.0)
]
STOP_WORDS = {"the", "a", "an", "it", "is", "of", "or", "to", "in", "and", "can", "be", "with"}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - STOP_WORDS


def overlap(one: str, other: str) -> float:
    """The share of the shorter sentence's words that the other one has too."""
    smaller, larger = sorted((words(one), words(other)), key=len)
    return len(smaller & larger) / len(smaller) if smaller else 0.0


@pytest.mark.parametrize(
    ("kind", "detail", "wait_s"),
    CASES,
    ids=[f"{kind.__name__}-{len(detail)}-{wait}" for kind, detail, wait in CASES],
)
def test_no_sentence_says_a_thing_twice(
    kind: type[KindlyError], detail: str, wait_s: float | None
) -> None:
    text = sentence(example(kind, detail).replace(retry_after_s=wait_s), "get_content")
    sentences = [part for part in re.split(r"(?<=[.:;]) ", text) if words(part)]
    assert [pair for pair in combinations(sentences, 2) if overlap(*pair) > 0.6] == []
    assert len(re.findall(r"\btry (?:it )?(?:again|once more)|\bwait\b", text, re.I)) <= 1
    assert not re.search(r"\b1 seconds|\b(?:[02-9]|\d\d+) second\b", text)
    assert text.endswith(".")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ProviderRateLimited("Brave failed."), "Brave failed. Try again later."),
        (
            ProviderRateLimited("Brave failed.", retry_after_s=5),
            "Brave failed. Try again in 5 seconds.",
        ),
    ],
    ids=["vague", "exact"],
)
def test_the_waiting_time_is_said_once(error: KindlyError, text: str) -> None:
    assert sentence(error) == text
    assert sentence(error, "WebFetch") == f"{text} A known page can still be read with WebFetch."


def texts_of_errors() -> Iterator[str]:
    """What the code passes to an error other than one of input, and the sentences for HTTP statuses."""
    names = {kind.__name__ for kind in leaves() if not issubclass(kind, InputError)}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
                yield ast.unparse(node)
    yield from vendor_api.SENTENCES.values()
    for spec in PROVIDERS:
        yield from (*spec.status_sentences.values(), *spec.status_notes.values())


def test_no_detail_says_when_to_try_again() -> None:
    """`sentence` adds that."""
    advice = re.compile(r"\b(?:try again|later|wait|retry)\b", re.IGNORECASE)
    assert [text for text in texts_of_errors() if advice.search(text)] == []

"""Everything that can go wrong, as one tree. Leaves carry fields; `try_next` says whether another source may help.

    KindlyError
    ├── SettingsError                 a value at start is wrong or unknown
    ├── Busy                          more calls at once than are taken → retry_after_s
    ├── InputError                    an argument of this call is wrong
    │   └── CursorExpired             the page behind a cursor is no longer kept
    ├── SearchError                   → provider
    │   ├── NoProvider                no search provider is configured
    │   ├── ProviderUnreachable       network failed                       try_next
    │   │   └── CertificateRefused    its certificate cannot be verified   try_next
    │   ├── ProviderTimeout           no answer in time                    try_next
    │   ├── ProviderFailed            HTTP 5xx                             try_next
    │   ├── ProviderRateLimited       HTTP 429 → retry_after_s             try_next
    │   ├── ProviderBlocked           a challenge or unrelated results     try_next
    │   ├── PoolExhausted             no instance answered → attempted     try_next
    │   ├── ProviderAnswerInvalid     a redirect, or not the promised shape  try_next
    │   ├── ProviderAuth              HTTP 401, 402, 403: the key
    │   └── ProviderRejected          any other 4xx: the request
    ├── FetchError                    → url
    │   ├── AddressRefused            the guard says no
    │   ├── RobotsRefused             robots.txt says no
    │   ├── PageNotFound              HTTP 404, 410
    │   ├── PageForbidden             HTTP 401, 407 (auth), 403, 451, other 4xx (blocked)
    │   │   └── PageChallenged        a bot check, which a browser may pass
    │   ├── PageRateLimited           HTTP 429, 503 with Retry-After → retry_after_s
    │   ├── PageUnreachable           DNS, connection, TLS, HTTP 5xx, broken answer
    │   ├── PageTimeout               no whole answer in time
    │   └── PageTooLarge              more bytes than allowed → limit_bytes
    ├── ExtractError                  → url
    │   ├── MediaUnsupported          a type that holds no text for us → media_type
    │   ├── NoContent                 no text in the page
    │   │   └── NeedsBrowser          none before its scripts have run
    │   ├── PageWalled                challenge, login, paywall, consent or "not found" instead of content → outcome
    │   ├── SelectorNotMatched        the CSS selector found nothing → selector
    │   ├── ExtractionFailed          the parser gave up (time, memory, nesting)
    │   └── ExtractionLate            no parser was free before the deadline
    └── ReadError
        ├── StoreUnavailable          the library cannot be opened or reached
        │   └── StoreRefused          its file is newer or not ours; it is left alone
        ├── ModelMismatch             its vectors are another model's
        └── EmbeddingsDown            the embedding server gave no vectors → retry_after_s

Every leaf names its `outcome`; its `str()` is a plain sentence without secrets or page text.
"""

from typing import ClassVar

from kindly.models import OutcomeKind


class KindlyError(Exception):
    """Base of all errors that Kindly raises on purpose."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.UNREACHABLE
    try_next: ClassVar[bool] = False

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after_s = retry_after_s

    @property
    def outcome(self) -> OutcomeKind:
        """What a caller is told happened."""
        return self.kind


class SettingsError(KindlyError):
    """A setting is wrong or unknown; the text names it, where it came from, and the fix."""

    kind = OutcomeKind.REFUSED


class Busy(KindlyError):
    """The server has as many calls as it takes at once."""

    kind = OutcomeKind.RATE_LIMITED


class InputError(KindlyError):
    """An argument of a call is wrong; `field` names it."""

    kind = OutcomeKind.REFUSED

    def __init__(self, detail: str, *, field: str) -> None:
        super().__init__(detail)
        self.field = field


class CursorExpired(InputError):
    """The page that a cursor continues is not kept any more."""


class SearchError(KindlyError):
    """A search failed; `provider` is whose failure it was."""

    def __init__(
        self,
        detail: str,
        *,
        provider: str = "",
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)
        self.provider = provider
        self.status = status


class NoProvider(SearchError):
    """No search provider is configured."""

    kind = OutcomeKind.REFUSED


class ProviderUnreachable(SearchError):
    """The provider could not be reached."""

    try_next = True


class CertificateRefused(ProviderUnreachable):
    """The provider's certificate cannot be verified."""


class ProviderTimeout(SearchError):
    """The provider did not answer in time."""

    kind = OutcomeKind.TIMEOUT
    try_next = True


class ProviderFailed(SearchError):
    """The provider answered with a server error."""

    try_next = True


class ProviderRateLimited(SearchError):
    """The provider's rate limit or quota is reached."""

    kind = OutcomeKind.RATE_LIMITED
    try_next = True


class ProviderBlocked(SearchError):
    """A challenge page, or results that have nothing to do with the query, came instead of an answer."""

    kind = OutcomeKind.BLOCKED
    try_next = True


class PoolExhausted(SearchError):
    """No instance of a pool answered; `attempted` are those that were asked."""

    try_next = True

    def __init__(
        self,
        detail: str,
        *,
        provider: str = "",
        status: int | None = None,
        retry_after_s: float | None = None,
        attempted: tuple[str, ...] = (),
    ) -> None:
        super().__init__(detail, provider=provider, status=status, retry_after_s=retry_after_s)
        self.attempted = attempted


class ProviderAnswerInvalid(SearchError):
    """The provider's answer was not of the promised shape."""

    try_next = True


class ProviderAuth(SearchError):
    """The provider refused the key."""

    kind = OutcomeKind.AUTH


class ProviderRejected(SearchError):
    """The provider refused the request itself."""

    kind = OutcomeKind.REFUSED


class FetchError(KindlyError):
    """A page could not be had; `url` is the one that was asked for."""

    def __init__(
        self,
        detail: str,
        *,
        url: str,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)
        self.url = url
        self.status = status


class AddressRefused(FetchError):
    """The guard does not allow this address."""

    kind = OutcomeKind.REFUSED


class RobotsRefused(FetchError):
    """The site's robots.txt does not allow this page to be fetched."""

    kind = OutcomeKind.ROBOTS


class PageNotFound(FetchError):
    """There is no such page."""

    kind = OutcomeKind.NOT_FOUND


class PageForbidden(FetchError):
    """The site does not let us see the page: `auth` for 401 and 407, else `blocked`."""

    @property
    def outcome(self) -> OutcomeKind:
        """What a caller is told happened."""
        return OutcomeKind.AUTH if self.status in {401, 407} else OutcomeKind.BLOCKED


class PageChallenged(PageForbidden):
    """A bot check stands where the page should be; a browser may pass it."""

    @property
    def outcome(self) -> OutcomeKind:
        """What a caller is told happened."""
        return OutcomeKind.BLOCKED


class PageRateLimited(FetchError):
    """The site asks us to come back later."""

    kind = OutcomeKind.RATE_LIMITED


class PageUnreachable(FetchError):
    """The site could not be reached, or broke down while answering."""

    kind = OutcomeKind.UNREACHABLE


class PageTimeout(FetchError):
    """The page did not arrive in time."""

    kind = OutcomeKind.TIMEOUT


class PageTooLarge(FetchError):
    """The page has more bytes than allowed."""

    kind = OutcomeKind.TOO_LARGE

    def __init__(self, detail: str, *, url: str, limit_bytes: int) -> None:
        super().__init__(detail, url=url)
        self.limit_bytes = limit_bytes


class ExtractError(KindlyError):
    """A page was had but gave no text; `url` is where it came from."""

    kind = OutcomeKind.EMPTY

    def __init__(self, detail: str, *, url: str) -> None:
        super().__init__(detail)
        self.url = url


class MediaUnsupported(ExtractError):
    """The page is of a type that we cannot turn into text."""

    kind = OutcomeKind.UNSUPPORTED

    def __init__(self, detail: str, *, url: str, media_type: str) -> None:
        super().__init__(detail, url=url)
        self.media_type = media_type


class NoContent(ExtractError):
    """The page holds no text."""


class NeedsBrowser(NoContent):
    """The page holds no text until a browser has run its scripts."""


class PageWalled(ExtractError):
    """A challenge, a login, a paywall, a consent form or a "not found" stands where the content should be."""

    def __init__(self, detail: str, *, url: str, wall: OutcomeKind) -> None:
        super().__init__(detail, url=url)
        self.wall = wall

    @property
    def outcome(self) -> OutcomeKind:
        """Which wall it is."""
        return self.wall


class SelectorNotMatched(ExtractError):
    """The CSS selector matched nothing on the page."""

    def __init__(self, detail: str, *, url: str, selector: str) -> None:
        super().__init__(detail, url=url)
        self.selector = selector


class ExtractionFailed(ExtractError):
    """The parser was stopped by its clock, its memory cap or its nesting cap."""

    kind = OutcomeKind.TOO_LARGE


class ExtractionLate(ExtractError):
    """No time was left to read the page: it came late, or other pages were being read."""

    kind = OutcomeKind.TIMEOUT


class ReadError(KindlyError):
    """Reading within pages failed."""


class StoreUnavailable(ReadError):
    """The library cannot be opened or reached; `reason` is why, in the words that other files would use."""

    def __init__(self, detail: str, *, reason: str = "") -> None:
        super().__init__(detail)
        self.reason = reason or detail


class StoreRefused(StoreUnavailable):
    """The library's file is newer than this version, or not a library at all; it is left as it is."""

    kind = OutcomeKind.REFUSED


class ModelMismatch(ReadError):
    """The library's vectors were made by another model; the text names the command that rebuilds them."""

    kind = OutcomeKind.REFUSED


class EmbeddingsDown(ReadError):
    """The embedding server gave no vectors."""

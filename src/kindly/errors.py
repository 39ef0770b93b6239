"""Every error that Kindly raises, as one tree. Leaves carry fields; `try_next` says whether another provider may help.

    KindlyError
    ├── SettingsError                 a setting is wrong or unknown
    ├── Busy                          the limit of concurrent calls is reached → retry_after_s
    ├── CallTimeout                   the call did not finish in time → limit_s
    ├── InputError                    an argument of the call is wrong → field
    │   ├── CursorExpired             the page behind a cursor is no longer cached
    │   └── SchemeUnsupported         the address is neither http nor https
    ├── SearchError                   → provider, status, attempted
    │   ├── NoProvider                no search provider is configured
    │   ├── ProviderUnreachable       network failure                      try_next
    │   │   └── CertificateRefused    the certificate cannot be verified   try_next
    │   ├── ProviderTimeout           no answer in time, HTTP 408          try_next
    │   ├── ProviderFailed            HTTP 5xx                             try_next
    │   ├── ProviderRateLimited       HTTP 429 → retry_after_s             try_next
    │   ├── ProviderBlocked           a challenge or unrelated results     try_next
    │   ├── PoolExhausted             no instance answered                 try_next
    │   ├── ProviderAnswerInvalid     a redirect, or not the documented format  try_next
    │   ├── ProviderAuth              HTTP 401, 402, 403: the key
    │   └── ProviderRejected          any other 4xx: the request
    ├── FetchError                    → url, status
    │   ├── AddressRefused            the SSRF guard refuses the address
    │   ├── RobotsRefused             robots.txt forbids the page
    │   ├── PageNotFound              HTTP 404, 410
    │   ├── PageForbidden             HTTP 401, 407 (auth), 403, 451, other 4xx (blocked)
    │   │   └── PageChallenged        a bot check, which a browser may pass
    │   ├── PageRateLimited           HTTP 429, 503 with Retry-After → retry_after_s
    │   ├── PageUnreachable           DNS, connection, TLS, HTTP 5xx, invalid response
    │   │   └── BrowserUnavailable    no browser is installed, or it does not start → attempts
    │   ├── PageTimeout               no complete response in time
    │   └── PageTooLarge              more bytes than allowed → limit_bytes
    ├── ExtractError                  → url
    │   ├── MediaUnsupported          a media type without readable text → media_type
    │   ├── NoContent                 no text in the page
    │   │   └── NeedsBrowser          no text until its scripts have run
    │   ├── PageWalled                challenge, login, paywall, consent or "not found" instead of content → wall
    │   ├── SelectorNotMatched        the CSS selector matched nothing → selector
    │   ├── ExtractionFailed          the parser exceeded its time, memory or nesting limit
    │   │   └── ExtractionKilled      something else killed the parser's process
    │   └── ExtractionLate            no parser was free before the deadline
    └── ReadError
        ├── StoreUnavailable          the library cannot be opened or reached → reason
        │   └── StoreRefused          its file is newer, or not a library; it is left unchanged
        ├── ModelMismatch             its vectors were made by another model
        └── EmbeddingsDown            the embedding server returned no vectors → retry_after_s

Errors are dataclasses and are not edited after creation: `error.replace(url=...)` returns a changed copy. `detail` is a
plain sentence without secrets or page text; `kind` is the outcome in one word.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

from kindly.models import Outcome, OutcomeKind


@dataclass(eq=False, repr=False)
class KindlyError(Exception):
    """Base class of all errors that Kindly raises on purpose."""

    detail: str
    _: KW_ONLY
    retry_after_s: float | None = None

    default_kind: ClassVar[OutcomeKind] = OutcomeKind.UNREACHABLE
    try_next: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.args = (self.detail,)

    def __str__(self) -> str:
        return self.detail

    @property
    def kind(self) -> OutcomeKind:
        return self.default_kind

    @property
    def outcome(self) -> Outcome:
        """The error as a value, for an answer that reports it."""
        return Outcome(self.kind, self.detail, self.retry_after_s)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, and the same traceback."""
        return replace(self, **changes).with_traceback(self.__traceback__)


class SettingsError(KindlyError):
    """A setting is wrong or unknown; the text names the setting, its source, and the fix."""

    default_kind = OutcomeKind.REFUSED


class Busy(KindlyError):
    """The limit of concurrent calls is reached."""

    default_kind = OutcomeKind.RATE_LIMITED


@dataclass(eq=False, repr=False)
class CallTimeout(KindlyError):
    """The call as a whole did not finish within `limit_s`, whatever it was waiting for."""

    default_kind = OutcomeKind.TIMEOUT

    _: KW_ONLY
    limit_s: float


@dataclass(eq=False, repr=False)
class InputError(KindlyError):
    """An argument of a call is wrong; `field` names it."""

    default_kind = OutcomeKind.REFUSED

    _: KW_ONLY
    field: str


class CursorExpired(InputError):
    """The page that a cursor continues is no longer cached."""


class SchemeUnsupported(InputError):
    """The address has a scheme that cannot be fetched, such as `ftp:` or `mailto:`."""

    default_kind = OutcomeKind.UNSUPPORTED


@dataclass(eq=False, repr=False)
class SearchError(KindlyError):
    """A search failed; `provider` names the provider that failed, `attempted` the instances of it that were called."""

    _: KW_ONLY
    provider: str = ""
    status: int | None = None
    attempted: tuple[str, ...] = ()
    """Addresses without credentials; empty if the provider has no instances."""


class NoProvider(SearchError):
    """No search provider is configured."""

    default_kind = OutcomeKind.REFUSED


class ProviderUnreachable(SearchError):
    """The provider could not be reached."""

    try_next = True


class CertificateRefused(ProviderUnreachable):
    """The provider's TLS certificate cannot be verified."""


class ProviderTimeout(SearchError):
    """The provider did not answer in time."""

    default_kind = OutcomeKind.TIMEOUT
    try_next = True


class ProviderFailed(SearchError):
    """The provider returned a server error."""

    try_next = True


class ProviderRateLimited(SearchError):
    """The provider's rate limit or quota is reached."""

    default_kind = OutcomeKind.RATE_LIMITED
    try_next = True


class ProviderBlocked(SearchError):
    """The provider returned a challenge page, or results unrelated to the query."""

    default_kind = OutcomeKind.BLOCKED
    try_next = True


class PoolExhausted(SearchError):
    """No instance of a pool answered, or none may be called now."""

    try_next = True


class ProviderAnswerInvalid(SearchError):
    """The provider's answer does not have the documented format."""

    try_next = True


class ProviderAuth(SearchError):
    """The provider refused the API key."""

    default_kind = OutcomeKind.AUTH


class ProviderRejected(SearchError):
    """The provider refused the request itself."""

    default_kind = OutcomeKind.REFUSED


@dataclass(eq=False, repr=False)
class FetchError(KindlyError):
    """A page could not be fetched; `url` is the requested address."""

    _: KW_ONLY
    url: str
    status: int | None = None


class AddressRefused(FetchError):
    """The SSRF guard does not allow this address."""

    default_kind = OutcomeKind.REFUSED


class RobotsRefused(FetchError):
    """The site's robots.txt does not allow fetching this page."""

    default_kind = OutcomeKind.ROBOTS


class PageNotFound(FetchError):
    """The page does not exist."""

    default_kind = OutcomeKind.NOT_FOUND


class PageForbidden(FetchError):
    """The site denies access to the page: `auth` for HTTP 401 and 407, else `blocked`."""

    @property
    def kind(self) -> OutcomeKind:
        return OutcomeKind.AUTH if self.status in {401, 407} else OutcomeKind.BLOCKED


class PageChallenged(PageForbidden):
    """The site returned a bot check instead of the page; a browser may pass it."""

    @property
    def kind(self) -> OutcomeKind:
        return OutcomeKind.BLOCKED


class PageRateLimited(FetchError):
    """The site limits the rate of requests."""

    default_kind = OutcomeKind.RATE_LIMITED


class PageUnreachable(FetchError):
    """The site could not be reached, or failed while responding."""


@dataclass(eq=False, repr=False)
class BrowserUnavailable(PageUnreachable):
    """There is no browser, or it does not start; the text says which, and what to run."""

    _: KW_ONLY
    attempts: int = 0
    """Attempts to start it; 0 if there is none to start."""


class PageTimeout(FetchError):
    """The page did not arrive in time."""

    default_kind = OutcomeKind.TIMEOUT


@dataclass(eq=False, repr=False)
class PageTooLarge(FetchError):
    """The page has more bytes than allowed."""

    default_kind = OutcomeKind.TOO_LARGE

    _: KW_ONLY
    limit_bytes: int


@dataclass(eq=False, repr=False)
class ExtractError(KindlyError):
    """A page was fetched but gave no text; `url` is its address."""

    default_kind = OutcomeKind.EMPTY

    _: KW_ONLY
    url: str


@dataclass(eq=False, repr=False)
class MediaUnsupported(ExtractError):
    """The page has a media type that cannot be converted to text."""

    default_kind = OutcomeKind.UNSUPPORTED

    _: KW_ONLY
    media_type: str


class NoContent(ExtractError):
    """The page contains no text."""


class NeedsBrowser(NoContent):
    """The page contains no text until a browser has run its scripts."""


@dataclass(eq=False, repr=False)
class PageWalled(ExtractError):
    """The page shows a challenge, a login, a paywall, a consent form or "not found" instead of its content."""

    _: KW_ONLY
    wall: OutcomeKind

    @property
    def kind(self) -> OutcomeKind:
        return self.wall


@dataclass(eq=False, repr=False)
class SelectorNotMatched(ExtractError):
    """The CSS selector matched nothing on the page."""

    _: KW_ONLY
    selector: str


class ExtractionFailed(ExtractError):
    """The parser exceeded its time, memory or nesting limit."""

    default_kind = OutcomeKind.TOO_LARGE


class ExtractionKilled(ExtractionFailed):
    """The parser's process was killed from outside while it read the page."""

    default_kind = OutcomeKind.UNREACHABLE


class ExtractionLate(ExtractError):
    """The deadline passed before a parser was free."""

    default_kind = OutcomeKind.TIMEOUT


class ReadError(KindlyError):
    """The library of read pages failed."""


@dataclass(eq=False, repr=False)
class StoreUnavailable(ReadError):
    """The library cannot be opened or reached; `reason` is the cause without the library's address."""

    _: KW_ONLY
    reason: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.reason = self.reason or self.detail


class StoreRefused(StoreUnavailable):
    """The library's file is newer than this version, or not a library; it is left unchanged."""

    default_kind = OutcomeKind.REFUSED


class ModelMismatch(ReadError):
    """The library's vectors were made by another model; the text names the command that rebuilds them."""

    default_kind = OutcomeKind.REFUSED


class EmbeddingsDown(ReadError):
    """The embedding server returned no vectors."""

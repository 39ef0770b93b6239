"""Who may come in over HTTP: by the Host and Origin they name, and by the bearer token they bear.

A gate passes a request on, with its `Caller` in the scope, or answers it. It knows neither what is behind it nor how a
token is verified: that is an `Authority`. No token is kept, logged or shown; only digests are.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Protocol

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kindly.errors import SettingsError

OPEN_PATHS = frozenset({"/health", "/ready"})
"""What probes ask for: no detail, so no token and no name of ours."""
CALLER = "kindly.caller"
"""Where in the scope the caller stands."""

_BEARER = re.compile(rb"bearer +([A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/@\[\]]+)(?::\d{1,5})?")
_SALT = secrets.token_bytes(16)


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in; the name tells callers apart and nothing more."""

    name: str

    @classmethod
    def of(cls, secret: str) -> "Caller":
        """The caller behind a token or a subject, under a name that gives neither away."""
        return cls(blake2b(secret.encode(), key=_SALT, digest_size=12).hexdigest())


ANYONE = Caller("anyone")


@dataclass(frozen=True, slots=True)
class Refused:
    """Why somebody was not let in."""

    reason: str
    status: int = 401
    error: str | None = "invalid_token"
    """The code of RFC 6750, where a token was given."""
    retry_after_s: int | None = None


NO_TOKEN = Refused("A bearer token is required.", error=None)
WRONG_TOKEN = Refused("The bearer token is not accepted.")


class Authority(Protocol):
    """Somebody who knows tokens."""

    async def judge(self, token: str) -> Caller | Refused:
        """Whose token this is."""
        ...


class Tokens:
    """The operator's own tokens, one a line; a file of them is read again when it changes.

    Raises:
        SettingsError: at the start there is none, or one that no client could send.
    """

    def __init__(self, given: str = "", file: Path | None = None) -> None:
        self._given = _digests(given.split(), "KINDLY_HTTP_TOKEN")
        self._file = file.expanduser() if file else None
        self._seen: object = None
        self._from_file: tuple[bytes, ...] = ()
        if self._file is not None:
            self._from_file = _read(self._file)
            self._seen = _stamp(self._file)

    def __repr__(self) -> str:
        return "Tokens(…)"

    async def judge(self, token: str) -> Caller | Refused:
        """Compared with every token in constant time."""
        offered = sha256(token.encode()).digest()
        known = False
        for digest in (*self._given, *self._current()):
            known |= hmac.compare_digest(offered, digest)
        return Caller.of(token) if known else WRONG_TOKEN

    def _current(self) -> tuple[bytes, ...]:
        """The file's tokens as they are now; none where it cannot be read."""
        if self._file is None:
            return ()
        stamp = _stamp(self._file)
        if stamp != self._seen:
            self._seen = stamp
            try:
                self._from_file = _read(self._file)
            except SettingsError:
                self._from_file = ()
        return self._from_file


def _stamp(file: Path) -> object:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(file: Path) -> tuple[bytes, ...]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"KINDLY_HTTP_TOKEN_FILE {file} cannot be read ({type(error).__name__})."
        ) from None
    written = (line.strip() for line in lines)
    tokens = [line for line in written if line and not line.startswith("#")]
    return _digests(tokens, f"KINDLY_HTTP_TOKEN_FILE {file}")


def _digests(tokens: Sequence[str], source: str) -> tuple[bytes, ...]:
    for number, token in enumerate(tokens, start=1):
        if not _TOKEN.fullmatch(token):
            raise SettingsError(
                f"{source}: token {number} has characters that a bearer token cannot have; "
                "use letters, digits and - . _ ~ + / only."
            )
    if not tokens and source.startswith("KINDLY_HTTP_TOKEN_FILE"):
        raise SettingsError(f"{source} holds no token: write one a line.")
    return tuple(sha256(token.encode()).digest() for token in tokens)


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a refusal tells a client about how to get in (RFC 6750, RFC 9728)."""

    metadata_url: str | None = None
    scopes: tuple[str, ...] = ()

    def header(self, refused: Refused) -> str:
        """The value of `WWW-Authenticate`."""
        told = {"error": refused.error, "resource_metadata": self.metadata_url}
        if self.scopes:
            told["scope"] = " ".join(self.scopes)
        parts = ", ".join(f'{name}="{value}"' for name, value in told.items() if value)
        return f"Bearer {parts}".strip()


@dataclass(frozen=True, slots=True)
class TokenGate:
    """Lets only those through whose bearer token one of the authorities knows."""

    app: ASGIApp
    authorities: Sequence[Authority]
    challenge: Challenge = field(default_factory=Challenge)
    open_paths: frozenset[str] = OPEN_PATHS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 401, 403 or 503."""
        if scope["type"] == "lifespan" or scope["path"] in self.open_paths:
            await self.app(scope, receive, send)
            return
        verdict = await self._verdict(scope)
        if isinstance(verdict, Caller):
            await self.app({**scope, CALLER: verdict}, receive, send)
            return
        headers = {"Cache-Control": "no-store"}
        if verdict.status in {401, 403}:
            headers["WWW-Authenticate"] = self.challenge.header(verdict)
        if verdict.retry_after_s is not None:
            headers["Retry-After"] = str(verdict.retry_after_s)
        body = {"error": verdict.error or "unauthorized", "error_description": verdict.reason}
        await JSONResponse(body, verdict.status, headers)(scope, receive, send)

    async def _verdict(self, scope: Scope) -> Caller | Refused:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        borne = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        if borne is None:
            return NO_TOKEN
        verdict: Caller | Refused = WRONG_TOKEN
        for authority in self.authorities:
            verdict = await authority.judge(borne[1].decode("ascii"))
            if isinstance(verdict, Caller):
                break
        return verdict


class HostGate:
    """Lets only requests through that name one of our hosts, and come from none but their pages.

    Against DNS rebinding: a page on the web can make a browser call loopback, but not lie about these two.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 421 or 403."""
        if scope["type"] == "lifespan" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
        elif not self._ours(_values(scope, b"host")):
            refusal = PlainTextResponse("This host is not served here.", 421)
            await refusal(scope, receive, send)
        elif not self._welcome(_values(scope, b"origin")):
            refusal = PlainTextResponse("Pages of that origin may not call this server.", 403)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _ours(self, hosts: Sequence[str]) -> bool:
        if len(hosts) != 1:
            return False
        match = _HOST.fullmatch(hosts[0])
        return match is not None and match[1] in self._hosts

    def _welcome(self, origins: Sequence[str]) -> bool:
        """An origin is absent, or a page of ours."""
        if not origins:
            return True
        scheme, _, host = origins[0].partition("://")
        return len(origins) == 1 and scheme in {"http", "https"} and self._ours([host])


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1").lower() for name, value in scope["headers"] if name == wanted]

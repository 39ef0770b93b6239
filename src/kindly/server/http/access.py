"""Access control, as ASGI middleware: Host and Origin allow-list, and bearer authentication.

The middleware passes a request on, with its `Caller` in the scope, or rejects it. A `TokenVerifier` decides whose token
it is. Tokens are never stored, logged or shown; only their digests are stored.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import field
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Protocol

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kindly.errors import SettingsError
from kindly.frozen import frozen

OPEN_PATHS = frozenset({"/health", "/ready"})
"""Probes need neither a token nor a known host; these endpoints reveal nothing."""
CALLER = "kindly.caller"
"""Key of the caller in the ASGI scope."""

_BEARER = re.compile(rb"bearer +([A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/@\[\]]+)(?::\d{1,5})?")
_SALT = secrets.token_bytes(16)


@frozen
class Caller:
    """An authenticated caller; the name distinguishes callers and reveals nothing else."""

    name: str

    @classmethod
    def of(cls, secret: str) -> "Caller":
        """The caller of a token or subject, under a keyed hash of it."""
        return cls(blake2b(secret.encode(), key=_SALT, digest_size=12).hexdigest())


ANYONE = Caller("anyone")


@frozen
class AccessDenied:
    """Why a request was rejected."""

    reason: str
    status: int = 401
    error: str | None = "invalid_token"
    """The error code of RFC 6750, if a token was sent."""
    retry_after_s: int | None = None


NO_TOKEN = AccessDenied("A bearer token is required.", error=None)
WRONG_TOKEN = AccessDenied("The bearer token is not accepted.")


class TokenVerifier(Protocol):
    """Decides whose token it is."""

    async def verify(self, token: str) -> Caller | AccessDenied:
        """The caller of this token, or why it is denied."""
        ...


class StaticTokens:
    """The operator's static tokens, one per line; a token file is reloaded when it changes.

    Raises:
        SettingsError: at start there is no token, or one with characters that are not allowed.
    """

    def __init__(self, given: str = "", file: Path | None = None) -> None:
        self._given = _digests(given.split(), "KINDLY_HTTP_TOKEN")
        self._file = file.expanduser() if file else None
        self._loaded_stamp: object = None
        self._from_file: tuple[bytes, ...] = ()
        if self._file is not None:
            self._from_file = _read(self._file)
            self._loaded_stamp = _stamp(self._file)

    def __repr__(self) -> str:
        return "Tokens(…)"

    async def verify(self, token: str) -> Caller | AccessDenied:
        """Compare with every token, in constant time."""
        offered = sha256(token.encode()).digest()
        known = False
        for digest in (*self._given, *self._current()):
            known |= hmac.compare_digest(offered, digest)
        return Caller.of(token) if known else WRONG_TOKEN

    def _current(self) -> tuple[bytes, ...]:
        """The current tokens of the file; none if it cannot be read."""
        if self._file is None:
            return ()
        stamp = _stamp(self._file)
        if stamp != self._loaded_stamp:
            self._loaded_stamp = stamp
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
        raise SettingsError(f"{source} has no token: write one per line.")
    return tuple(sha256(token.encode()).digest() for token in tokens)


@frozen
class Challenge:
    """The `WWW-Authenticate` challenge, which says how to get a token (RFC 6750, RFC 9728)."""

    metadata_url: str | None = None
    scopes: tuple[str, ...] = ()

    def header(self, denied: AccessDenied) -> str:
        """The value of `WWW-Authenticate`."""
        parameters = {"error": denied.error, "resource_metadata": self.metadata_url}
        if self.scopes:
            parameters["scope"] = " ".join(self.scopes)
        parts = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
        return f"Bearer {parts}".strip()


@frozen
class BearerAuth:
    """Bearer authentication: passes requests whose token one of the verifiers accepts."""

    app: ASGIApp
    verifiers: Sequence[TokenVerifier]
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

    async def _verdict(self, scope: Scope) -> Caller | AccessDenied:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        match = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        if match is None:
            return NO_TOKEN
        verdict: Caller | AccessDenied = WRONG_TOKEN
        for verifier in self.verifiers:
            verdict = await verifier.verify(match[1].decode("ascii"))
            if isinstance(verdict, Caller):
                break
        return verdict


class HostCheck:
    """Host and Origin allow-list against DNS rebinding.

    A web page can make a browser call a loopback address, but it cannot forge these two headers.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 421 or 403."""
        if scope["type"] == "lifespan" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
        elif not self._is_allowed(_values(scope, b"host")):
            refusal = PlainTextResponse("This host is not served here.", 421)
            await refusal(scope, receive, send)
        elif not self._is_allowed_origin(_values(scope, b"origin")):
            refusal = PlainTextResponse("Pages of that origin may not call this server.", 403)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_allowed(self, hosts: Sequence[str]) -> bool:
        if len(hosts) != 1:
            return False
        match = _HOST.fullmatch(hosts[0])
        return match is not None and match[1] in self._hosts

    def _is_allowed_origin(self, origins: Sequence[str]) -> bool:
        """No Origin, or one of an allowed host."""
        if not origins:
            return True
        scheme, _, host = origins[0].partition("://")
        return len(origins) == 1 and scheme in {"http", "https"} and self._is_allowed([host])


def _values(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1").lower() for name, value in scope["headers"] if name == header]

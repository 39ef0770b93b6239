"""OAuth 2.1 resource server: verifies JWT access tokens of an authorization server (RFC 9068, RFC 9728).

Kindly never issues a token and never forwards one. Keys come from the issuer through an injected `Get`. PyJWT is
imported at the first token.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import kindly
from kindly.app.stage_settings import api_proxies
from kindly.clock import Monotonic
from kindly.errors import SettingsError
from kindly.frozen import frozen
from kindly.net.api_client import build_client
from kindly.net.tls import Tls
from kindly.server.http.access import WRONG_TOKEN, AccessDenied, Caller
from kindly.settings import Settings

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS = ("RS256", "ES256", "EdDSA")
MIN_RSA_BITS = 2048
TYPES = frozenset({None, "jwt", "at+jwt", "application/at+jwt"})
WELL_KNOWN = "/.well-known/oauth-protected-resource"
LEEWAY_S = 30
"""Allowed clock skew."""
FRESH_S = 3600.0
"""Keys are used this long without a refresh."""
STALE_S = 86_400.0
"""Keys are used this long if the issuer does not answer."""
REFRESH_S = 60.0
"""The shortest interval between refreshes that unknown key ids cause."""
RETRY_S = 10.0
"""The wait after a failed refresh."""
FETCH_S = 5.0
MAX_BYTES = 1_000_000

NO_SCOPE = AccessDenied("The token lacks a required scope.", 403, "insufficient_scope")
NO_KEYS = AccessDenied(
    "The authorization server's keys are not available now.",
    503,
    "temporarily_unavailable",
    retry_after_s=int(RETRY_S),
)

Get = Callable[[str], Awaitable[object]]
"""Fetches the JSON document at an address."""


class KeysUnavailable(Exception):
    """The issuer returned no usable keys."""


@frozen
class Resource:
    """This protected resource: its issuer, audience, address and scopes."""

    issuer: str
    audience: str
    url: str
    """The public address of this server."""
    jwks_url: str | None = None
    scopes: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "Resource | None":
        """The configured resource; None without OAuth.

        Raises:
            SettingsError: a setting is missing, or an address is not trusted.
        """
        issuer, audience = settings.oauth_issuer, settings.oauth_audience
        if issuer is None:
            if audience or settings.oauth_jwks_url or settings.oauth_scopes:
                raise SettingsError(
                    "KINDLY_OAUTH_ISSUER is required with the other OAuth settings."
                )
            return None
        if audience is None:
            raise SettingsError(
                "KINDLY_OAUTH_AUDIENCE is required with KINDLY_OAUTH_ISSUER: without it, tokens "
                "for other services would be accepted."
            )
        url = settings.public_url or audience
        if not url.startswith(("http://", "https://")):
            raise SettingsError(
                "KINDLY_PUBLIC_URL is required if KINDLY_OAUTH_AUDIENCE is not an address: "
                "clients need it to request the right token."
            )
        _trusted("KINDLY_OAUTH_ISSUER", issuer)
        if settings.oauth_jwks_url:
            _trusted("KINDLY_OAUTH_JWKS_URL", settings.oauth_jwks_url)
        return cls(issuer, audience, url, settings.oauth_jwks_url, settings.oauth_scopes)

    @property
    def metadata_url(self) -> str:
        """The address of the protected resource metadata (RFC 9728, section 3.1)."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"

    def metadata(self) -> dict[str, object]:
        """The protected resource metadata (RFC 9728, section 2)."""
        metadata: dict[str, object] = {
            "resource": self.url,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Kindly",
        }
        return metadata | ({"scopes_supported": list(self.scopes)} if self.scopes else {})

    def routes(self, path: str) -> list[Route]:
        """The metadata at its well-known path, with and without the path of the resource."""

        async def respond(_: Request) -> Response:
            headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
            return JSONResponse(self.metadata(), headers=headers)

        own = urlsplit(self.metadata_url).path
        paths = dict.fromkeys((WELL_KNOWN, f"{WELL_KNOWN}{path}", own))
        return [Route(address, respond) for address in paths]


def _trusted(name: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise SettingsError(
            f"{name} must be an https:// address, because it decides which tokens are valid."
        )


class IssuerKeys:
    """A cache of the issuer's JSON Web Key Set."""

    def __init__(self, resource: Resource, get: Get, clock: Monotonic = anyio.current_time) -> None:
        self._resource = resource
        self._get = get
        self._clock = clock
        self._keys: tuple[PyJWK, ...] = ()
        self._refreshed_at = -STALE_S
        self._next_refresh_at = -STALE_S
        self._lock = anyio.Lock()

    async def find(self, kid: str | None) -> "PyJWK | None":
        """The key with this id; without an id, the only key.

        Raises:
            KeysUnavailable: there are no keys, or they are too old.
        """
        async with self._lock:
            now = self._clock()
            age_s = now - self._refreshed_at
            if now >= self._next_refresh_at and (age_s >= FRESH_S or self._match(kid) is None):
                await self._refresh(now)
            if now - self._refreshed_at >= STALE_S:
                raise KeysUnavailable
        return self._match(kid)

    def _match(self, kid: str | None) -> "PyJWK | None":
        if kid is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.key_id == kid), None)

    async def _refresh(self, now: float) -> None:
        try:
            self._keys = _usable(await self._get(await self._jwks_url()))
        except KeysUnavailable:
            self._next_refresh_at = now + RETRY_S
        else:
            self._refreshed_at = now
            self._next_refresh_at = now + REFRESH_S

    async def _jwks_url(self) -> str:
        if self._resource.jwks_url is not None:
            return self._resource.jwks_url
        for url in metadata_urls(self._resource.issuer):
            try:
                found = await self._get(url)
            except KeysUnavailable:
                continue
            if isinstance(found, dict) and found.get("issuer") == self._resource.issuer:
                return _same_trust(found.get("jwks_uri"), self._resource.issuer)
        raise KeysUnavailable


def metadata_urls(issuer: str) -> tuple[str, ...]:
    """The possible addresses of an issuer's metadata (RFC 8414 section 3, OpenID Connect Discovery section 4)."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return tuple(
        dict.fromkeys(
            (
                f"{origin}/.well-known/oauth-authorization-server{path}",
                f"{origin}/.well-known/openid-configuration{path}",
                f"{origin}{path}/.well-known/openid-configuration",
            )
        )
    )


def _same_trust(address: object, issuer: str) -> str:
    """The address, if its scheme is as safe as the issuer's."""
    scheme = urlsplit(issuer).scheme
    if isinstance(address, str) and address.startswith(("https://", f"{scheme}://")):
        return address
    raise KeysUnavailable


def _usable(found: object) -> "tuple[PyJWK, ...]":
    """The keys of a JWK set with a supported algorithm and a sufficient size."""
    import jwt

    listed = found.get("keys") if isinstance(found, dict) else None
    keys = []
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and item.get("use", "sig") == "sig":
            try:
                key = jwt.PyJWK(item)
            except (jwt.PyJWTError, ValueError, TypeError, KeyError):
                continue
            if key.algorithm_name in ALGORITHMS and _is_strong(key):
                keys.append(key)
    if not keys:
        raise KeysUnavailable
    return tuple(keys)


def _is_strong(key: "PyJWK") -> bool:
    return key.algorithm_name != "RS256" or key.key.key_size >= MIN_RSA_BITS


class JwtVerifier:
    """Verifies access tokens of one authorization server."""

    def __init__(self, resource: Resource, keys: IssuerKeys) -> None:
        self._resource = resource
        self._keys = keys

    async def verify(self, token: str) -> Caller | AccessDenied:
        """Check signature, times, issuer, audience and scopes."""
        import jwt

        wrong = (jwt.PyJWTError, ValueError, RecursionError, OverflowError)
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS or not _is_access_token(header):
                return WRONG_TOKEN
            key = await self._keys.find(header.get("kid"))
            if key is None:
                return WRONG_TOKEN
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self._resource.audience,
                issuer=self._resource.issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except KeysUnavailable:
            return NO_KEYS
        except wrong:
            return WRONG_TOKEN
        if not set(self._resource.scopes) <= _scopes(claims):
            return NO_SCOPE
        return Caller.of(f"{claims.get('sub')} {claims.get('client_id', claims.get('azp'))}")


def _is_access_token(header: Mapping[str, object]) -> bool:
    kind = header.get("typ")
    return (kind.lower() if isinstance(kind, str) else kind) in TYPES


def _scopes(claims: Mapping[str, object]) -> set[str]:
    """The scopes of a token: `scope` (RFC 9068) or `scp` (some issuers)."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name)
        if isinstance(value, str):
            found |= set(value.split())
        elif isinstance(value, list):
            found |= {item for item in value if isinstance(item, str)}
    return found


def json_over_http(settings: Settings) -> Get:
    """Fetches small JSON documents from configured addresses, without redirects."""
    tls = Tls(settings.ssl_cert_file)

    async def get(url: str) -> object:
        import httpx2

        client = build_client(
            timeout_s=FETCH_S,
            user_agent=kindly.SERVER_NAME,
            context=await tls.context(),
            proxies=api_proxies(settings),
        )
        try:
            with anyio.fail_after(FETCH_S):
                async with client, client.stream("GET", url) as response:
                    return json.loads(await _small_body(response))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError, RecursionError):
            raise KeysUnavailable from None

    return get


async def _small_body(response: Any) -> bytes:
    body = b""
    async for part in response.aiter_bytes():
        body += part
        if response.status_code != 200 or len(body) > MAX_BYTES:
            raise KeysUnavailable
    return body

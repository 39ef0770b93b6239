"""JWT access tokens: only valid signatures, for this audience, in time, with the required scopes."""

import base64
import json
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from starlette.applications import Starlette

from kindly.errors import SettingsError
from kindly.server.http.access import WRONG_TOKEN, AccessDenied, Caller
from kindly.server.http.oauth import (
    FRESH_S,
    NO_KEYS,
    NO_SCOPE,
    REFRESH_S,
    RETRY_S,
    STALE_S,
    IssuerKeys,
    JwtVerifier,
    KeysUnavailable,
    Resource,
    json_over_http,
    metadata_urls,
)
from kindly.settings import Settings
from tests.support.asgi import client_of
from tests.support.site import Answer, SiteRequest, running_site

pytestmark = pytest.mark.anyio

ISSUER = "https://login.example/tenant/"
AUDIENCE = "https://search.example/mcp"
JWKS = "https://login.example/keys"
RESOURCE = Resource(ISSUER, AUDIENCE, AUDIENCE, JWKS)
SECRET = "canary-subject"


@cache
def private(algorithm: str, number: int = 0) -> Any:
    """A key of its own for each algorithm and number."""
    if algorithm == "RS256":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    if algorithm == "ES384":
        return ec.generate_private_key(ec.SECP384R1())
    return ed25519.Ed25519PrivateKey.generate()


def public(algorithm: str, kid: str | None, number: int = 0, **more: str) -> dict[str, Any]:
    """The same key as the issuer publishes it."""
    makers: dict[str, Any] = {
        "RS256": jwt.algorithms.RSAAlgorithm,
        "EdDSA": jwt.algorithms.OKPAlgorithm,
    }
    maker = makers.get(algorithm, jwt.algorithms.ECAlgorithm)
    key = maker.to_jwk(private(algorithm, number).public_key(), as_dict=True)
    return {**key, **({} if kid is None else {"kid": kid}), **more}


def claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())  # as PyJWT does
    whole = {"iss": ISSUER, "aud": AUDIENCE, "exp": now + 300, "sub": SECRET} | changed
    return {name: value for name, value in whole.items() if value is not None}


def token(
    algorithm: str = "RS256",
    *,
    kid: str | None = "one",
    number: int = 0,
    typ: str = "at+jwt",
    **changed: Any,
) -> str:
    headers = {"typ": typ} | ({} if kid is None else {"kid": kid})
    return jwt.encode(claims(**changed), private(algorithm, number), algorithm, headers)


class Web:
    """The issuer's documents; counts how often each is requested."""

    def __init__(self, documents: Mapping[str, object]) -> None:
        self.documents = dict(documents)
        self.requests: list[str] = []

    async def __call__(self, url: str) -> object:
        self.requests.append(url)
        if url not in self.documents:
            raise KeysUnavailable
        return self.documents[url]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def issuer(*keys: object, resource: Resource = RESOURCE) -> JwtVerifier:
    web = Web({JWKS: {"keys": list(keys)}})
    return JwtVerifier(resource, IssuerKeys(resource, web, Clock()))


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_signed_token_for_this_audience_is_accepted(algorithm: str) -> None:
    verdict = await issuer(public(algorithm, "one")).verify(token(algorithm))
    assert isinstance(verdict, Caller)
    assert SECRET not in verdict.name


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": 1},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": 4_000_000_000},
        {"iss": "https://login.example/tenant"},
        {"iss": "https://evil.example/"},
        {"iss": None},
        {"aud": "https://other.example/mcp"},
        {"aud": ["https://other.example/mcp"]},
        {"aud": AUDIENCE + "/"},
        {"aud": None},
        {"sub": 7},
    ],
    ids=str,
)
async def test_a_token_for_another_time_place_or_issuer_is_refused(changed: dict[str, Any]) -> None:
    payload = claims(**changed)
    signed = jwt.PyJWS().encode(
        json.dumps(payload).encode(), private("ES256"), "ES256", {"kid": "one"}
    )
    assert await issuer(public("ES256", "one")).verify(signed) == WRONG_TOKEN


async def test_one_of_several_audiences_is_enough() -> None:
    several = token("ES256", aud=["https://other.example", AUDIENCE])
    assert isinstance(await issuer(public("ES256", "one")).verify(several), Caller)


def unsigned(header: object, payload: object) -> str:
    parts = [json.dumps(header).encode(), json.dumps(payload).encode(), b""]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def confused() -> str:
    """Signed with the public key as if it were a shared secret."""
    pem = (
        private("RS256").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    head = unsigned({"alg": "HS256", "kid": "one"}, claims()).rstrip(".")
    signature = algorithm.sign(head.encode(), pem)
    return f"{head}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


@pytest.mark.parametrize(
    "forged",
    [
        unsigned({"alg": "none"}, claims()),
        unsigned({"alg": "None", "kid": "one"}, claims()),
        unsigned({"alg": "RS256", "kid": "one"}, claims()),
        unsigned({"kid": "one"}, claims()),
        unsigned({"alg": ["RS256"], "kid": "one"}, claims()),
        unsigned({"alg": "RS256", "kid": ["one"]}, claims()),
        unsigned([], claims()),
        base64.urlsafe_b64encode(b"[" * 9000).decode().rstrip("=") + ".e30.e30",
        base64.urlsafe_b64encode(b"9" * 9000).decode().rstrip("=") + ".e30.e30",
        "a.b.c",
        "....",
        "plain",
        "",
    ],
    ids=[
        "none",
        "None",
        "no signature",
        "no algorithm",
        "a list of algorithms",
        "a list as key id",
        "a list as header",
        "deep",
        "a huge number",
        "letters",
        "dots",
        "a word",
        "empty",
    ],
)
async def test_a_forged_token_is_refused(forged: str) -> None:
    assert await issuer(public("RS256", "one")).verify(forged) == WRONG_TOKEN


async def test_a_shared_secret_is_no_signature() -> None:
    assert await issuer(public("RS256", "one")).verify(confused()) == WRONG_TOKEN


async def test_a_key_of_another_issuer_is_refused() -> None:
    assert await issuer(public("RS256", "one")).verify(token(number=1)) == WRONG_TOKEN


async def test_a_key_signs_only_with_its_own_algorithm() -> None:
    keys = issuer(public("RS256", "one"))
    assert await keys.verify(token("ES256")) == WRONG_TOKEN


async def test_a_changed_payload_is_refused() -> None:
    head, _, signature = token("ES256").split(".")
    other = unsigned({}, claims(sub="admin")).split(".")[1]
    changed = f"{head}.{other}.{signature}"
    assert await issuer(public("ES256", "one")).verify(changed) == WRONG_TOKEN


async def test_an_identity_token_of_another_type_is_refused() -> None:
    assert (
        await issuer(public("ES256", "one")).verify(token("ES256", typ="dpop+jwt")) == WRONG_TOKEN
    )


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"scope": "search read"}, Caller),
        ({"scp": ["read", "search", 7]}, Caller),
        ({"scp": "search read more"}, Caller),
        ({"scope": "search"}, NO_SCOPE),
        ({"scope": 7}, NO_SCOPE),
        ({}, NO_SCOPE),
    ],
    ids=["scope", "scp list", "scp text", "one is missing", "a number", "none"],
)
async def test_required_scopes_must_be_present(
    given: dict[str, Any], verdict: type[Caller] | AccessDenied
) -> None:
    resource = Resource(ISSUER, AUDIENCE, AUDIENCE, JWKS, ("search", "read"))
    judged = await issuer(public("ES256", "one"), resource=resource).verify(token("ES256", **given))
    assert judged == verdict or (verdict is Caller and isinstance(judged, Caller))


async def test_without_a_key_id_the_only_key_is_used() -> None:
    bare = token("ES256", kid=None)
    assert isinstance(await issuer(public("ES256", None)).verify(bare), Caller)
    two = issuer(public("ES256", None), public("RS256", None))
    assert await two.verify(bare) == WRONG_TOKEN


async def test_unusable_keys_are_skipped() -> None:
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "one"}
    odd: list[object] = [
        "text",
        {},
        {"kty": "RSA", "kid": "one"},
        {"kty": "RSA", "kid": "one", "n": 7, "e": "AQAB"},
        secret,
        public("ES384", "one"),
        public("RS256", "one", 1, use="enc"),
    ]
    assert isinstance(await issuer(*odd, public("ES256", "one")).verify(token("ES256")), Caller)
    assert await issuer(*odd).verify(token("ES256")) == NO_KEYS


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
async def test_a_key_that_is_too_short_does_not_sign() -> None:
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - the point
    key = jwt.algorithms.RSAAlgorithm.to_jwk(weak.public_key(), as_dict=True)
    signed = jwt.encode(claims(), weak, "RS256", {"kid": "weak"})
    keys = issuer({**key, "kid": "weak"}, public("ES256", "one"))
    assert await keys.verify(signed) == WRONG_TOKEN
    assert isinstance(await keys.verify(token("ES256")), Caller)


async def test_a_new_key_is_found_and_unknown_ids_cost_one_fetch_a_minute() -> None:
    clock, web = Clock(), Web({JWKS: {"keys": [public("ES256", "one")]}})
    verify = JwtVerifier(RESOURCE, IssuerKeys(RESOURCE, web, clock)).verify
    assert isinstance(await verify(token("ES256")), Caller)
    for number in range(50):
        assert await verify(token("ES256", kid=f"made-up-{number}")) == WRONG_TOKEN
    assert len(web.requests) == 1
    web.documents[JWKS] = {"keys": [public("ES256", "two", 1)]}
    assert await verify(token("ES256", kid="two", number=1)) == WRONG_TOKEN
    clock.now += REFRESH_S
    assert isinstance(await verify(token("ES256", kid="two", number=1)), Caller)
    assert await verify(token("ES256")) == WRONG_TOKEN
    assert len(web.requests) == 2


async def test_concurrent_callers_cause_one_fetch() -> None:
    web = Web({JWKS: {"keys": [public("ES256", "one")]}})
    verifier = JwtVerifier(RESOURCE, IssuerKeys(RESOURCE, web, Clock()))
    signed = token("ES256")
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(verifier.verify, signed)
    assert len(web.requests) == 1


async def test_a_revoked_key_is_refused_within_the_hour() -> None:
    clock, web = Clock(), Web({JWKS: {"keys": [public("ES256", "one")]}})
    verify = JwtVerifier(RESOURCE, IssuerKeys(RESOURCE, web, clock)).verify
    assert isinstance(await verify(token("ES256")), Caller)
    web.documents[JWKS] = {"keys": [public("ES256", "two", 1)]}
    clock.now += FRESH_S
    assert await verify(token("ES256")) == WRONG_TOKEN


async def test_an_unreachable_issuer_is_retried_rarely_and_its_keys_last_a_day() -> None:
    clock, web = Clock(), Web({})
    verify = JwtVerifier(RESOURCE, IssuerKeys(RESOURCE, web, clock)).verify
    assert [await verify(token("ES256")) for _ in range(5)] == [NO_KEYS] * 5
    assert len(web.requests) == 1
    web.documents[JWKS] = {"keys": [public("ES256", "one")]}
    clock.now += RETRY_S
    assert isinstance(await verify(token("ES256")), Caller)
    del web.documents[JWKS]
    clock.now += FRESH_S
    assert isinstance(await verify(token("ES256")), Caller)
    clock.now += STALE_S
    assert await verify(token("ES256")) == NO_KEYS


def test_metadata_is_fetched_from_the_standard_addresses() -> None:
    assert metadata_urls("https://a.example/t/") == (
        "https://a.example/.well-known/oauth-authorization-server/t",
        "https://a.example/.well-known/openid-configuration/t",
        "https://a.example/t/.well-known/openid-configuration",
    )
    assert metadata_urls("https://a.example") == (
        "https://a.example/.well-known/oauth-authorization-server",
        "https://a.example/.well-known/openid-configuration",
    )


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"issuer": ISSUER, "jwks_uri": JWKS}, True),
        ({"issuer": "https://evil.example", "jwks_uri": JWKS}, False),
        ({"issuer": ISSUER, "jwks_uri": "http://login.example/keys"}, False),
        ({"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"}, False),
        ({"issuer": ISSUER}, False),
        ([], False),
    ],
    ids=["right", "another issuer", "not encrypted", "a file", "no keys", "a list"],
)
async def test_keys_come_from_the_issuers_own_metadata(metadata: object, found: bool) -> None:
    place = metadata_urls(ISSUER)[2]
    documents = {place: metadata, JWKS: {"keys": [public("ES256", "one")]}}
    resource = Resource(ISSUER, AUDIENCE, AUDIENCE)
    verifier = JwtVerifier(resource, IssuerKeys(resource, Web(documents), Clock()))
    verdict = await verifier.verify(token("ES256"))
    assert isinstance(verdict, Caller) is found


OAUTH = {"KINDLY_OAUTH_ISSUER": ISSUER, "KINDLY_OAUTH_AUDIENCE": AUDIENCE}


def test_settings_become_a_resource() -> None:
    assert Resource.of(Settings.load({})) is None
    more = {"KINDLY_OAUTH_SCOPES": "search, read", "KINDLY_OAUTH_JWKS_URL": JWKS}
    assert Resource.of(Settings.load(OAUTH | more)) == Resource(
        ISSUER, AUDIENCE, AUDIENCE, JWKS, ("search", "read")
    )
    named = {"KINDLY_OAUTH_AUDIENCE": "api://x", "KINDLY_PUBLIC_URL": "https://k.example/x/mcp"}
    resource = Resource.of(Settings.load(OAUTH | named))
    assert resource is not None
    assert (resource.audience, resource.url) == ("api://x", "https://k.example/x/mcp")


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"KINDLY_OAUTH_AUDIENCE": AUDIENCE}, "KINDLY_OAUTH_ISSUER"),
        ({"KINDLY_OAUTH_JWKS_URL": JWKS}, "KINDLY_OAUTH_ISSUER"),
        ({"KINDLY_OAUTH_ISSUER": ISSUER}, "KINDLY_OAUTH_AUDIENCE"),
        (OAUTH | {"KINDLY_OAUTH_AUDIENCE": "api://kindly"}, "KINDLY_PUBLIC_URL"),
        (OAUTH | {"KINDLY_OAUTH_ISSUER": "http://login.example/"}, "KINDLY_OAUTH_ISSUER"),
        (OAUTH | {"KINDLY_OAUTH_JWKS_URL": "http://login.example/"}, "KINDLY_OAUTH_JWKS_URL"),
    ],
)
def test_an_incomplete_configuration_is_refused(environ: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Resource.of(Settings.load(environ))
    assert named in caught.value.detail


async def test_clients_can_read_the_resource_metadata() -> None:
    resource = Resource(ISSUER, AUDIENCE, "https://k.example/team/mcp", scopes=("search",))
    well_known = "/.well-known/oauth-protected-resource"
    assert resource.metadata_url == f"https://k.example{well_known}/team/mcp"
    async with client_of(Starlette(routes=resource.routes("/mcp"))) as client:
        answers = [
            await client.get(place)
            for place in (well_known, f"{well_known}/mcp", f"{well_known}/team/mcp")
        ]
        other = await client.get(f"{well_known}/other")
    assert all(answer.json() == resource.metadata() for answer in answers)
    assert answers[0].json()["authorization_servers"] == [ISSUER]
    assert answers[0].json()["scopes_supported"] == ["search"]
    assert answers[0].headers["Access-Control-Allow-Origin"] == "*"
    assert other.status_code == 404


async def redirect(_: SiteRequest, __: object) -> Answer:
    return Answer(b"{}", 302, {"Location": "/json"})


async def test_documents_are_fetched_with_a_size_limit_and_without_redirects() -> None:
    async with running_site() as site:
        kind = {"Content-Type": "application/json"}
        site.add("/json", Answer(b'{"keys": []}', 200, kind))
        site.add("/moved", redirect)
        site.add("/broken", Answer(b"{", 200, kind))
        site.add("/missing", Answer(b"{}", 404, kind))
        site.add("/empty", Answer(b"", 500, kind))
        site.add("/huge", Answer(b"[" + b"1," * 600_000 + b"1]", 200, kind))
        get = json_over_http(Settings.load({}))
        with anyio.fail_after(120):
            assert await get(site.url("/json")) == {"keys": []}
            for path in ("/moved", "/broken", "/missing", "/empty", "/huge"):
                with pytest.raises(KeysUnavailable):
                    await get(site.url(path))
            with pytest.raises(KeysUnavailable):
                await get("http://127.0.0.1:1/keys")

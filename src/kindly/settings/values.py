"""The types of settings, and how each is parsed from text."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, SecretStr

from kindly.fetch.guard.guard import parse_opened
from kindly.frozen import frozen
from kindly.read.stores import choices, store_for


@frozen
class Env:
    """The variable that sets a field, its aliases, and what it does."""

    name: str
    about: str
    aliases: tuple[str, ...] = ()


def _split(value: object) -> object:
    """`a, b` → (`a`, `b`); lists pass."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _exact_address(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return value


def _web_address(value: str) -> str:
    return _exact_address(value).rstrip("/")


def _proxy_address(value: SecretStr) -> SecretStr:
    """A proxy address; like in other programs, `http://` is the default scheme."""
    text = value.get_secret_value()
    scheme, mark, _ = text.partition("://")
    if not mark:
        return SecretStr(f"http://{text}")
    if scheme.lower() not in {"http", "https"}:
        raise ValueError("must be an http:// or https:// address; SOCKS proxies cannot be used")
    return value


def store_name(value: SecretStr) -> SecretStr:
    """The value without surrounding space, if it selects a store."""
    name = value.get_secret_value().strip()
    if store_for(name) is None:
        raise ValueError(f"must be {choices()}")
    return SecretStr(name)


def _private_host(value: str) -> str:
    parse_opened(value)
    return value


Listed = Annotated[tuple[str, ...], BeforeValidator(_split)]
PrivateHosts = Annotated[
    tuple[Annotated[str, AfterValidator(_private_host)], ...], BeforeValidator(_split)
]
ProxyAddress = Annotated[SecretStr, AfterValidator(_proxy_address)]
BaseUrl = Annotated[str, AfterValidator(_web_address)]
ExactUrl = Annotated[str, AfterValidator(_exact_address)]
"""Kept as it is written: OAuth compares the final slash."""

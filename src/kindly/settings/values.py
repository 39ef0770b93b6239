"""What kinds of value a setting can have, and how each is read from text."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, SecretStr

from kindly.fetch.guard.guard import parse_opened


@dataclass(frozen=True, slots=True)
class Env:
    """The variable that sets a field, other names it goes by, and what it does."""

    name: str
    about: str
    aliases: tuple[str, ...] = ()


STORE_NAMES = ("sqlite", "duckdb", "memory")


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
    """A proxy as other programs take it too: without a scheme it is an http proxy."""
    text = value.get_secret_value()
    scheme, mark, _ = text.partition("://")
    if not mark:
        return SecretStr(f"http://{text}")
    if scheme.lower() not in {"http", "https"}:
        raise ValueError("must be an http:// or https:// address; SOCKS proxies cannot be used")
    return value


def store_name(value: SecretStr) -> SecretStr:
    """The name or address of a store, if there can be such a one."""
    name = value.get_secret_value().strip()
    if name not in STORE_NAMES and not name.startswith(("postgresql://", "postgres://")):
        raise ValueError("must be sqlite, duckdb, memory or a postgresql:// address")
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
"""Compared as it is written: its last slash counts."""

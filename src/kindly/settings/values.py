"""The kinds of settings: how each is read from text or from a settings file, and what can be set.

Written without pydantic, which takes as long to import and to build as everything else before the first answer.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from functools import partial
from pathlib import Path
from typing import Any, Generic, Never, NoReturn, Self, TypeVar, overload

from kindly.frozen import frozen
from kindly.read.stores import choices, store_for
from kindly.redact import HiddenText

T = TypeVar("T", covariant=True)

WORDS = {
    **dict.fromkeys(("1", "on", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "off", "f", "false", "n", "no"), False),
}
MAX_DIGITS = 4_300
"""Of an integer: more are not converted."""


class BadValue(ValueError):
    """A value that a kind does not have; the text is the reason."""


@frozen
class Kind(Generic[T]):
    """A kind of value."""

    read: Callable[[object], T]
    """Raises `BadValue`."""
    values: str
    """What can be set, for the settings table."""


class SettingValues:
    """The values of settings, by the names of their fields; what is not in there has its default."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __repr__(self) -> str:
        """Names only: an address may contain a password."""
        return f"{type(self).__name__}({', '.join(self._values)})"

    def is_set(self, field: str) -> bool:
        """Whether the value of a field is not its default but from a source."""
        return field in self._values


class Setting(Generic[T]):
    """A field of the settings: its variable, what that does, and which values it has."""

    def __init__(
        self, name: str, about: str, kind: Kind[T], *, default: T, aliases: tuple[str, ...] = ()
    ) -> None:
        self.name, self.about, self.kind, self.default = name, about, kind, default
        self.aliases = aliases
        self._field = ""

    def read(self, value: object) -> T:
        """The value of its kind; nothing, if that is the default.

        Raises:
            BadValue: it is not valid.
        """
        return self.default if value is None and self.default is None else self.kind.read(value)

    def __set_name__(self, _: type, name: str) -> None:
        self._field = name

    @overload
    def __get__(self, settings: None, _: type) -> Self: ...
    @overload
    def __get__(self, settings: SettingValues, _: type) -> T: ...
    def __get__(self, settings: SettingValues | None, _: type) -> Self | T:
        """The value in these settings; the setting itself if asked of the class."""
        if settings is None:
            return self
        value: T = settings._values.get(self._field, self.default)
        return value

    def __set__(self, _: SettingValues, __: Never) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {self._field!r}")


def _flag(value: object) -> bool:
    word = f"{value:g}" if isinstance(value, float) else str(value).lower()
    if not isinstance(value, str | int | float) or word not in WORDS:
        raise BadValue("it must be 1 or 0")
    return WORDS[word]


def _integer(low: int | None, high: int | None, value: object) -> int:
    number = _whole(value)
    if number is None or not _is_within(number, low, high):
        raise BadValue(f"it must be a whole number{_limits(low, high)}")
    return number


def _whole(value: object) -> int | None:
    """The integer that is meant; None if none is."""
    if isinstance(value, str):
        match = re.fullmatch(r"([+-]?[0-9]+(?:_[0-9]+)*)(?:\.0+)?", value.strip())
        return int(match[1]) if match and len(match[1]) <= MAX_DIGITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return int(value) if isinstance(value, int) else None


def _number(low: float | None, high: float | None, above: float | None, value: object) -> float:
    number = _real(value)
    if (
        number is None
        or not _is_within(number, low, high)
        or (above is not None and number <= above)
    ):
        raise BadValue(f"it must be a number{_limits(low, high, above)}")
    return number


def _real(value: object) -> float | None:
    """The number that is meant; None if none is."""
    if not isinstance(value, str | int | float) or (isinstance(value, str) and not value.isascii()):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _is_within(number: float, low: float | None, high: float | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)


def _limits(low: float | None, high: float | None, above: float | None = None) -> str:
    """The bounds in words, after "a number"."""
    if above is not None:
        return f" above {above:.15g}" + (f", at most {high:.15g}" if high is not None else "")
    if low is not None and high is not None:
        return f" from {low:.15g} to {high:.15g}"
    if low is not None:
        return f", at least {low:.15g}"
    return f", at most {high:.15g}" if high is not None else ""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValue("it must be text")
    return value


def _sized(low: int | None, high: int | None, value: object) -> str:
    text = _text(value)
    if low is not None and len(text) < low:
        raise BadValue(f"it must have at least {low} character{'s' * (low != 1)}")
    if high is not None and len(text) > high:
        raise BadValue(f"it must have at most {high} character{'s' * (high != 1)}")
    return text


def _secret(value: object) -> HiddenText:
    return HiddenText(_text(value))


def _one_of(known: tuple[str, ...], value: object) -> str:
    if value in known:
        return str(value)
    *others, last = known
    raise BadValue(f"it must be {', '.join(others)}{' or ' * bool(others)}{last}")


def _path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise BadValue("it must be a path")
    return Path(value)


def _names(value: object) -> tuple[str, ...]:
    """`a, b` → (`a`, `b`); lists pass."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise BadValue("it must be names, separated by commas, or a list of names")
    return tuple(value)


def _exact_url(value: object) -> str:
    if not (text := _text(value)).startswith(("http://", "https://")):
        raise BadValue("it must begin with http:// or https://")
    return text


def _base_url(value: object) -> str:
    return _exact_url(value).rstrip("/")


def _proxy(value: object) -> HiddenText:
    """A proxy address; like in other programs, `http://` is the default scheme."""
    scheme, mark, _ = (text := _text(value)).partition("://")
    if mark and scheme.lower() not in {"http", "https"}:
        raise BadValue("it must be an http:// or https:// address; SOCKS proxies cannot be used")
    return HiddenText(text if mark else f"http://{text}")


def _store(value: object) -> HiddenText:
    """The value without surrounding space, if it selects a store."""
    name = _text(value).strip()
    if store_for(name) is None:
        raise BadValue(f"it must be {choices()}")
    return HiddenText(name)


def _private_hosts(value: object) -> tuple[str, ...]:
    from kindly.fetch.guard.guard import parse_opened

    hosts = _names(value)
    for host in hosts:
        parse_opened(host)
    return hosts


FLAG = Kind(_flag, "`1` or `0`")
SECRET = Kind(_secret, "secret")
PATH = Kind(_path, "path")
NAMES = Kind(_names, "names, comma separated")
PRIVATE_HOSTS = Kind(_private_hosts, NAMES.values)
STORE = Kind(_store, SECRET.values)
PROXY = Kind(_proxy, SECRET.values)
BASE_URL = Kind(_base_url, "text")
EXACT_URL = Kind(_exact_url, "text")
"""Kept as it is written: OAuth compares the final slash."""


def integer(low: int | None = None, high: int | None = None) -> Kind[int]:
    """A whole number of this range."""
    return Kind(partial(_integer, low, high), f"number{_range(low, high)}")


def number(
    low: float | None = None, high: float | None = None, *, above: float | None = None
) -> Kind[float]:
    """A number of this range."""
    lowest = above if low is None else low
    return Kind(partial(_number, low, high, above), f"number{_range(lowest, high)}")


def _range(low: float | None, high: float | None) -> str:
    return f", {low} to {high}" if low is not None and high is not None else ""


def text(low: int | None = None, high: int | None = None) -> Kind[str]:
    """A text with so many characters."""
    return Kind(partial(_sized, low, high), "text")


def one_of(known: tuple[str, ...]) -> Kind[Any]:
    """One of these words."""
    return Kind(partial(_one_of, known), ", ".join(f"`{value}`" for value in known))

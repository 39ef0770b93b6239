"""`@frozen`: what `@dataclass(frozen=True, slots=True)` makes, in a third of the time.

A start creates more than a hundred such classes, and before Python 3.13 `dataclasses` compiles six functions for each.
Here only `__init__` is compiled; the other functions take the names of the fields from a list. `kw_only` and
`__post_init__` are not supported.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass with slots. What it defines itself stays."""
    own = set(cls.__dict__)
    if cls.__hash__ is None:
        own.discard("__hash__")  # Python wrote that, because of an own `__eq__`.
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    parts = fields(made)
    key = _values([one.name for one in parts if one.compare])
    methods = {
        "__init__": _init(made, parts),
        "__repr__": _repr([one.name for one in parts if one.repr]),
        "__eq__": _eq(key),
        "__hash__": _hash(_values([one.name for one in parts if _is_hashed(one)])),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _init(cls: type, parts: tuple[Field[Any], ...]) -> Callable[..., None]:
    """The constructor, with the fields as its arguments."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    arguments, body = ["self"], []
    for one in parts:
        name, default, value = one.name, "", one.name
        if one.default is not MISSING:
            default, scope[f"_default_{name}"] = f"=_default_{name}", one.default
        elif one.default_factory is not MISSING:
            default, scope[f"_make_{name}"] = "=_missing", one.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}"
        if one.init:
            arguments.append(name + default)
        elif default:
            value = f"_make_{name}()" if one.default is MISSING else f"_default_{name}"
        else:
            continue
        body.append(f" _set(self, {name!r}, {value})")
    head = f"def __init__({', '.join(arguments)}):\n"
    exec(head + "\n".join(body or [" pass"]), scope)  # noqa: S102 - names of fields only
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _is_hashed(one: Field[Any]) -> bool:
    return one.compare if one.hash is None else one.hash


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function of an instance that returns these fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


def _eq(key: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(key: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(key(self))

    return __hash__


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _refuse_to_set(_: object, name: str, __: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)

"""Arguments of a call: strict in meaning, lenient in spelling. A wrong one becomes an `InputError` in plain words."""

import json
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from kindly.errors import InputError
from kindly.server.json_schema import Json

T = TypeVar("T")

MAX_QUOTED = 60
MAX_BITS = 1_000


class Arguments(BaseModel):
    """Base of all argument models: strict in what it means, lenient in how it is spelled."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, str_strip_whitespace=True
    )

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, values: object) -> object:
        """Read `"5"`, `"true"` and `"[…]"` as what they say, and empty options as not given."""
        if not isinstance(values, Mapping):
            return values
        known = cls.model_fields
        return {
            name: _respelled(_sized(value), known[name]) if name in known else value
            for name, value in values.items()
            if name not in known or known[name].is_required() or not _absent(value)
        }

    @classmethod
    def parse(cls, values: Mapping[str, object] | None) -> Self:
        """Arguments as a client sent them.

        Raises:
            InputError: one is wrong; the text names it and what is allowed.
        """
        try:
            return cls.model_validate(dict(values or {}))
        except ValidationError as error:
            raise _input_error(error, tuple(cls.model_fields)) from None

    @classmethod
    def schema_for_clients(cls) -> Json:
        """The JSON Schema of these arguments, without what costs tokens and says nothing."""
        schema = _slim(cls.model_json_schema())
        schema.pop("description", None)
        return schema


def json_list(value: object) -> object:
    """A list as some clients send it, as its JSON text; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def as_list(value: T | list[T]) -> list[T]:
    """A list as it is; a single value as a list of one."""
    return value if isinstance(value, list) else [value]


def _absent(value: object) -> bool:
    return value is None or (
        isinstance(value, str) and value.strip().lower() in {"", "none", "null"}
    )


class _Huge:
    """Stands for a number of so many digits that it cannot even be written down."""

    def __repr__(self) -> str:
        return "a number of far too many digits"


def _sized(value: object) -> object:
    """A value as it is, without numbers that Python refuses to write."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return _Huge()
    return [_sized(item) for item in value] if isinstance(value, list) else value


def _respelled(value: object, field_info: FieldInfo) -> object:
    kinds = tuple(_kinds(field_info.annotation))
    if not isinstance(value, str) or str in kinds:
        return value
    plain = value.strip().lower()
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    if any(isinstance(choice, str) for choice in choices):
        return plain
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        return value


def _kinds(annotation: object) -> Iterator[object]:
    """The types that a value may have: of `int | None`, both."""
    if get_origin(annotation) is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _kinds(part)
    else:
        yield annotation


def _input_error(error: ValidationError, names: tuple[str, ...]) -> InputError:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "arguments"
    if first["type"] == "extra_forbidden":
        return InputError(
            f"Unknown argument {name[:MAX_QUOTED]!r}. Allowed: {', '.join(names)}.",
            field=name[:MAX_QUOTED],
        )
    if first["type"] == "missing":
        return InputError(f"{name} is required.", field=name)
    got = _quoted(first["input"])
    return InputError(
        f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}, not {got}.", field=name
    )


def _quoted(value: object) -> str:
    try:
        shown = repr(value)
    except (ValueError, RecursionError):
        return f"this {type(value).__name__}"
    return shown if len(shown) <= MAX_QUOTED else f"{shown[:MAX_QUOTED]}…"


def _slim(schema: Json) -> Json:
    """Drop generated titles and null branches of options that may simply be left out."""
    slim: Json = {}
    for key, value in schema.items():
        if key == "title" or (key == "default" and value is None):
            continue
        if key == "anyOf" and isinstance(value, list):
            branches = [branch for branch in value if branch != {"type": "null"}]
            if len(branches) == 1:
                slim |= _slim(branches[0])
                continue
        if key == "properties":
            slim[key] = {name: _slim(item) for name, item in value.items()}
        else:
            slim[key] = value
    return slim

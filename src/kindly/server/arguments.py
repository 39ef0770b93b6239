"""Arguments of a call: strict in meaning, lenient in spelling. A wrong one becomes an `InputError` in plain words."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from types import UnionType
from typing import Annotated, Literal, Self, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo

from kindly import urls
from kindly.errors import InputError
from kindly.frozen import frozen
from kindly.server.json_schema import TEXTS, Json
from kindly.text.dates import to_date

MAX_QUOTED = 60
MAX_BITS = 1_000
RULES = {
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "an integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "a boolean"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    "string_type": "a string",
    "too_short": "a list with at least {min_length} item",
}
"""What an argument must be, by the kind of pydantic's error; its other texts are plain enough."""


@frozen
class InWords:
    """Says in words what the pattern of an argument allows: a model cannot be shown a regular expression."""

    allowed: str


class AsGiven:
    """Marks a free text that is passed on as it is: only null means that it is absent, not the word."""


class Arguments(BaseModel):
    """Base of all argument models: strict in meaning, lenient in spelling."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, str_strip_whitespace=True
    )

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, values: object) -> object:
        """Read `"5"`, `"true"` and `"[…]"` as the values they spell, and drop options that are absent."""
        if not isinstance(values, Mapping):
            return values
        known = cls.model_fields
        return {
            name: _respelled(_bounded(value), known[name]) if name in known else value
            for name, value in values.items()
            if name not in known or known[name].is_required() or not _absent(value, known[name])
        }

    @classmethod
    def parse(cls, values: Mapping[str, object] | None, mask: Callable[[str], str] = str) -> Self:
        """Arguments as a client sent them. `mask` hides secrets in what an error quotes.

        Raises:
            InputError: one is wrong; the text names it and what is allowed.
        """
        try:
            return cls.model_validate(dict(values or {}))
        except ValidationError as error:
            raise _input_error(error, cls.model_fields, mask) from None

    @classmethod
    def schema_for_clients(cls) -> Json:
        """The JSON Schema of these arguments, without parts that cost tokens and carry no information."""
        schema = _slim(cls.model_json_schema())
        for known in ("description", "additionalProperties"):
            schema.pop(known, None)
        return schema


def json_list(value: object) -> object:
    """Parse a list that a client sent as JSON text; other values pass unchanged."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def since_date(text: str | None, now: datetime) -> datetime | None:
    """The moment that a date such as `2026-01-31` or "3 days ago" begins; None for none.

    Raises:
        InputError: it is no date.
    """
    if not text:
        return None
    found = to_date(text, now.date())
    if found is None:
        raise InputError("since is a date such as 2026-01-31, or 3 days ago.", field="since")
    return datetime.fromisoformat(found).replace(tzinfo=UTC)


def as_list(value: str | list[str]) -> list[str]:
    """A list as it is; a single text as a list of one."""
    return [value] if isinstance(value, str) else value


def _absent(value: object, field_info: FieldInfo) -> bool:
    """Whether an option counts as not given: null or, for numbers and plain texts, a word for it.

    Of a choice, a flag and a text that is passed on, such a word is a value like any other.
    """
    if not isinstance(value, str):
        return value is None
    is_flag = bool in _member_types(field_info.annotation)
    is_free = any(isinstance(item, AsGiven) for item in field_info.metadata)
    if is_flag or is_free or _choices(field_info):
        return False
    return value.strip().lower() in {"", "none", "null"}


def _choices(field_info: FieldInfo) -> list[object]:
    """The values that an argument with fixed choices allows; empty for any other."""
    types = _member_types(field_info.annotation)
    return [choice for kind in types if get_origin(kind) is Literal for choice in get_args(kind)]


class _Huge:
    """Replaces an integer that is too long to be printed."""

    def __repr__(self) -> str:
        return "a number of far too many digits"


def _bounded(value: object) -> object:
    """The value, with integers that Python refuses to print replaced."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return _Huge()
    return [_bounded(item) for item in value] if isinstance(value, list) else value


def _respelled(value: object, field_info: FieldInfo) -> object:
    types = tuple(_member_types(field_info.annotation))
    if not isinstance(value, str) or str in types:
        return value
    plain = value.strip().lower()
    if any(isinstance(choice, str) for choice in _choices(field_info)):
        return plain
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        return value


def _member_types(annotation: object) -> Iterator[object]:
    """The members of a union: `int` and `None` of `int | None`."""
    if get_origin(annotation) is Annotated:
        yield from _member_types(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _member_types(part)
    else:
        yield annotation


def _input_error(
    error: ValidationError, fields: Mapping[str, FieldInfo], mask: Callable[[str], str]
) -> InputError:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "arguments"
    if first["type"] == "extra_forbidden":
        shown = mask(name)[:MAX_QUOTED]
        return InputError(f"Unknown argument {shown!r}. Allowed: {', '.join(fields)}.", field=shown)
    if first["type"] == "missing":
        return InputError(f"{name} is required.", field=name)
    if first["type"] == "too_long":
        most, given = (first["ctx"][key] for key in ("max_length", "actual_length"))
        return InputError(f"{name}: at most {most} at once, not {given}.", field=name)
    if first["type"] == "string_pattern_mismatch":
        rule = f"must be {_in_words(fields[name])}"
    elif known := RULES.get(first["type"]):
        rule = f"must be {known.format(**first.get('ctx', {}))}"
    else:
        said = first["msg"].removeprefix("Value error, ")
        rule = f"{said[0].lower()}{said[1:]}"
    return InputError(f"{name}: {rule}, not {_quoted(first['input'], mask)}.", field=name)


def _in_words(field_info: FieldInfo) -> str:
    return next(item.allowed for item in field_info.metadata if isinstance(item, InWords))


def _quoted(value: object, mask: Callable[[str], str]) -> str:
    try:
        shown = mask(repr(value))
    except (ValueError, RecursionError):
        return f"this {type(value).__name__}"
    return shown if len(shown) <= MAX_QUOTED else f"{shown[:MAX_QUOTED]}…"


def _slim(schema: Json) -> Json:
    """The schema without generated titles, and without null branches of optional arguments."""
    slim: Json = {}
    for key, value in schema.items():
        if key == "title" or (key == "default" and value in (None, [])):
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


def _as_domains(value: object) -> object:
    """A list of domains as a client wrote it: a list, the JSON text of one, or names with commas between them."""
    parsed = json_list(value)
    return (
        [name for name in parsed.split(",") if name.strip()] if isinstance(parsed, str) else parsed
    )


def _domain(text: str) -> str:
    """A domain name, also out of an address; without `www.`.

    Raises:
        ValueError: it is none.
    """
    name = text.strip().rpartition("://")[2].partition("/")[0].removeprefix("*").strip(".")
    try:
        return urls.parse(f"https://{name}/").host.removeprefix("www.")
    except InputError:
        raise ValueError("must be a domain such as example.com") from None


def _day(text: str) -> str:
    """A day as `2024-02-20`, also out of a time.

    Raises:
        ValueError: it is none.
    """
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        raise ValueError("must be a day such as 2024-02-20") from None


MAX_DOMAINS = 20
Domains = Annotated[
    tuple[Annotated[str, AfterValidator(_domain)], ...],
    Field(max_length=MAX_DOMAINS),
    BeforeValidator(_as_domains),
    WithJsonSchema(TEXTS),
]
Day = Annotated[
    Annotated[str, AfterValidator(_day)] | None,
    WithJsonSchema({"type": "string", "format": "date"}),
]
Language = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$", description="e.g. en"),
    InWords("a language code such as en or pt-BR"),
]
Region = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z]{2}$", description="Country, e.g. us"),
    InWords("a country code of two letters such as us"),
]
FreeLanguage = Annotated[str | None, Field(max_length=200, description="e.g. en"), AsGiven()]
FreeRegion = Annotated[
    str | None, Field(max_length=200, description="Country code, e.g. us"), AsGiven()
]

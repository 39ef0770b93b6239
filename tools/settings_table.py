"""Prints the table of `docs/settings.md`: `python -m tools.settings_table`; `--write` updates the page."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from kindly.search.providers import PROVIDERS
from kindly.settings import ENV_BY_FIELD, LOADER_URLS, TOKEN_NEEDS, Settings

HEAD = "| variable | values | default | what it does |\n|---|---|---|---|"


def rows() -> list[str]:
    """One row per setting, those of plugins last."""
    own = [
        f"| `{env.name}` | {values(Settings.model_fields[field])} | {default(field)} | {env.about} |"
        for field, env in ENV_BY_FIELD.items()
    ]
    kinds = {"flag": "`1` or `0`", "addresses": "addresses, comma separated"}
    for spec in PROVIDERS:
        own += [
            f"| `{need.name}` | {kinds.get(need.kind, need.kind)} | not set | {need.about} |"
            for need in spec.needs
        ]
        if spec.base_url_setting:
            where = f"The address of {spec.label}."
            own.append(f"| `{spec.base_url_setting}` | address | `{spec.base_url}` | {where} |")
    own += [f"| `{need.name}` | secret | not set | {need.about} |" for need in TOKEN_NEEDS]
    own += [
        f"| `{name}` | address | `{default}` | The address of that source. |"
        for name, (_, default) in LOADER_URLS.items()
    ]
    own.append(
        "| `KINDLY_CONFIG` | file | the platform's user configuration folder, `kindly/config.toml` "
        "| The settings file (TOML). |"
    )
    return own


def values(field: FieldInfo) -> str:
    """The type of a setting, or the list of its values."""
    kind: Any = field.annotation
    plain = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    if len(plain) == 1 or (get_origin(kind) is not tuple and plain):
        kind = plain[0]
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) is tuple:
        return "names, comma separated"
    names = {bool: "`1` or `0`", int: "number", float: "number", SecretStr: "secret", str: "text"}
    return names.get(kind, "path") + bounds(field)


def bounds(field: FieldInfo) -> str:
    """The range of a number."""
    low = next(
        (
            getattr(m, "ge", getattr(m, "gt", None))
            for m in field.metadata
            if hasattr(m, "ge") or hasattr(m, "gt")
        ),
        None,
    )
    high = next((m.le for m in field.metadata if hasattr(m, "le")), None)
    return f", {low} to {high}" if low is not None and high is not None else ""


def default(field: str) -> str:
    """The default, as a user would write it."""
    value = Settings.model_fields[field].default
    if value is None or value == ():
        return "not set"
    if isinstance(value, bool):
        return f"`{int(value)}`"
    return f"`{value}`"


def table() -> str:
    """The whole table."""
    return "\n".join([HEAD, *rows()])


def main() -> None:
    """Print the table, or write it into the docs with `--write`."""
    if "--write" not in sys.argv:
        sys.stdout.write(table() + "\n")
        return
    page = Path(__file__).parent.parent / "docs" / "settings.md"
    text = page.read_text(encoding="utf-8")
    before, after = text.split(HEAD)[0], text.split(HEAD)[1].split("\n\n", 1)[1]
    page.write_text(f"{before}{table()}\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()

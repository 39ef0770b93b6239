"""Prints the table of `docs/settings.md`: `python -m tools.settings_table`; `--write` updates the page."""

import sys
from pathlib import Path
from typing import Any

from kindly.redact import HiddenText
from kindly.search.providers import PROVIDERS
from kindly.settings import ENV_BY_FIELD, LOADER_URLS, TOKEN_NEEDS
from kindly.settings.values import Setting

HEAD = "| variable | values | default | what it does |\n|---|---|---|---|"


def rows() -> list[str]:
    """One row per setting, those of plugins last."""
    own = [
        f"| `{one.name}` | {one.kind.values} | {default(one)} | {one.about} |"
        for one in ENV_BY_FIELD.values()
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


def default(setting: Setting[Any]) -> str:
    """The default, as a user would write it."""
    value = setting.default
    if isinstance(value, HiddenText):
        value = value.get_secret_value()
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

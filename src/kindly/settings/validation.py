"""Checks of values that need more than the type of a field."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeVar

from kindly.errors import SettingsError
from kindly.fetch.browser.drivers import DRIVERS, is_installed
from kindly.search.provider import ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.settings.profile_catalogue import why_not_combined
from kindly.settings.sources import Value
from kindly.settings.values import BadValue
from kindly.settings.variables import ENV_BY_FIELD, NEEDS
from kindly.version import SERVER_NAME

T = TypeVar("T")


def plugin_value(name: str, value: Value) -> str | None:
    """The text of a setting that a provider needs; None for a flag that is off.

    Raises:
        SettingsError: it is a flag and its value is neither yes nor no.
    """
    text = str(value.value).strip()
    if isinstance(value.value, list):
        text = ",".join(str(part) for part in value.value)
    if NEEDS[name].kind != "flag":
        return text
    if text.lower() in {"1", "true", "yes", "on"}:
        return "1"
    if text.lower() in {"", "0", "false", "no", "off"}:
        return None
    raise SettingsError(f"{name} from the {value.origin} is not valid: it must be 1 or 0.")


def check_provider_names(names: tuple[str, ...]) -> None:
    """Refuse names in `KINDLY_PROVIDERS` that no provider has."""
    known = [spec.name for spec in PROVIDERS]
    for name in names:
        if name not in known:
            raise SettingsError(
                f"KINDLY_PROVIDERS names {name!r}, which is not one of {', '.join(known)}."
            )


def check_packages(specs: tuple[ProviderSpec, ...]) -> None:
    """Refuse a provider whose package is not installed."""
    for spec in specs:
        if spec.library and find_spec(spec.library[0]) is None:
            raise SettingsError(
                f"{spec.key_setting} is set, but {spec.label} needs a package that is not installed: "
                f"pip install '{SERVER_NAME}[{spec.library[1]}]'."
            )


def check_driver(name: str) -> None:
    """Refuse a browser driver that is named but not installed."""
    for known, driver in DRIVERS.items():
        if known == name and not is_installed(driver.package):
            raise SettingsError(
                f"KINDLY_BROWSER={name} needs a package that is not installed: {driver.remedy}. "
                "Or unset KINDLY_BROWSER."
            )


def checked(name: str, read: Callable[[object], T], value: Value) -> T:
    """The value of a variable as `read` reads it.

    Raises:
        SettingsError: it is not valid: the variable, its source, what is wrong.
    """
    try:
        return read(value.value)
    except BadValue as error:
        source = {"file": "the settings file", "environment": "the environment"}.get(
            value.origin, f"the {value.origin}"
        )
        problem = str(error)
        if name == ENV_BY_FIELD["profile"].name:
            problem = why_not_combined(str(value.value)) or problem
        raise SettingsError(
            f"{value.written or name} from {source} is not valid: {problem}."
        ) from None

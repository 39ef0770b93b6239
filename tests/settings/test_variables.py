"""The catalogue of variables."""

from kindly.settings import ENV_BY_FIELD, NEEDS, TOKEN_NAMES
from kindly.settings.variables import LOADER_URLS, URL_NAMES, known_names


def test_every_variable_is_known_and_declared_once() -> None:
    declared = [*(env.name for env in ENV_BY_FIELD.values()), *NEEDS, *TOKEN_NAMES]
    declared += [*URL_NAMES, "KINDLY_CONFIG"]
    assert len(declared) == len(set(declared))
    assert known_names().known == set(declared)


def test_plugins_declare_their_variables() -> None:
    assert next(iter(NEEDS)) == "SERPER_API_KEY"
    assert "GITHUB_TOKEN" in TOKEN_NAMES
    assert all(name.startswith("KINDLY_") for name in LOADER_URLS)

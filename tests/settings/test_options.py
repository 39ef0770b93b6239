"""The options that plugins declare."""

import pytest

from kindly.errors import SettingsError
from kindly.settings import Settings
from kindly.settings.options import OPTIONS


def test_every_option_has_its_default_and_is_described() -> None:
    options = Settings.load({}).options
    assert options == {option.name: option.default for option in OPTIONS}
    assert all(option.about.endswith(".") for option in OPTIONS)


def test_an_option_is_read_with_its_type() -> None:
    environ = {
        "KINDLY_POOL_CHECK_S": "60",
        "KINDLY_SUMMARIES": "no",
        "GOOGLE_SAFE_SEARCH": "strict",
        "EMBEDDING_SERVER_URL": "http://e.example/",
    }
    options = Settings.load(environ).options
    assert [options[name] for name in environ] == [60.0, False, "strict", "http://e.example"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KINDLY_POOL_CHECK_S", "9"),
        ("KINDLY_MAX_LENGTH", "many"),
        ("GOOGLE_SAFE_SEARCH", "active"),
        ("EMBEDDING_SERVER_URL", "e.example"),
        ("EMBEDDING_MODEL_NAME", "m" * 201),
        ("KINDLY_CODE_BLOCKS", "perhaps"),
    ],
)
def test_a_bad_value_of_an_option_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} from the environment is not valid"):
        Settings.load({name: value})


def test_secrets_of_options_are_masked() -> None:
    environ = {
        "EMBEDDING_SERVER_URL": "http://user:canary-password@e.example",
        "EMBEDDING_SERVER_API_KEY": "canary-key",
    }
    settings = Settings.load(environ)
    assert {"canary-password", "canary-key"} <= set(settings.secrets())
    assert "canary" not in repr(settings)

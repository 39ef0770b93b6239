"""The values of settings, and what follows from them."""

from pathlib import Path

import pytest

from kindly.errors import SettingsError
from kindly.settings import Settings

CANARY = "canary-key-5f2b9c"


def test_defaults_apply_if_nothing_is_set() -> None:
    settings = Settings.load({})
    assert (settings.profile, settings.context, settings.transport) == ("kindly", "agent", "stdio")
    assert settings.default_tokens == 20_000
    assert settings.request_timeout_ms == 30_000
    assert settings.respect_robots_txt is True
    assert settings.origin("KINDLY_PROFILE") == "default"


def test_secrets_show_in_no_repr_and_no_error() -> None:
    environ = {
        "SERPER_API_KEY": CANARY,
        "KINDLY_HTTP_TOKEN": CANARY,
        "HTTPS_PROXY": f"http://u:{CANARY}@p",
    }
    settings = Settings.load(environ)
    assert CANARY not in repr(settings)
    with pytest.raises(SettingsError) as caught:
        Settings.load({**environ, "KINDLY_PORT": CANARY})
    assert CANARY not in str(caught.value)


def test_every_secret_is_known_to_the_redactor() -> None:
    environ = {
        "SERPER_API_KEY": "canary-1",
        "TAVILY_API_KEY": "canary-2",
        "GITHUB_TOKEN": "canary-3",
        "BRAVE_API_KEY": "canary-4",
        "KINDLY_HTTP_TOKEN": "canary-5",
    }
    assert set(Settings.load(environ).secrets()) == set(environ.values())


def test_settings_cannot_be_changed() -> None:
    settings = Settings.load({})
    with pytest.raises(AttributeError, match="cannot assign to field 'port'"):
        settings.port = 1  # type: ignore[assignment]


def test_data_goes_to_the_configured_folder(tmp_path: Path) -> None:
    assert Settings.load({"DATA_DIR": str(tmp_path)}).data_path == tmp_path
    assert Settings.load({}).data_path.name == "kindly"


def names(environ: dict[str, str]) -> list[str]:
    return [spec.name for spec in Settings.load(environ).configured()]


def test_providers_have_the_order_of_the_catalogue() -> None:
    assert names({"TAVILY_API_KEY": "t-key-1", "SERPER_API_KEY": "s-key-1"}) == ["serper", "tavily"]


def test_another_order_can_be_set_and_leaves_the_rest_out() -> None:
    keys = {"TAVILY_API_KEY": "t-key-1", "SERPER_API_KEY": "s-key-1"}
    assert names({**keys, "KINDLY_PROVIDERS": "tavily,serper"}) == ["tavily", "serper"]
    assert names({**keys, "KINDLY_PROVIDERS": "tavily"}) == ["tavily"]


def test_a_provider_needs_all_its_settings() -> None:
    assert names({"GOOGLE_API_KEY": "g-key-1"}) == []
    assert names({"GOOGLE_API_KEY": "g-key-1", "GOOGLE_SEARCH_ENGINE_ID": "cx"}) == ["google"]


def test_the_threshold_of_the_cosine_is_the_embedders_unless_one_is_set() -> None:
    server = {"EMBEDDING_SERVER_URL": "http://embedder.example"}
    assert Settings.load({}).cosine_threshold == 0.25
    assert Settings.load(server).cosine_threshold == 0.72
    for environ in ({}, server):
        given = environ | {"SIMILARITY_THRESHOLD": "0.6"}
        assert Settings.load(given).cosine_threshold == 0.6

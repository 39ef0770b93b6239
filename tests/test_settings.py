"""Settings: four sources in order, and one clear line for whatever is wrong."""

from pathlib import Path

import pytest

from kindly.errors import SettingsError
from kindly.settings import CONTEXTS, ENV_BY_FIELD, Settings, spare_threads

CANARY = "canary-key-5f2b9c"


def test_defaults_stand_when_nothing_is_set() -> None:
    settings = Settings.load({})
    assert (settings.profile, settings.context, settings.transport) == ("kindly", "agent", "stdio")
    assert settings.default_tokens == 20_000
    assert settings.request_timeout_ms == 30_000
    assert settings.respect_robots_txt is True
    assert settings.origin("KINDLY_PROFILE") == "default"


def test_each_source_overrules_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "kindly.toml"
    file.write_text("port = 1\nhost_concurrency = 1\nconcurrency = 1\n", encoding="utf-8")
    environ = {"KINDLY_PORT": "2", "KINDLY_HOST_CONCURRENCY": "2", "KINDLY_CONFIG": str(file)}
    settings = Settings.load(environ, {"port": 3, "host": None})
    assert (settings.concurrency, settings.host_concurrency, settings.port) == (1, 2, 3)
    assert [
        settings.origin(name) for name in ("CONCURRENCY", "KINDLY_HOST_CONCURRENCY", "KINDLY_PORT")
    ] == ["file", "environment", "command line"]


def test_empty_variables_count_as_not_set() -> None:
    settings = Settings.load({"SERPER_API_KEY": "", "KINDLY_PORT": ""})
    assert (dict(settings.needed), settings.port) == ({}, 8000)


def test_lists_are_read_from_commas() -> None:
    settings = Settings.load({"KINDLY_ALLOW_PRIVATE": "127.0.0.1:8080, wiki.corp ,"})
    assert settings.allow_private == ("127.0.0.1:8080", "wiki.corp")


def test_proxy_is_read_in_either_case() -> None:
    settings = Settings.load({"https_proxy": "http://user:pass@proxy:3128"})
    assert settings.https_proxy is not None
    assert settings.https_proxy.get_secret_value() == "http://user:pass@proxy:3128"


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"KINDLY_PORT": "many"}, "KINDLY_PORT"),
        ({"KINDLY_PORT": "70000"}, "KINDLY_PORT"),
        ({"KINDLY_CONTEXT": "emacs"}, "KINDLY_CONTEXT"),
        ({"REQUEST_TIMEOUT_MS": "0"}, "REQUEST_TIMEOUT_MS"),
        ({"RESPECT_ROBOTS_TXT": "perhaps"}, "RESPECT_ROBOTS_TXT"),
        ({"SERPER_BASE_URL": "ftp://x"}, "SERPER_BASE_URL"),
        ({"KINDLY_MAX_TOKENS": "10"}, "KINDLY_MAX_TOKENS"),
        ({"KINDLY_PROTOCOL": "x"}, "KINDLY_PROTOCOL"),
        ({"KINDLY_ALLOW_PRIVATE": "http://wiki.corp/"}, "KINDLY_ALLOW_PRIVATE"),
        ({"HTTPS_PROXY": "socks5://canary@proxy:1080"}, "HTTPS_PROXY"),
        ({"KINDLY_CONFIG": "/nowhere/kindly.toml"}, "/nowhere/kindly.toml"),
    ],
    ids=lambda value: "=".join(*value.items()) if isinstance(value, dict) else "",
)
def test_a_wrong_value_is_named_in_one_line(environ: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load(environ)
    assert named in caught.value.detail
    assert "\n" not in caught.value.detail
    assert "canary" not in caught.value.detail


def test_a_proxy_needs_no_scheme() -> None:
    proxy = Settings.load({"HTTPS_PROXY": "proxy.corp:3128"}).https_proxy
    assert proxy is not None
    assert proxy.get_secret_value() == "http://proxy.corp:3128"


def test_an_unknown_variable_comes_with_a_suggestion() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_PROFIL": "kindly"})
    assert "KINDLY_PROFILE" in caught.value.detail


@pytest.mark.parametrize(
    ("text", "named"),
    [("colour = 1", "colour"), ("port = ", "TOML"), ("port = 'x'", "KINDLY_PORT")],
    ids=["unknown", "not TOML", "wrong value"],
)
def test_a_wrong_file_is_named_in_one_line(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "kindly.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        Settings.load({}, config=file)
    assert named in caught.value.detail
    assert "\n" not in caught.value.detail


def test_secrets_show_in_no_repr_and_no_error() -> None:
    environ = {
        "SERPER_API_KEY": CANARY,
        "KINDLY_HTTP_TOKEN": CANARY,
        "HTTPS_PROXY": f"http://u:{CANARY}@p",
    }
    settings = Settings.load(environ)
    assert CANARY not in repr(settings)
    assert CANARY not in str(settings.model_dump())
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
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1


@pytest.mark.parametrize("context", list(CONTEXTS))
def test_a_context_bounds_answer_and_call(context: str) -> None:
    settings = Settings.load({"KINDLY_CONTEXT": context})
    assert settings.default_tokens == min(20_000, settings.hosting.max_tokens)
    assert settings.hosting.deadline_s < 60


def test_a_deadline_that_is_set_overrules_the_context() -> None:
    assert Settings.load({"KINDLY_DEADLINE_S": "5"}).hosting.deadline_s == 5


def test_every_setting_says_what_it_does() -> None:
    assert all(env.about.endswith(".") for env in ENV_BY_FIELD.values())


def test_data_goes_where_it_is_told(tmp_path: Path) -> None:
    assert Settings.load({"DATA_DIR": str(tmp_path)}).data_path == tmp_path
    assert Settings.load({}).data_path.name == "kindly"


def names(environ: dict[str, str]) -> list[str]:
    return [spec.name for spec in Settings.load(environ).configured()]


def test_providers_are_asked_in_the_order_of_the_catalogue() -> None:
    assert names({"TAVILY_API_KEY": "t-key-1", "SERPER_API_KEY": "s-key-1"}) == ["serper", "tavily"]


def test_another_order_can_be_set_and_leaves_the_rest_out() -> None:
    keys = {"TAVILY_API_KEY": "t-key-1", "SERPER_API_KEY": "s-key-1"}
    assert names({**keys, "KINDLY_PROVIDERS": "tavily,serper"}) == ["tavily", "serper"]
    assert names({**keys, "KINDLY_PROVIDERS": "tavily"}) == ["tavily"]


@pytest.mark.parametrize(
    ("value", "on"),
    [("1", True), ("true", True), ("YES", True), ("0", False), ("off", False)],
)
def test_a_flag_turns_a_provider_on(value: str, on: bool) -> None:
    assert names({"KINDLY_SEARXNG_POOL": value}) == (["searxng_pool"] if on else [])


def test_a_flag_that_says_neither_is_named() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_SEARXNG_POOL": "perhaps"})
    assert "KINDLY_SEARXNG_POOL" in caught.value.detail


def test_a_provider_needs_all_its_settings() -> None:
    assert names({"GOOGLE_API_KEY": "g-key-1"}) == []
    assert names({"GOOGLE_API_KEY": "g-key-1", "GOOGLE_SEARCH_ENGINE_ID": "cx"}) == ["google"]


def test_several_addresses_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "kindly.toml"
    file.write_text('searxng_base_url = ["http://a.corp", "http://b.corp"]', encoding="utf-8")
    needed = Settings.load({}, config=file).needed["SEARXNG_BASE_URL"]
    assert needed.get_secret_value() == "http://a.corp,http://b.corp"


def test_an_unknown_provider_is_named() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({"KINDLY_PROVIDERS": "serper,altavista"})
    assert "altavista" in caught.value.detail
    assert "tavily" in caught.value.detail


def test_one_call_is_not_shared_among_threads_unless_the_user_says_so() -> None:
    environ = {"OPENBLAS_NUM_THREADS": "4"}
    spare_threads(environ)
    assert environ == {
        "OPENBLAS_NUM_THREADS": "4",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }

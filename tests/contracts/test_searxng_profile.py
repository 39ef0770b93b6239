"""What profile `searxng` promises: its tool, parameters, answers, errors and settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kindly.app.stage_settings import fetch_limits
from kindly.errors import (
    InputError,
    KindlyError,
    NoProvider,
    PoolExhausted,
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SettingsError,
)
from kindly.search.providers import searxng_pool
from kindly.search.providers.searxng_pool import pool_settings
from kindly.server.profiles import all_profiles, profile_for
from kindly.server.profiles.searxng.answers import failure
from kindly.server.profiles.searxng.profile import OUTPUT, PROFILE, SAFETY, SearxngSearchArguments
from kindly.settings import Settings
from kindly.settings.file_tables import keys
from tests.support.profile_examples import example, path_of

(TOOL,) = PROFILE.tools
SCHEMA = TOOL.arguments.schema_for_clients()
STATED = example("searxng_profile", "parameters")
CONSTRAINTS = ("type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "default")
REQUESTS = (
    "technical_research",
    "current_events",
    "documentation_discovery",
    "quick_fact_checking",
)
RESPONSES = ("with_content", "without_content", "error")


@dataclass(frozen=True)
class Setting:
    """A line of the `[web_search]` table: what it says, and the field that it sets."""

    key: str
    field: str
    default: object
    other: str
    """Another value, as TOML has it."""
    becomes: object


SETTINGS = (
    Setting("default_results_count", "default_results", 10, "7", 7),
    Setting("max_results_count", "max_results", 50, "20", 20),
    Setting("max_concurrent_fetches", "concurrency", 5, "2", 2),
    Setting("default_timeout", "search_timeout_s", 30, "12.5", 12.5),
    Setting("content_fetch_timeout", "request_timeout_ms", 45_000, "5", 5_000),
    Setting("max_content_size", "max_page_bytes", 2_000_000, '"512KB"', 512_000),
    Setting("instance_health_check_interval", "pool_check_s", 300, "60", 60),
    Setting("max_consecutive_failures", "pool_failures", 3, "5", 5),
    Setting("rate_limit_backoff_base", "pool_backoff_s", 60, "30", 30),
    Setting("rotate_user_agents", "pool_rotate_agents", True, "false", False),
    Setting("request_delay_range", "pool_delay_min_ms", 100, "[5, 9]", 5),
    Setting("request_delay_range", "pool_delay_max_ms", 500, "[5, 9]", 9),
    Setting("use_random_instances", "pool_random", True, "false", False),
    Setting("summarize_long_content", "summaries", True, "false", False),
    Setting("max_summary_length", "summary_characters", 500, "200", 200),
    Setting("extract_code_blocks", "code_blocks", True, "false", False),
)


def loaded(text: str, folder: Path) -> Settings:
    file = folder / "kindly.toml"
    file.write_text(text, encoding="utf-8")
    return Settings.load({"KINDLY_PROFILE": "searxng"}, config=file)


def test_the_profile_has_the_one_tool() -> None:
    """`web_search`."""
    assert [tool.name for tool in PROFILE.tools] == ["web_search"]
    assert PROFILE in all_profiles()


@pytest.mark.parametrize("name", STATED["properties"])
def test_parameter_is_as_promised(name: str) -> None:
    stated, ours = STATED["properties"][name], SCHEMA["properties"][name]
    assert {key: ours.get(key) for key in CONSTRAINTS} == {
        key: stated.get(key) for key in CONSTRAINTS
    }
    assert ours["description"].split(";")[0] in stated["description"].replace(" (empty", "; (empty")


def test_no_parameter_is_missing_or_added() -> None:
    assert list(SCHEMA["properties"]) == list(STATED["properties"])
    assert SCHEMA["required"] == STATED["required"]


@pytest.mark.parametrize("name", REQUESTS)
def test_example_request_is_accepted(name: str) -> None:
    request = example("searxng_profile", name)
    jsonschema.validate(request, SCHEMA)
    given = SearxngSearchArguments.parse(request).model_dump()
    assert given.items() >= request.items()


@pytest.mark.parametrize("name", RESPONSES)
def test_example_response_has_a_shape_of_ours(name: str) -> None:
    jsonschema.validate(example("searxng_profile", name), OUTPUT)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("with_content", {"content": "Found"}),
        ("with_content", {"metadata": {}}),
        ("without_content", {"is_error": "no"}),
        ("error", {"metadata": {"query": "x", "retry_after": "soon"}}),
    ],
)
def test_another_shape_is_not_ours(name: str, broken: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(example("searxng_profile", name) | broken, OUTPUT)


@pytest.mark.parametrize(("number", "level"), [(0, "off"), (1, "moderate"), (2, "strict")])
def test_safe_search_levels_are_as_promised(number: int, level: str) -> None:
    """`0=off, 1=moderate, 2=strict`."""
    assert SAFETY[number] == level


def test_the_settings_example_loads() -> None:
    settings = Settings.load(
        {"KINDLY_PROFILE": "searxng"}, config=path_of("searxng_profile", "settings.toml")
    )
    for row in SETTINGS:
        assert getattr(settings, row.field) == row.default


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.field)
def test_a_setting_has_the_promised_default_and_can_be_changed(
    row: Setting, tmp_path: Path
) -> None:
    unset = getattr(Settings.load({"KINDLY_PROFILE": "searxng"}), row.field)
    assert unset in (row.default, None)
    changed = loaded(f"[web_search]\n{row.key} = {row.other}\n", tmp_path)
    assert getattr(changed, row.field) == row.becomes


def test_every_key_of_the_table_has_a_row() -> None:
    assert {row.key for row in SETTINGS} == set(keys("web_search"))


@pytest.mark.parametrize(
    ("limits", "default", "most"),
    [("", 10, 50), ("default_results_count = 5", 5, 50), ("max_results_count = 8", 8, 8)],
)
def test_number_of_results_is_bounded_by_settings(
    limits: str, default: int, most: int, tmp_path: Path
) -> None:
    """What is set stands in the tool's own schema."""
    (tool,) = profile_for(loaded(f"[web_search]\n{limits}\n", tmp_path)).tools
    count = tool.arguments.schema_for_clients()["properties"]["results_count"]
    assert (count["default"], count["maximum"]) == (default, most)


def test_pool_settings_reach_the_pool(tmp_path: Path) -> None:
    text = "".join(
        f"{key} = {value}\n" for key, value in {r.key: r.other for r in SETTINGS}.items()
    )
    pool = pool_settings(loaded(f"[web_search]\n{text}", tmp_path).options)
    assert pool.health_check_interval_s == 60
    assert pool.max_consecutive_failures == 5
    assert pool.rate_limit_backoff_base_s == 30
    assert pool.request_delay_ms == (5, 9)
    assert (pool.rotate_user_agents, pool.use_random_instances) == (False, False)


def test_fetch_settings_reach_the_fetcher() -> None:
    limits = fetch_limits(Settings.load({"KINDLY_PROFILE": "searxng"}))
    assert (limits.concurrency, limits.timeout_s, limits.max_bytes) == (5, 45.0, 2_000_000)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("default_timeout = 'soon'", "web_search.default_timeout"),
        ("max_content_size = '2 pages'", "web_search.max_content_size"),
        ("content_fetch_timeout = true", "web_search.content_fetch_timeout"),
        ("content_fetch_timeout = 'x'", "web_search.content_fetch_timeout"),
        ("request_delay_range = [500, 100]", "web_search.request_delay_range"),
        ("request_delay_range = 100", "web_search.request_delay_range"),
        ("max_results_count = 51", "web_search.max_results_count"),
        ("colour = 1", "web_search.colour"),
    ],
)
def test_a_wrong_setting_is_named_as_it_was_written(text: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(f"[web_search]\n{text}\n", tmp_path)
    assert named in caught.value.detail
    assert "\n" not in caught.value.detail


def test_a_table_must_be_one_and_a_value_set_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="web_search must be a table"):
        loaded("web_search = 3\n", tmp_path)
    with pytest.raises(SettingsError, match="CONCURRENCY is set twice"):
        loaded("concurrency = 3\n[web_search]\nmax_concurrent_fetches = 4\n", tmp_path)


def test_the_pool_is_on_unless_there_is_an_own_instance() -> None:
    """Public instances; one's own takes their place."""
    names = {
        "": ["searxng_pool"],
        "SEARXNG_BASE_URL": ["searxng"],
        "SERPER_API_KEY": ["searxng_pool"],
    }
    for variable, expected in names.items():
        environ = {"KINDLY_PROFILE": "searxng", variable or "X": "https://searx.example.org"}
        assert [spec.name for spec in Settings.load(environ).configured()] == expected
    both = {"KINDLY_SEARXNG_POOL": "1", "SEARXNG_BASE_URL": "https://a.example"}
    settings = Settings.load({"KINDLY_PROFILE": "searxng", **both})
    assert [spec.name for spec in settings.configured()] == ["searxng", "searxng_pool"]


def test_instances_are_found_where_promised() -> None:
    """Searx.space."""
    assert searxng_pool.SPEC.base_url.startswith("https://searx.space/")


def test_nothing_of_a_search_is_kept_on_disk_by_default() -> None:
    """No history, temporary caching only."""
    settings = Settings.load({"KINDLY_PROFILE": "searxng"})
    assert settings.store.get_secret_value() == "memory"
    assert settings.pages_file is None


def test_robots_are_respected_by_default() -> None:
    assert Settings.load({"KINDLY_PROFILE": "searxng"}).respect_robots_txt is True


ATTEMPTED = ("https://search.example1.org", "https://search.example2.org")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (PoolExhausted("x", attempted=ATTEMPTED), "no_instances_available"),
        (NoProvider("x"), "no_instances_available"),
        (ProviderUnreachable("x"), "instance_unavailable"),
        (ProviderFailed("x"), "instance_unavailable"),
        (ProviderTimeout("x"), "timeout"),
        (ProviderRateLimited("x"), "rate_limited"),
        (ProviderBlocked("x"), "blocked"),
        (ProviderAnswerInvalid("x"), "invalid_response"),
        (ProviderAuth("x"), "access_denied"),
        (ProviderRejected("x"), "invalid_parameters"),
        (InputError("x", field="query"), "invalid_parameters"),
        (KindlyError("x"), "internal_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, KindlyError) else value,
)
def test_an_error_has_its_kind(error: KindlyError, kind: str) -> None:
    """Unavailability, time-outs, limits, bad parameters, unreadable answers."""
    output = failure(error, {"query": "rust"})
    assert output.failed
    assert output.structured["metadata"]["error_type"] == kind
    jsonschema.validate(output.structured, OUTPUT)


def test_an_exhausted_pool_gives_the_example_s_error() -> None:
    """But for the wording of the details."""
    stated = example("searxng_profile", "error")
    error = PoolExhausted(
        stated["metadata"]["error_details"], retry_after_s=300, attempted=ATTEMPTED
    )
    assert failure(error, {"query": "rust programming"}).structured == stated

"""Settings become the search: its providers and its state."""

import ssl
from pathlib import Path

import pytest

from kindly.app.search import build_search, setup_hints
from kindly.app.stage_settings import guard_policy
from kindly.search.providers import PROVIDERS
from kindly.settings import Settings

pytestmark = pytest.mark.anyio


def test_hints_name_every_provider_that_needs_one_setting() -> None:
    hints = setup_hints(PROVIDERS)
    assert {"SERPER_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY"} <= set(hints.keys)
    assert "GOOGLE_API_KEY" not in hints.keys
    assert set(hints.keyless) == {"KINDLY_KEYLESS=1", "KINDLY_SEARXNG_POOL=1", "SEARXNG_BASE_URL"}


@pytest.mark.parametrize("recorded", [False, True])
async def test_the_state_is_a_file_unless_the_session_is_recorded(
    tmp_path: Path, recorded: bool
) -> None:
    more = {"KINDLY_CASSETTE": str(tmp_path / "session.jsonl")} if recorded else {}
    settings = Settings.load({"DATA_DIR": str(tmp_path), "SERPER_API_KEY": "made-up", **more})
    opened = build_search(settings, ssl.create_default_context(), guard_policy(settings))
    await opened.state.load("provider-stats")
    await opened.aclose()
    assert (tmp_path / "search.sqlite").exists() is not recorded
    assert all(client.is_closed for client in opened.clients)


async def test_the_public_pool_has_background_work_and_other_providers_have_none() -> None:
    for environ, count in (({"KINDLY_SEARXNG_POOL": "1"}, 1), ({"SERPER_API_KEY": "made-up"}, 0)):
        settings = Settings.load({**environ, "KINDLY_STORE": "memory"})
        opened = build_search(settings, ssl.create_default_context(), guard_policy(settings))
        assert len(opened.maintenance) == count
        await opened.aclose()

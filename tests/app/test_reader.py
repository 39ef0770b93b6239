"""Settings become the library of read pages: its store, its embedder and its policy."""

from datetime import timedelta
from pathlib import Path

import pytest

from kindly.app.reader import build_embedder, build_library, build_store, library_policy
from kindly.settings import Settings

pytestmark = pytest.mark.anyio


def test_the_policy_has_the_units_of_the_library() -> None:
    policy = library_policy(
        Settings.load(
            {"KINDLY_LIBRARY_MB": "7", "KINDLY_LIBRARY_DAYS": "3", "KINDLY_CACHE_HOURS": "2"}
        )
    )
    assert (policy.max_bytes, policy.max_age) == (7_000_000, timedelta(days=3))
    assert policy.fresh_for == timedelta(hours=2)


async def test_the_store_is_the_configured_one_and_creates_no_file_yet(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = build_store(Settings.load({"DATA_DIR": str(folder), "KINDLY_STORE": "sqlite"}))
    assert type(store).__module__.startswith("kindly.read.stores.sqlite")
    assert not folder.exists()
    await store.aclose()


async def test_the_local_embedder_needs_no_client() -> None:
    assert build_embedder(Settings.load({}), None).client is None


async def test_a_remote_embedder_gets_a_client_that_is_closed_with_the_library() -> None:
    settings = Settings.load(
        {"EMBEDDING_SERVER_URL": "http://embedder.example/v1", "KINDLY_STORE": "memory"}
    )
    opened = build_library(settings, None)
    assert opened.client is not None
    await opened.aclose()
    assert opened.client.is_closed

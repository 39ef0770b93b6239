"""Settings → the reader with its store and its embedder. Imported at the first page that is kept, not at the start."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio

import kindly
from kindly.app.proxies import api_proxies
from kindly.net.api_client import STRAIGHT, Traffic, build_client
from kindly.read.embedder import Embedder
from kindly.read.library import Library, LibraryPolicy
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.settings import STORE_NAMES, Settings
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import ssl

    import httpx2

EMBEDDING_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class OpenLibrary:
    """The reader, and what is to be closed after it."""

    reader: Library
    client: "httpx2.AsyncClient | None" = None

    async def aclose(self) -> None:
        """Let go of the store and the connection."""
        await self.reader.store.aclose()
        if self.client is not None:
            await self.client.aclose()


def build_reader(
    settings: Settings,
    context: "ssl.SSLContext | None",
    traffic: Traffic = STRAIGHT,
    alarm: WarnOnce | None = None,
) -> OpenLibrary:
    """Reading as these settings want it; nothing is opened yet.

    Raises:
        StoreUnavailable: the store's driver is not installed.
        SettingsError: a proxy setting cannot be used.
    """
    store = build_store(settings)
    if settings.embedding_server_url is None:
        return OpenLibrary(Library(store, _local(), rules(settings), alarm=alarm))
    client = build_client(
        timeout_s=EMBEDDING_TIMEOUT_S,
        user_agent=kindly.SERVER_NAME,
        context=context,
        proxies=api_proxies(settings),
        around=traffic.around,
    )
    embedder = _remote(settings, client, traffic.slots)
    return OpenLibrary(Library(store, embedder, rules(settings), alarm=alarm), client)


def build_store(settings: Settings) -> Store:
    """The library that is configured.

    Raises:
        StoreUnavailable: its driver is not installed.
    """
    named = settings.store.get_secret_value() if settings.keeps else "memory"
    name, url = (named, "") if named in STORE_NAMES else ("postgres", named)
    return open_store(name, StoreSettings(settings.data_path, url))


def rules(settings: Settings) -> LibraryPolicy:
    """How pages are cut and kept."""
    return LibraryPolicy(
        chunk_tokens=settings.embedding_tokens_size,
        threshold=settings.similarity_threshold,
        fresh_for=timedelta(hours=settings.cache_hours),
        max_bytes=settings.library_mb * 1_000_000,
        max_age=timedelta(days=settings.library_days),
    )


def _local() -> Embedder:
    from kindly.read.embedders.local import LocalEmbedder

    return LocalEmbedder()


def _remote(
    settings: Settings, client: "httpx2.AsyncClient", slots: anyio.Semaphore | None
) -> Embedder:
    from kindly.read.embedders.openai import OpenAiEmbedder, Server

    server = Server(
        settings.embedding_server_url or "",
        settings.embedding_model_name,
        settings.embedding_server_api_key,
        batches=min(settings.concurrency, 4),
        timeout_s=EMBEDDING_TIMEOUT_S,
    )
    return OpenAiEmbedder(client, server, slots=slots)

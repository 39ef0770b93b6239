"""Settings → the library of read pages with its store and its embedder. Imported with the first page that is read."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kindly.app.stage_settings import api_proxies
from kindly.frozen import frozen
from kindly.net.api_client import STRAIGHT, Traffic, build_client
from kindly.read.embedder import Embedder, EmbedderSettings
from kindly.read.indexing.index_queue import IndexQueue, IsBusy, QueueLimits, never_busy
from kindly.read.indexing.page_indexer import ProcessIndexer
from kindly.read.library import Library, LibraryPolicy
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.settings import Settings
from kindly.storage.journal import Journal
from kindly.telemetry.warn_once import WarnOnce
from kindly.version import SERVER_NAME

if TYPE_CHECKING:
    import ssl

    import httpx2

EMBEDDING_TIMEOUT_S = 20.0
MAX_BATCHES = 4
LEFT_PAGES = 50
"""Pages that commands leave to the next process."""


@frozen
class OpenLibrary:
    """The library, and what to close after it."""

    library: Library
    client: "httpx2.AsyncClient | None" = None

    async def aclose(self) -> None:
        """Close the library and the connections to the embedding server."""
        await self.library.aclose()
        if self.client is not None:
            await self.client.aclose()


@frozen
class OpenEmbedder:
    """The configured embedder, and the client to close after it."""

    embedder: Embedder
    client: "httpx2.AsyncClient | None" = None


def build_library(
    settings: Settings,
    context: "ssl.SSLContext | None",
    traffic: Traffic = STRAIGHT,
    warn_once: WarnOnce | None = None,
) -> OpenLibrary:
    """The library for these settings; its store and its embedder connect at first use.

    Raises:
        StoreUnavailable: the driver of the store is not installed.
        SettingsError: a proxy setting cannot be used.
    """
    store = build_store(settings)
    opened = build_embedder(settings, context, traffic)
    library = Library(store, opened.embedder, library_policy(settings), warnings=warn_once)
    return OpenLibrary(library, opened.client)


async def open_queue(
    library: Library,
    settings: Settings,
    is_busy: IsBusy = never_busy,
    *,
    leaves_pages: bool = False,
) -> IndexQueue:
    """Have the library store pages after their answer; pages that another process left come first.

    They wait while calls run (`is_busy`). `leaves_pages`: closing it leaves a few pages to the next process, and so
    takes no time.
    """
    journal = Journal(_queue_folder(settings)) if settings.store_spec.is_persistent else None
    indexer = None
    if not settings.embedder_spec.is_remote:
        indexer = ProcessIndexer(settings.embedding_tokens_size, settings.child_environ)
    limits = QueueLimits(left_pages=LEFT_PAGES if leaves_pages else 0)
    return await library.open_queue(journal, indexer, limits, is_busy)


def _queue_folder(settings: Settings) -> Path:
    """The journal of this store: pages that are left for one store are not for another."""
    spec = settings.store_spec
    address = settings.store.get_secret_value() if spec.schemes else ""
    name = f"{spec.name}-{sha256(address.encode()).hexdigest()[:12]}" if address else spec.name
    return settings.data_path / "queue" / name


def build_store(settings: Settings) -> Store:
    """The configured store; it connects at first use.

    Raises:
        StoreUnavailable: its driver is not installed.
    """
    spec = settings.store_spec
    url = settings.store.get_secret_value() if spec.schemes else ""
    return open_store(spec.name, StoreSettings(settings.data_path, url))


def build_embedder(
    settings: Settings, context: "ssl.SSLContext | None", traffic: Traffic = STRAIGHT
) -> OpenEmbedder:
    """The configured embedder. A remote one needs a TLS `context` and gets an API client.

    Raises:
        SettingsError: a proxy setting cannot be used.
    """
    spec = settings.embedder_spec
    client = _client(settings, context, traffic) if spec.is_remote else None
    return OpenEmbedder(spec.open(embedder_settings(settings, client, traffic)), client)


def embedder_settings(
    settings: Settings,
    client: "httpx2.AsyncClient | None" = None,
    traffic: Traffic = STRAIGHT,
) -> EmbedderSettings:
    """What embedders may use."""
    return EmbedderSettings(
        options=settings.options,
        client=client,
        max_batches=min(settings.concurrency, MAX_BATCHES),
        timeout_s=EMBEDDING_TIMEOUT_S,
        slots=traffic.slots,
    )


def library_policy(settings: Settings) -> LibraryPolicy:
    """How pages are cut into chunks, and how long they are kept."""
    return LibraryPolicy(
        chunk_tokens=settings.embedding_tokens_size,
        threshold=settings.similarity_threshold,
        cosine_threshold=settings.cosine_threshold,
        fresh_for=timedelta(hours=settings.cache_hours),
        max_bytes=settings.library_mb * 1_000_000,
        max_age=timedelta(days=settings.library_days),
    )


def _client(
    settings: Settings, context: "ssl.SSLContext | None", traffic: Traffic
) -> "httpx2.AsyncClient":
    return build_client(
        timeout_s=EMBEDDING_TIMEOUT_S,
        user_agent=SERVER_NAME,
        context=context,
        proxies=api_proxies(settings),
        around=traffic.around,
    )

"""Who is asked, in what order, and when somebody else is asked instead.

Providers come in, ready to be called and in order; hits of the first that answers go out. The
router does not know which vendors there are, nor how they are called.
"""

import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import anyio

from kindly.budget import Deadline
from kindly.errors import NoProvider, ProviderFailed, ProviderUnreachable, SearchError
from kindly.models import Hit, Hits, Query
from kindly.search.provider import SearchProvider
from kindly.urls import canonical

CALL_TIMEOUT_S = 10.0
SHARE_WHEN_OTHERS_FOLLOW = 0.6
"""Of the time left, what one provider may use while another could still be asked."""
RETRY_PAUSE_S = 0.5
"""Mean pause before the one retry; the real one is between half and one and a half of it."""


@dataclass(frozen=True, slots=True)
class Router:
    """The configured providers in order. With none, every search says what to set."""

    providers: tuple[SearchProvider, ...]
    key_settings: tuple[str, ...]
    """Names of the settings that would configure one."""
    call_timeout_s: float = CALL_TIMEOUT_S
    url_key: Callable[[str], str] = canonical
    """Two hits whose addresses have the same key are one."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    rand: Callable[[], float] = random.random
    """From 0 up to 1."""

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """The distinct hits of the first provider that answers, at most `query.count`.

        Raises:
            NoProvider: None is configured.
            SearchError: The first provider's error, if nobody answered.
        """
        if not self.providers:
            raise self._none_configured()
        failures: list[SearchError] = []
        for others_left, provider in zip(
            reversed(range(len(self.providers))), self.providers, strict=True
        ):
            try:
                if others_left:
                    hits = await provider.search(query, self._share_of(deadline))
                else:
                    hits = await self._search_last(provider, query, deadline)
            except SearchError as error:
                failures.append(error)
                if not error.try_next:
                    break
            else:
                return Hits(
                    query=query,
                    hits=distinct(hits, self.url_key)[: query.count],
                    provider=provider.name,
                    failed=tuple(failure.provider for failure in failures),
                )
        raise with_fallbacks_noted(failures[0], failures[1:])

    async def _search_last(
        self, provider: SearchProvider, query: Query, deadline: Deadline
    ) -> tuple[Hit, ...]:
        """Ask the one after whom nobody comes: a passing fault is tried once more."""
        pause_s = RETRY_PAUSE_S * (0.5 + self.rand())
        try:
            return await provider.search(query, deadline.within(self.call_timeout_s))
        except (ProviderFailed, ProviderUnreachable) as error:
            if error.retry_after_s is not None or pause_s >= deadline.remaining_s():
                raise
        await self.sleep(pause_s)
        return await provider.search(query, deadline.within(self.call_timeout_s))

    def _share_of(self, deadline: Deadline) -> Deadline:
        share_s = SHARE_WHEN_OTHERS_FOLLOW * deadline.remaining_s()
        return deadline.within(min(share_s, self.call_timeout_s))

    def _none_configured(self) -> NoProvider:
        return NoProvider(
            f"No search provider is configured: set {' or '.join(self.key_settings)}. "
            "Pages can be read without a key: get_content (kindly fetch) works."
        )


def distinct(hits: Iterable[Hit], url_key: Callable[[str], str]) -> tuple[Hit, ...]:
    """The hits in order, the first of each address."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(url_key(hit.url), hit)
    return tuple(first.values())


def with_fallbacks_noted(primary: SearchError, others: list[SearchError]) -> SearchError:
    """The primary's error, saying in a few words that the others failed too, and how."""
    if not others:
        return primary
    outcomes = ", ".join(f"{other.provider} ({other.outcome})" for other in others)
    return type(primary)(
        f"{primary.detail} The fallback failed too: {outcomes}.",
        provider=primary.provider,
        status=primary.status,
        retry_after_s=primary.retry_after_s,
    )

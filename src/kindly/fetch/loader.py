"""Loaders: sources with a better way to their content than the page itself. First match wins; the
web page is last.
"""

from collections.abc import Sequence
from typing import Protocol

from kindly.errors import KindlyError
from kindly.fetch.calls import Fetch, Wanted
from kindly.models import Page
from kindly.urls import Url


class Loader(Protocol):
    """One way to get the pages of one kind of source."""

    @property
    def name(self) -> str:
        """A word for it, as `how` shows it."""

    def matches(self, url: Url) -> bool:
        """Whether it knows this address; decided from the address alone."""

    async def load(self, wanted: Wanted, get: Fetch) -> Page:
        """The page, had through `get`; raises a leaf with `try_next` to leave it to the next
        loader.
        """


class Loaders:
    """Gets a page through the first loader that matches; one that gives up yields to the next."""

    def __init__(self, loaders: Sequence[Loader], get: Fetch) -> None:
        self._loaders = tuple(loaders)
        self._get = get

    async def __call__(self, wanted: Wanted) -> Page:
        """The page; raises what the last loader raised."""
        matching = [loader for loader in self._loaders if loader.matches(wanted.url)]
        for loader in matching[:-1]:
            try:
                return await loader.load(wanted, self._get)
            except KindlyError as error:
                if not error.try_next:
                    raise
        return await matching[-1].load(wanted, self._get)

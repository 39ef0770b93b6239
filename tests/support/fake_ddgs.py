"""A fake of the used part of the library `ddgs`: engines with scripted responses, and its errors."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx2

from kindly.search.providers.duckduckgo import DdgsLibrary
from tests.support.fakes import FakeApi


class DDGSError(Exception):
    pass


class RatelimitError(DDGSError):
    pass


class TimedOutError(DDGSError):
    pass


class FakeClient:
    """Wraps errors like the library's client: all but time-outs become one error that contains the address."""

    def __init__(self, handle: Callable[[httpx2.Request], httpx2.Response]) -> None:
        self.handle = handle

    def request(self, method: str, url: str, params: dict[str, str]) -> httpx2.Response:
        try:
            return self.handle(httpx2.Request(method, url, params=params))
        except httpx2.TimeoutException as error:
            raise TimedOutError(error) from error
        except httpx2.RequestError as error:
            raise DDGSError(f"{type(error).__name__}: {url} {params}") from error


@dataclass
class FakeDdgs:
    """Call it to get the library; `searches` are the options of every search."""

    api: FakeApi
    searches: list[dict[str, Any]] = field(default_factory=list)
    timeouts: list[int] = field(default_factory=list)
    verticals: tuple[str, ...] = ("text", "news", "images", "videos")
    raised: Exception | None = None

    def __call__(self) -> DdgsLibrary:
        fake = self

        class Engine:
            search_url: ClassVar[str] = "https://vendor.example/search"

            def __init__(self, timeout: int) -> None:
                fake.timeouts.append(timeout)
                self.http_client = FakeClient(fake.api.handle)

            def search(self, **options: Any) -> list[SimpleNamespace] | None:
                fake.searches.append(options)
                if fake.raised is not None:
                    raise fake.raised
                params = {"q": options["query"]}
                response = self.http_client.request("GET", self.search_url, params=params)
                if response.status_code != 200:
                    return None
                return [SimpleNamespace(**row) for row in json.loads(response.text)["results"]]

        return DdgsLibrary(
            engines={name: {"duckduckgo": Engine} for name in self.verticals},
            error=DDGSError,
            timeout=TimedOutError,
            rate_limit=RatelimitError,
            broken=(ValueError, TypeError, AttributeError, KeyError),
        )

"""An app on a local site, and its verbs with their outcome as text."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kindly import pipeline
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.models import Query
from kindly.settings import Settings
from kindly.stages import ignore_progress
from tests.support.served_world import BOTH, environment, serper
from tests.support.site import ARTICLE, Site, html

CALL_S = 100.0


@dataclass(frozen=True)
class Engine:
    """An app on a site whose search finds the site's pages."""

    app: App
    site: Site

    async def search(self, words: str) -> str:
        """The outcomes of the pages found, or the error."""
        try:
            _, sources = await pipeline.search(
                self.app.stages, Query(words), Deadline.after(CALL_S), ignore_progress
            )
        except KindlyError as error:
            return error.detail
        return " ".join(source.outcome.kind for source in sources)

    async def fetch(self, path: str) -> str:
        """How the page was retrieved, or the error."""
        try:
            document = await pipeline.fetch(
                self.app.stages, self.site.url(path), ExtractOptions(), Deadline.after(CALL_S)
            )
        except KindlyError as error:
            return error.detail
        return str(document.how)

    async def read(self, path: str) -> str:
        """How the page was retrieved with its note, or the error."""
        try:
            found = await pipeline.read(
                self.app.stages, self.site.url(path), ["bees"], Deadline.after(CALL_S)
            )
        except KindlyError as error:
            return error.detail
        return " ".join(filter(None, (str(found.how), found.note)))


def pages(site: Site, count: int = 6) -> None:
    """Pages `/p0`, `/p1` and so on, of which a search finds the last."""
    for number in range(count):
        site.add(f"/p{number}", html(ARTICLE.replace("flowers", f"flowers {number}")))
    site.add("/serper/search", serper([site.url(f"/p{count - 1}")]))


@asynccontextmanager
async def engine(site: Site, folder: Path, **more: str) -> AsyncIterator[Engine]:
    """An engine with its files in `folder`."""
    environ = environment(site, folder, **BOTH, KINDLY_BROWSER="off", KINDLY_WORKERS="1", **more)
    async with open_app(Settings.load(environ)) as app:
        yield Engine(app, site)

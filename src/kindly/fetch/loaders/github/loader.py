"""GitHub: threads, files, folders, READMEs, releases, commits, wiki pages and gists, through its API and its raw files.

Everything else on GitHub is loaded as a plain page. The code for the API is imported at the first such page.
"""

from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loaders.github import API, RAW, TOKEN
from kindly.fetch.loaders.github.target import target_of
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url


@frozen
class GitHub:
    """Loads a repository, its threads and its files."""

    name: str = "github"
    tokens: tuple[Need, ...] = (
        Need(TOKEN, "secret", "Raises GitHub's limits and enables discussions; optional."),
    )
    base_urls: tuple[tuple[str, str], ...] = (
        (API, "https://api.github.com"),
        (RAW, "https://raw.githubusercontent.com"),
    )

    def matches(self, url: Url) -> bool:
        return target_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The target of the URL as Markdown; files that are not text unchanged."""
        target = target_of(url)
        if target is None:
            raise NotLoaded("GitHub's API has nothing for this URL.", url=str(url))
        from kindly.fetch.loaders.github.github_api import load_target

        return await load_target(url, target, client)


GITHUB = GitHub()

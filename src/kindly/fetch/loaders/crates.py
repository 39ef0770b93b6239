"""crates.io: a crate's page → its metadata and README, through the registry's API."""

import re
from html import escape

import anyio.to_thread

from kindly.errors import FetchError
from kindly.fetch.loader_kit.html_article import Article, article_page, facts, tidy
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import day
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

HOST = "crates.io"
CRATE = re.compile(r"/crates/([A-Za-z][\w-]{0,63})(?:/([0-9][\w.+-]{0,60}))?/?\Z")
MAX_VERSIONS = 15


@frozen
class Crates:
    """Loads crates through the registry's API."""

    name: str = "crates"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (("CRATES_URL", f"https://{HOST}"),)

    def matches(self, url: Url) -> bool:
        return crate_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The crate, at the release in the URL or at the latest stable one."""
        found = crate_of(url)
        if found is None:
            raise NotLoaded("The URL does not name a crate.", url=str(url))
        crate, release = found
        answer = JsonFields.of(
            await client.json(client.address("CRATES_URL", f"/api/v1/crates/{crate}"))
        )
        version = release or latest(answer.part("crate"))
        readme = await _readme(crate, version, client)
        body = await anyio.to_thread.run_sync(plain, readme)
        return article_page(to_article(answer, version, body), client.now)


async def _readme(crate: str, version: str, client: LoaderClient) -> str:
    """The README as the registry renders it; empty if there is none."""
    api_url = client.address("CRATES_URL", f"/api/v1/crates/{crate}/{version}/readme")
    try:
        reply = await client.api(api_url, (("Accept", "text/html"),))
    except FetchError:
        return ""
    return reply.body.decode("utf-8", "replace")


def crate_of(url: Url) -> tuple[str, str] | None:
    """The crate and the release in a URL; the release may be empty."""
    found = CRATE.match(url.target.partition("?")[0])
    if found is None or url.host not in {HOST, f"www.{HOST}"}:
        return None
    return found[1], found[2] or ""


def latest(crate: JsonFields) -> str:
    """The newest stable release, or the newest of all; raises `NotLoaded` if there is none."""
    stable = crate.text("max_stable_version") or crate.text("max_version")
    return stable or crate.needed("newest_version")


def plain(readme: str) -> str:
    """A rendered README without classes and wrappers."""
    from turbohtml import parse

    body = parse(readme).select_one("body")
    if body is None or not readme.strip():
        return ""
    for level in range(5, 0, -1):
        for title in body.select(f"h{level}"):
            title.tag = f"h{level + 1}"
    tidy(body)
    return body.inner_html


def to_article(answer: JsonFields, version: str, readme: str) -> Article:
    """The API's answer as an article, with the README below it.

    Raises:
        NotLoaded: it does not describe a crate, or not that release.
    """
    crate = answer.part("crate")
    releases = answer.parts("versions")
    release = next((item for item in releases if item.text("num") == version), None)
    if release is None:
        raise NotLoaded("The crate has no such release.", url="")
    name = crate.needed("name")
    parts = [
        f"<p>{escape(crate.text('description').strip())}</p>",
        _facts(crate, release),
        _versions(releases),
        "<h2>README</h2>",
        readme or "<p>The crate has no README.</p>",
    ]
    return Article(
        title=f"{name} {version}",
        body="\n".join(filter(None, parts)),
        url=f"https://{HOST}/crates/{name}",
        published=release.text("created_at"),
        site=HOST,
    )


def _facts(crate: JsonFields, release: JsonFields) -> str:
    features = release.part("features").values
    return facts(
        (
            ("Released", day(release.text("created_at"))),
            ("Yanked", "yes" if release.flag("yanked") else ""),
            ("Licence", escape(release.text("license"))),
            ("Rust", escape(release.text("rust_version"))),
            ("Downloads", f"{crate.number('downloads'):,}"),
            ("Documentation", escape(crate.text("documentation"))),
            ("Repository", escape(crate.text("repository"))),
            ("Homepage", escape(crate.text("homepage"))),
            ("Keywords", escape(", ".join(crate.texts("keywords")))),
            ("Features", escape(", ".join(list(features)[:40]))),
        )
    )


def _versions(releases: list[JsonFields]) -> str:
    rows = [
        f"<li><code>{escape(item.text('num'))}</code>: {day(item.text('created_at'))}"
        f"{', yanked' if item.flag('yanked') else ''}</li>"
        for item in releases[:MAX_VERSIONS]
    ]
    more = len(releases) - len(rows)
    rows += [f"<li>… and {more} older</li>"] if more > 0 else []
    return f"<h2>Releases</h2>\n<ul>{''.join(rows)}</ul>"


CRATES = Crates()

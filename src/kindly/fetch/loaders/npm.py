"""npm: a package's page → its metadata and README, from the registry."""

import re
from urllib.parse import quote

from kindly.errors import FetchError, PageTooLarge
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import (
    day,
    document,
    heading,
    line,
    markdown_page,
    shown,
)
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

HOSTS = frozenset({"www.npmjs.com", "npmjs.com"})
PACKAGE = re.compile(r"/package/((?:@[\w.~-]+/)?[\w.~-]+)(?:/v/([\w.+-]{1,60}))?/?\Z")
MAX_VERSIONS = 15
MAX_DEPENDENCIES = 40


@frozen
class Npm:
    """Loads packages from the registry; those with too many releases to fetch, by their latest release only."""

    name: str = "npm"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (
        ("NPM_REGISTRY_URL", "https://registry.npmjs.org"),
        ("NPM_FILES_URL", "https://unpkg.com"),
    )

    def matches(self, url: Url) -> bool:
        return package_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The package, at the release in the URL or at the latest one."""
        found = package_of(url)
        if found is None:
            raise NotLoaded("The URL does not name a package.", url=str(url))
        package, version = found
        try:
            api_url = client.address("NPM_REGISTRY_URL", f"/{quote(package, safe='@')}")
            text = to_markdown(JsonFields.of(await client.json(api_url)), version)
        except PageTooLarge:
            text = await _by_release(package, version, client)
        return markdown_page(url, text, client.now)


async def _by_release(package: str, version: str, client: LoaderClient) -> str:
    """One release, and the README from its files."""
    path = f"/{quote(package, safe='@')}/{version or 'latest'}"
    release = JsonFields.of(await client.json(client.address("NPM_REGISTRY_URL", path)))
    number = release.needed("version")
    try:
        file = client.address("NPM_FILES_URL", f"/{package}@{number}/README.md")
        readme = (await client.api(file)).body.decode("utf-8", "replace")
    except FetchError:
        readme = release.text("readme")
    return _laid_out(JsonFields({}), release, readme)


def package_of(url: Url) -> tuple[str, str] | None:
    """The package and the release in a URL; the release may be empty."""
    path = url.target.partition("?")[0].replace("%40", "@").replace("%2F", "/").replace("%2f", "/")
    found = PACKAGE.match(path) if url.host in HOSTS else None
    return (found[1], found[2] or "") if found else None


def to_markdown(package: JsonFields, version: str = "") -> str:
    """The registry's answer as Markdown.

    Raises:
        NotLoaded: it does not have that release, or any.
    """
    number = version or package.part("dist-tags").needed("latest")
    release = package.part("versions").part(number)
    if not release.values:
        raise NotLoaded("The package has no such release.", url="")
    readme = package.text("readme") or release.text("readme")
    return _laid_out(package, release, readme)


def _laid_out(package: JsonFields, release: JsonFields, readme: str) -> str:
    missing = not readme.strip() or readme.startswith("ERROR: No README data found!")
    return document(
        heading(1, f"{release.needed('name')} {release.text('version')}"),
        f"**Deprecated:** {line(release.text('deprecated'))}" if release.text("deprecated") else "",
        line(release.text("description") or package.text("description")),
        _facts(package, release),
        _dependencies(release),
        _versions(package),
        "## README",
        "The package has no README." if missing else shown(readme, below=1),
    )


def _facts(package: JsonFields, release: JsonFields) -> str:
    tags = package.part("dist-tags")
    repository = release.part("repository").text("url") or release.text("repository")
    bugs = release.part("bugs").text("url") or release.text("bugs")
    tagged = ", ".join(f"{tag} {tags.text(tag)}" for tag in list(tags.values)[:8] if tags.text(tag))
    rows = (
        ("Released", day(package.part("time").text(release.text("version")))),
        ("Tags", tagged),
        ("Licence", release.text("license") or release.part("license").text("type")),
        ("Author", release.part("author").text("name") or release.text("author")),
        ("Homepage", release.text("homepage")),
        ("Repository", repository.removeprefix("git+").removesuffix(".git")),
        ("Issues", bugs),
        ("Node", release.part("engines").text("node")),
        ("Keywords", ", ".join(release.texts("keywords")[:20])),
    )
    return "\n".join(f"- **{name}:** {line(value)}" for name, value in rows if value)


def _dependencies(release: JsonFields) -> str:
    needed = release.part("dependencies")
    peers = release.part("peerDependencies")
    rows = [f"- {name} {needed.text(name)}" for name in needed.values]
    rows += [f"- {name} {peers.text(name)} (peer)" for name in peers.values]
    if not rows:
        return "No dependencies."
    more = len(rows) - MAX_DEPENDENCIES
    shown_rows = rows[:MAX_DEPENDENCIES] + ([f"- … and {more} more"] if more > 0 else [])
    return document(f"## Dependencies ({len(rows)})", "\n".join(shown_rows))


def _versions(package: JsonFields) -> str:
    """The latest releases with their dates."""
    times = package.part("time")
    dated = [
        (times.text(version), f"- {version}: {day(times.text(version))}")
        for version in package.part("versions").values
        if times.text(version)
    ]
    if not dated:
        return ""
    newest = [row for _, row in sorted(dated, reverse=True)[:MAX_VERSIONS]]
    more = len(dated) - len(newest)
    newest += [f"- … and {more} older"] if more > 0 else []
    return document("## Releases", "\n".join(newest))


NPM = Npm()

"""PyPI: a project's page → its metadata and README, through the JSON API."""

import re

from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.fetch.loader_kit.markdown_parts import (
    day,
    document,
    fenced,
    heading,
    line,
    markdown_page,
    shown,
)
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

HOST = "pypi.org"
PROJECT = re.compile(r"/project/([A-Za-z0-9][\w.-]{0,100})(?:/([\w.!+-]{1,60}))?/?\Z")
MAX_VERSIONS = 15
MAX_DEPENDENCIES = 40
MAX_LICENCE_CHARACTERS = 100
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})


@frozen
class Pypi:
    """Loads projects through the JSON API."""

    name: str = "pypi"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (("PYPI_URL", f"https://{HOST}"),)

    def matches(self, url: Url) -> bool:
        return project_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The project, at the release in the URL or at the latest one."""
        found = project_of(url)
        if found is None:
            raise NotLoaded("The URL does not name a project.", url=str(url))
        project, version = found
        path = f"/pypi/{project}/{version}/json" if version else f"/pypi/{project}/json"
        answer = JsonFields.of(await client.json(client.address("PYPI_URL", path)))
        return markdown_page(url, to_markdown(answer), client.now)


def project_of(url: Url) -> tuple[str, str] | None:
    """The project and the release in a URL; the release may be empty."""
    found = PROJECT.match(url.target.partition("?")[0])
    if found is None or url.host not in {HOST, f"www.{HOST}"}:
        return None
    return found[1], found[2] or ""


def to_markdown(answer: JsonFields) -> str:
    """The API's answer as Markdown.

    Raises:
        NotLoaded: it does not describe a project.
    """
    info = answer.part("info")
    return document(
        heading(1, f"{info.needed('name')} {info.text('version')}"),
        line(info.text("summary")),
        _facts(answer, info),
        _links(info),
        _dependencies(info),
        _versions(answer),
        "## Description",
        _description(info),
    )


def _facts(answer: JsonFields, info: JsonFields) -> str:
    uploads = [file.text("upload_time_iso_8601") for file in answer.parts("urls")]
    rows = (
        ("Released", day(min(filter(None, uploads), default=""))),
        ("Python", info.text("requires_python")),
        ("Licence", _licence(info)),
        ("Author", info.text("author") or info.text("author_email")),
        ("Keywords", info.text("keywords")),
        ("Yanked", info.text("yanked_reason") or "yes" if info.flag("yanked") else ""),
    )
    return "\n".join(f"- **{name}:** {line(value)}" for name, value in rows if value)


def _licence(info: JsonFields) -> str:
    """The licence's name; some projects give the whole text instead."""
    classified = [
        item.rpartition(" :: ")[2]
        for item in info.texts("classifiers")
        if item.startswith("License ::")
    ]
    given = info.text("license_expression") or info.text("license")
    return given if 0 < len(given) <= MAX_LICENCE_CHARACTERS else ", ".join(classified)


def _links(info: JsonFields) -> str:
    links = info.part("project_urls")
    rows = [f"- {line(name)}: {links.text(name)}" for name in links.values if links.text(name)]
    home = info.text("home_page")
    if home and not rows:
        rows.append(f"- Homepage: {home}")
    return document("## Links", "\n".join(rows)) if rows else ""


def _dependencies(info: JsonFields) -> str:
    needed = [item for item in info.texts("requires_dist") if "extra ==" not in item]
    if not needed:
        return ""
    more = len(needed) - MAX_DEPENDENCIES
    rows = [f"- {line(item)}" for item in needed[:MAX_DEPENDENCIES]]
    rows += [f"- … and {more} more"] if more > 0 else []
    return document("## Dependencies", "\n".join(rows))


def _versions(answer: JsonFields) -> str:
    """The latest releases with their upload dates; releases without files are left out."""
    releases = answer.part("releases")
    dated = []
    for version in releases.values:
        files = releases.parts(version)
        uploaded = min((file.text("upload_time_iso_8601") for file in files), default="")
        if uploaded:
            yanked = " (yanked)" if all(file.flag("yanked") for file in files) else ""
            dated.append((uploaded, f"- {version}{yanked}: {day(uploaded)}"))
    if not dated:
        return ""
    newest = [row for _, row in sorted(dated, reverse=True)[:MAX_VERSIONS]]
    more = len(dated) - len(newest)
    newest += [f"- … and {more} older"] if more > 0 else []
    return document("## Releases", "\n".join(newest))


def _description(info: JsonFields) -> str:
    """The README: Markdown as it is, other markup verbatim in a code block."""
    text = info.text("description").replace("\r\n", "\n").strip("\n")
    kind = info.text("description_content_type").partition(";")[0].strip().lower()
    if not text.strip() or text.strip() == "UNKNOWN":
        return "The project has no description."
    if kind in MARKDOWN_TYPES:
        return shown(text, below=1)
    return text if kind == "text/plain" else fenced(text, "rst")


PYPI = Pypi()

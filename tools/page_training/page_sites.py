"""Documentation sites from unpacked packages, as pages with the addresses that they have on the web.

    apt-get download python-django-doc … && dpkg-deb -x python-django-doc_*.deb FOLDER/python-django-doc
    npm pack next … && mkdir FOLDER/npm-next && tar xzf next-*.tgz -C FOLDER/npm-next

A site whose package is not in the folder is left out. The order of pages, and which ones are taken, are always the
same.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

MAX_PAGES = 420
MAX_BYTES = 400_000
NOT_PAGES = re.compile(
    r"/(?:_modules|_static|_sources|_images|print)(?:/|\.html)|/(?:search|404|LICENSE|README)\.\w+$"
)
ORDER_NUMBER = re.compile(r"(?<=/)\d\d-")


@dataclass(frozen=True, slots=True)
class DocumentationSite:
    """Where the pages of a site are in a package, and what their addresses begin with."""

    name: str
    root: str
    base: str
    files: str = "**/*.html"
    only: str = ""
    """What the path of a page in the package must match."""
    suffix: str = ""
    """What the address has in place of the file's suffix."""

    def pages(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Address and file of each page."""
        root = folder / self.root
        found = [
            file
            for file in sorted(root.glob(self.files))
            if file.is_file()
            and file.stat().st_size <= MAX_BYTES
            and not NOT_PAGES.search("/" + file.relative_to(root).as_posix())
            and re.search(self.only, file.relative_to(root).as_posix())
        ]
        by_hash = sorted(found, key=lambda one: sha256(one.name.encode()).digest())
        for file in sorted(by_hash[:MAX_PAGES]):
            yield self.address(file.relative_to(root).as_posix()), file

    def address(self, path: str) -> str:
        """The address of a file of the package."""
        bare = ORDER_NUMBER.sub("", "/" + re.sub(r"\.\w+$", "", path))
        bare = re.sub(r"/index$", "/", bare).lstrip("/")
        return self.base + bare + ("" if not bare or bare.endswith("/") else self.suffix)


def _sphinx(name: str, base: str, suffix: str = ".html", only: str = "") -> DocumentationSite:
    """The site of a Debian package `python-…-doc`."""
    package = f"python-{name}-doc"
    return DocumentationSite(
        name, f"{package}/usr/share/doc/{package}/html", base, "**/*.html", only, suffix
    )


def _debian(
    name: str, root: str, base: str, suffix: str = ".html", only: str = ""
) -> DocumentationSite:
    """The site of another Debian package."""
    package, _, inner = root.partition(":")
    return DocumentationSite(
        name, f"{package}/usr/share/doc/{inner}", base, "**/*.html", only, suffix
    )


def _npm(name: str, inner: str, base: str, suffix: str = "") -> DocumentationSite:
    """The site of a package of npm that has its documentation in Markdown."""
    return DocumentationSite(name, f"npm-{name}/package/{inner}", base, "**/*.md*", "", suffix)


SITES = (
    _sphinx("django", "https://docs.djangoproject.com/en/3.2/", "/", r"^(?!releases/[01])"),
    _sphinx("sqlalchemy", "https://docs.sqlalchemy.org/en/14/"),
    _sphinx("flask", "https://flask.palletsprojects.com/en/2.2.x/", "/"),
    _sphinx("requests", "https://requests.readthedocs.io/en/latest/", "/"),
    _sphinx("pytest", "https://docs.pytest.org/en/7.2.x/"),
    _sphinx("celery", "https://docs.celeryq.dev/en/stable/"),
    _debian(
        "postgresql",
        "postgresql-doc-15:postgresql-doc-15/html",
        "https://www.postgresql.org/docs/15/",
        only=r"^(?:sql|functions|ddl|dml|indexes|mvcc|datatype|queries|textsearch|tutorial|runtime|routine|explicit"
        r"|app-p|performance|using-explain|plpgsql|transaction|release-15|bookindex|backup|high|monitoring|logical|triggers?)",
    ),
    _debian("git", "git-doc:git-doc", "https://git-scm.com/docs/", ""),
    _debian(
        "rust",
        "rust-doc:rust-doc/html",
        "https://doc.rust-lang.org/",
        only=r"^(?:book|reference|cargo)/(?!\w+-edition/)",
    ),
    _debian("nodejs", "nodejs-doc:nodejs/api", "https://nodejs.org/api/"),
    _sphinx("scrapy", "https://docs.scrapy.org/en/latest/"),
    _sphinx("tornado", "https://www.tornadoweb.org/en/stable/"),
    _sphinx("aiohttp", "https://docs.aiohttp.org/en/stable/"),
    _debian("sphinx", "sphinx-doc:sphinx-doc/html", "https://www.sphinx-doc.org/en/master/"),
    _sphinx("pymongo", "https://pymongo.readthedocs.io/en/stable/"),
    _debian(
        "sqlite",
        "sqlite3-doc:sqlite3",
        "https://www.sqlite.org/",
        only=r"^(?!c3ref/|syntax/|releaselog/[12])",
    ),
    _debian("apache", "apache2-doc:apache2-doc/manual/en", "https://httpd.apache.org/docs/2.4/"),
    _sphinx(
        "pandas",
        "https://pandas.pydata.org/docs/",
        only=r"^(?:user_guide|getting_started|whatsnew/v1|reference/[^/]*$|index)",
    ),
    _npm("next", "dist/docs", "https://nextjs.org/docs/"),
    _npm("ai", "docs", "https://ai-sdk.dev/docs/"),
    _npm("fastify", "docs", "https://fastify.dev/docs/latest/", "/"),
    _npm("npm", "docs/content", "https://docs.npmjs.com/cli/v11/"),
    _npm("react-router", "docs", "https://reactrouter.com/"),
)

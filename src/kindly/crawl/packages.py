"""The metadata of a package → the address of its documentation, in its version where the site offers versions. Pure."""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

from kindly import urls
from kindly.crawl.origin import MOVING, Origin, OriginKind
from kindly.errors import InputError
from kindly.frozen import frozen

REGISTRIES: Mapping[OriginKind, tuple[str, str]] = {
    OriginKind.PYPI: ("PYPI_URL", "https://pypi.org"),
    OriginKind.NPM: ("NPM_REGISTRY_URL", "https://registry.npmjs.org"),
}
"""The setting with the base address, and its default."""
DOCS_LABELS = (
    "documentation",
    "docs",
    "doc",
    "documentation url",
    "read the docs",
    "api reference",
)
CODE_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "pypi.org", "npmjs.com"})
MAX_JSON = 30_000_000
SEGMENT = re.compile(r"/([^/]+)(?=/)")


@frozen
class PackageDocs:
    """Where the documentation of a package is."""

    version: str
    urls: tuple[str, ...]
    """Addresses to try, the most specific first; the last one is not for one version."""
    page: str
    """The page of the package itself, which has its README."""


def metadata_url(origin: Origin, base: str) -> str:
    """The address of a package's metadata."""
    name, version = quote(origin.place, safe="@"), quote(origin.version)
    if origin.kind is OriginKind.PYPI:
        path = f"/pypi/{name}/{version}/json" if version else f"/pypi/{name}/json"
    else:
        path = f"/{name}/{version or 'latest'}"
    return base.rstrip("/") + path


def package_docs(origin: Origin, body: bytes) -> PackageDocs:
    """Where metadata says that the documentation is.

    Raises:
        InputError: the metadata cannot be read.
    """
    try:
        answer = json.loads(body)
        info = answer["info"] if origin.kind is OriginKind.PYPI else answer
        version = str(info["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"The metadata of {origin.place} cannot be read.", field="url") from error
    stated = _pypi_docs(info) if origin.kind is OriginKind.PYPI else _npm_docs(info)
    found = tuple(versioned(stated, version)) if stated else ()
    return PackageDocs(version, found, _own_page(origin, version))


def _own_page(origin: Origin, version: str) -> str:
    if origin.kind is OriginKind.PYPI:
        return f"https://pypi.org/project/{origin.place}/{version}/"
    return f"https://www.npmjs.com/package/{origin.place}/v/{version}"


def _pypi_docs(info: Mapping[str, object]) -> str:
    stated = info.get("project_urls")
    named = stated if isinstance(stated, dict) else {}
    links = {str(name).strip().lower(): str(url) for name, url in named.items()}
    for label in DOCS_LABELS:
        if address := _address(links.get(label)):
            return address
    home = links.get("homepage") or links.get("home") or info.get("home_page")
    return _address(info.get("docs_url")) or _site_address(home)


def _npm_docs(info: Mapping[str, object]) -> str:
    return _site_address(info.get("homepage"))


def _address(value: object) -> str:
    try:
        return str(urls.parse_page(value)) if isinstance(value, str) and value else ""
    except InputError:
        return ""


def _site_address(value: object) -> str:
    """A homepage, unless it is a page of a code host, which is not documentation."""
    address = _address(value)
    return "" if urls.domain(address) in CODE_HOSTS else address


def versioned(address: str, version: str) -> list[str]:
    """The addresses of the documentation in this version, as sites with versions write them, and then the given one."""
    host = urls.domain(address)
    plain = address if address.endswith("/") else f"{address}/"
    segments = [one for one in SEGMENT.findall(plain) if one in MOVING]
    names = _spellings(version)
    if segments:
        found = [plain.replace(f"/{segments[0]}/", f"/{name}/", 1) for name in names]
    elif host.endswith((".readthedocs.io", ".readthedocs.org")) and plain.count("/") <= 3:
        found = [f"{plain}en/{name}/" for name in names]
    else:
        found = []
    return [*found, address]


def _spellings(version: str) -> list[str]:
    """`1.2.3` → 1.2.3, v1.2.3, 1.2, v1.2, 1.2.x."""
    short = ".".join(version.split(".")[:2])
    names = [version, f"v{version}", short, f"v{short}", f"{short}.x"]
    return list(dict.fromkeys(names))

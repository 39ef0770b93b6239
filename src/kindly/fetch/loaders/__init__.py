"""The loaders, in the order in which they are tried; the plain page comes after them."""

from kindly.fetch.loader_kit.loader import Loader
from kindly.fetch.loaders.arxiv import ARXIV
from kindly.fetch.loaders.crates import CRATES
from kindly.fetch.loaders.github.loader import GITHUB
from kindly.fetch.loaders.hackernews import HACKERNEWS
from kindly.fetch.loaders.npm import NPM
from kindly.fetch.loaders.pypi import PYPI
from kindly.fetch.loaders.rfc import RFC
from kindly.fetch.loaders.stackexchange import STACKEXCHANGE
from kindly.fetch.loaders.twin import TWIN
from kindly.fetch.loaders.wikipedia import WIKIPEDIA
from kindly.fetch.loaders.youtube import YOUTUBE

LOADERS: tuple[Loader, ...] = (
    STACKEXCHANGE,
    GITHUB,
    WIKIPEDIA,
    ARXIV,
    PYPI,
    NPM,
    CRATES,
    HACKERNEWS,
    RFC,
    YOUTUBE,
    TWIN,
)

"""The loaders, in the order in which they are tried."""

from kindly.fetch.loader import Loader
from kindly.fetch.loaders.web import WEB

LOADERS: tuple[Loader, ...] = (WEB,)

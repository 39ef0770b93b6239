"""Profile `pages`: `web.search` and `web.readFromPage`."""

from kindly.server.profiles.pages.profile import PROFILE

__all__ = ["PROFILE"]

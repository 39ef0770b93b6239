"""Profile `searxng`: `web_search` over SearXNG."""

from kindly.server.profiles.searxng.profile import PROFILE

__all__ = ["PROFILE"]

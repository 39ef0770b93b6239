"""Profile `media`: `WebSearch` and `WebFetch`."""

from kindly.server.profiles.media.profile import PROFILE

__all__ = ["PROFILE"]

"""The profiles that can be offered, by name: a file each."""

from kindly.server.profiles import kindly
from kindly.server.tool import Profile

PROFILES: tuple[Profile, ...] = (kindly.PROFILE,)

"""Whether a real Chromium and its driver are installed."""

import os
from importlib.util import find_spec

import pytest

from kindly.errors import SettingsError
from kindly.fetch.browser.executables import find, this_machine


def missing() -> str:
    """Why it cannot be used; empty if it can."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    try:
        find(this_machine(os.environ))
    except SettingsError:
        return "no Chromium is installed"
    return ""


needs_chromium = pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")

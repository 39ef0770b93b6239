"""Type of computed styles."""

from collections.abc import Mapping

Style = Mapping[str, str]
"""Property → value, both lower case."""

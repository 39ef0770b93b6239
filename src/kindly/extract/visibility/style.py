"""Type of computed styles, and the properties that move or clip an element."""

from collections.abc import Mapping

Style = Mapping[str, str]
"""Property → value, both lower case."""
MOVED_OR_CLIPPED = frozenset({"clip", "clip-path", "text-indent", "left", "right", "inset"})
"""Properties that hide in another way than a closed panel or a text that fades in."""

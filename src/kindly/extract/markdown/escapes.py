r"""Escapes and entities that the Markdown library writes and a reader does not need, outside code.

`\[1\]` is a link for no parser unless an address or a definition follows, and a wide space at the edge of a paragraph
(`&#12288;`) says nothing. A tag for a line break within emphasis becomes a space.
"""

import re

CODE = r"^(?P<fence>[ >]*(?P<mark>`{3,}|~{3,})).*?^[ >]*(?P=mark)|(?P<tick>`+)(?!`)[^\n]+?(?<!`)(?P=tick)(?!`)"
SPACE_ENTITY = r"&#(?:160|819[2-9]|820[0-2]|8232|8233|8239|8287|12288);"
BRACKETS = r"(?<![\\!])\\\[(?P<inner>[^\[\]\\\n^|`]{1,80})\\\](?![(:\[])"
PROSE_FAULT = rf"(?P<space>(?:{SPACE_ENTITY}[ \u3000]*|<br> ?)+)|{BRACKETS}"
FAULT = re.compile(PROSE_FAULT)
FAULT_OR_CODE = re.compile(rf"{CODE}|{PROSE_FAULT}", re.M | re.S)
CHECK_BOX = frozenset({" ", "x", "X"})
"""In brackets at the start of a list item, these would be a check box."""


def without_escapes(markdown: str) -> str:
    """The text without escapes of brackets that are no link, and without entities for spaces; code stays as it is."""
    if "\\[" not in markdown and "&#" not in markdown and "<br>" not in markdown:
        return markdown
    pattern = FAULT_OR_CODE if "`" in markdown or "~~~" in markdown else FAULT
    return pattern.sub(_corrected, markdown)


def _corrected(found: re.Match[str]) -> str:
    if found["space"]:
        start = found.string.rfind("\n", 0, found.start()) + 1
        return " " if found.string[start : found.start()].strip(" >#*-+") else ""
    inner = found["inner"]
    return found[0] if inner is None or inner in CHECK_BOX else f"[{inner}]"

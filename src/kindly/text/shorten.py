"""Shorten texts to a number of characters, at the end of a paragraph, sentence or word. Pure."""

ELLIPSIS = "…"
BREAKS = ("\n\n", "\n", ". ", "。", " ")
EARLIEST = 2 / 3
"""Share of the length before which no break is used."""


def cut(text: str, characters: int) -> str:
    """The text, or its beginning of at most that many characters."""
    if len(text) <= characters:
        return text
    piece = text[:characters]
    for mark in BREAKS:
        at = piece.rfind(mark, int(characters * EARLIEST))
        if at > 0:
            return piece[: at + len(mark)].rstrip()
    return piece


def cut_markup(markup: str, characters: int) -> str:
    """The same for HTML: never inside a tag. Open elements are not closed."""
    if len(markup) <= characters:
        return markup
    piece = markup[:characters]
    opened = piece.rfind("<")
    return piece[:opened] if opened > piece.rfind(">") else piece


def snippet(text: str, characters: int) -> str:
    """One line of at most that many characters, with an ellipsis where it was shortened."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    piece = line[: characters - len(ELLIPSIS)]
    at = piece.rfind(" ", int(characters * EARLIEST))
    return f"{piece[:at] if at > 0 else piece}{ELLIPSIS}"

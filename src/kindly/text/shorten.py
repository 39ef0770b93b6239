"""Texts cut to a number of characters, where a reader would pause. Pure."""

ELLIPSIS = "…"
PAUSES = ("\n\n", "\n", ". ", "。", " ")
EARLIEST = 2 / 3
"""Of the length, from where on a pause is looked for."""


def cut(text: str, characters: int) -> str:
    """The text, or its beginning of at most so many characters."""
    if len(text) <= characters:
        return text
    piece = text[:characters]
    for pause in PAUSES:
        at = piece.rfind(pause, int(characters * EARLIEST))
        if at > 0:
            return piece[: at + len(pause)].rstrip()
    return piece


def cut_markup(markup: str, characters: int) -> str:
    """The same for HTML: never within a tag. Elements that are still open are left so."""
    if len(markup) <= characters:
        return markup
    piece = markup[:characters]
    opened = piece.rfind("<")
    return piece[:opened] if opened > piece.rfind(">") else piece


def snippet(text: str, characters: int) -> str:
    """One line of at most so many characters, an ellipsis where it was cut."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    piece = line[: characters - len(ELLIPSIS)]
    at = piece.rfind(" ", int(characters * EARLIEST))
    return f"{piece[:at] if at > 0 else piece}{ELLIPSIS}"

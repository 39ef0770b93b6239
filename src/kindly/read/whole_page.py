"""The chunks of a short page → its whole text as one passage.

A page that fits a short answer is given whole: choosing among its passages would save nothing, and might leave the
answer out.
"""

from collections.abc import Sequence

from kindly.budget import count_tokens
from kindly.models import Chunk, Passage

WHOLE_TOKENS = 600
"""The size of a short answer."""
MAX_GAP = 8
"""Characters between two chunks: line breaks. If there are more, a repeated part of the page was not stored."""


def whole_page(chunks: Sequence[Chunk], total: int, score: float | None) -> Passage | None:
    """The page as one passage; None if it is long, or not all of it was stored."""
    if total > 4 * WHOLE_TOKENS:
        return None
    text = _joined(chunks, total)
    if not text or count_tokens(text) > WHOLE_TOKENS:
        return None
    return Passage(text, 0, len(text), total, chunks[0].id, (), score)


def _joined(chunks: Sequence[Chunk], total: int) -> str:
    """The text of all chunks, each character at its offset; empty if some are missing."""
    text = ""
    for chunk in chunks:
        gap = chunk.start - len(text)
        if gap > MAX_GAP:
            return ""
        own = chunk.text[len(chunk.text) - (chunk.end - chunk.start) :]
        text += "\n" * gap + own[max(0, -gap) :]
    return text if total - len(text) <= MAX_GAP else ""

"""Repeated text: long texts that a page has more than once (copies for phones, of slides) → the copies to drop. Pure.

A reply that quotes a whole paragraph of a post above has a copy too: of such quotes three in four are no content by the
ground truth of forums, and the paragraph stays where it was written.

Short texts may repeat for good reasons ("Add to cart"). They are dropped only next to a long one, where the same texts
stand next to its first occurrence.
"""

from collections.abc import Sequence

MIN_CHARACTERS = 100
"""The least length of a text whose repetition is no accident."""
START_WORDS = 5
"""So many words at the start of two texts are compared first."""
STOPS = " .!?…"
"""What a copy may end with instead."""


def copies(texts: Sequence[str], candidates: Sequence[bool]) -> dict[int, int]:
    """The numbers of the candidates that repeat an earlier candidate, each with the number of that one."""
    first: dict[str, int] = {}
    found: dict[int, int] = {}
    for at in _possible(texts, candidates):
        words = " ".join(texts[at].split()).rstrip(STOPS)
        if len(words) < MIN_CHARACTERS:
            continue
        original = first.setdefault(words, at)
        if original != at:
            found[at] = original
            found.update(_alike_around(texts, candidates, original, at))
    return found


def _possible(texts: Sequence[str], candidates: Sequence[bool]) -> list[int]:
    """The numbers of the long candidates that start with the same words as another one: few, and fast to find."""
    starts: dict[tuple[str, ...], list[int]] = {}
    for at, text in enumerate(texts):
        if candidates[at] and len(text) >= MIN_CHARACTERS:
            words = text.split(None, START_WORDS)
            start = words[:START_WORDS] if len(words) > START_WORDS else ()
            starts.setdefault(tuple(start), []).append(at)
    return sorted(at for alike in starts.values() if len(alike) > 1 for at in alike)


def _alike_around(
    texts: Sequence[str], candidates: Sequence[bool], original: int, copy: int
) -> dict[int, int]:
    """The texts on both sides of a copy that are on the same side of the original as well."""
    alike: dict[int, int] = {}
    for step in (-1, 1):
        here, there = copy + step, original + step
        while (
            0 <= there < len(texts)
            and 0 <= here < len(texts)
            and here != original
            and there != copy
            and candidates[here]
            and candidates[there]
            and texts[here] == texts[there]
        ):
            alike[here] = there
            here, there = here + step, there + step
    return alike

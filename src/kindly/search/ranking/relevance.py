"""Do results have anything to do with the query? A provider that blocks us may answer with results of something else.

Pure and slow to suspect: one word shared by one result, or one that merely looks like it, is enough to believe them.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote

from kindly.models import Hit
from kindly.search.ranking.query_words import STOP_WORDS, UNSPACED, plain, terms, words

MIN_HITS = 3
"""Fewer results prove nothing."""
CLOSE = 0.8
"""How alike a word and its corrected spelling are at least."""

EXCLUDED = re.compile(r"(?:^|\s)-\S+")
SCOPES = re.compile(r"\b(?:site|filetype|ext|lang|loc|before|after|since|until):\S+", re.IGNORECASE)
"""Operators whose operand need not stand in a result's text."""
OPERATORS = re.compile(
    r"\b(?:intitle|allintitle|inurl|allinurl|intext|allintext|inbody|related|cache):"
    r"|\b(?:AND|OR|NOT|AROUND)\b"
)


def looks_unrelated(query: str, hits: Sequence[Hit]) -> bool:
    """Whether there are several hits and none of them shares any word with the query."""
    if len(hits) < MIN_HITS:
        return False
    subject = subject_of(query)
    wanted = telling(terms(subject))
    if not wanted:
        return False
    texts = [plain(f"{hit.title} {hit.snippet} {unquote(hit.url)}") for hit in hits]
    if any(term in text for text in texts for term in wanted):
        return False
    return not _is_misspelt(subject, texts)


def subject_of(query: str) -> str:
    """The query without operators, and without what they limit or exclude."""
    return OPERATORS.sub(" ", SCOPES.sub(" ", EXCLUDED.sub(" ", query)))


def telling(found: frozenset[str]) -> frozenset[str]:
    """The terms without single letters, which stand in any text; unless there is nothing else."""
    return frozenset(term for term in found if len(term) > 1 or UNSPACED.match(term)) or found


def _is_misspelt(subject: str, texts: Sequence[str]) -> bool:
    """Whether the results are for a corrected spelling of a word of the query."""
    from difflib import get_close_matches

    present = {word for text in texts for word in words(text)}
    return any(
        get_close_matches(word, present, n=1, cutoff=CLOSE)
        for word in words(subject)
        if word not in STOP_WORDS
    )

"""Whether results are related to the query: a site that blocks robots may return results of something else.

Pure and lenient: one word that one result shares with the query, or a similar one, is enough.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote

from kindly.models import Hit
from kindly.search.ranking.query_words import STOP_WORDS, UNSPACED, plain, terms, words

MIN_HITS = 3
"""Fewer results are not judged."""
MIN_SIMILARITY = 0.8
"""Of a word and its corrected spelling."""

EXCLUDED = re.compile(r"(?:^|\s)-\S+")
SCOPES = re.compile(r"\b(?:site|filetype|ext|lang|loc|before|after|since|until):\S+", re.IGNORECASE)
"""Operators whose operand need not be in a result's text."""
OPERATORS = re.compile(
    r"\b(?:intitle|allintitle|inurl|allinurl|intext|allintext|inbody|related|cache):"
    r"|\b(?:AND|OR|NOT|AROUND)\b"
)


def looks_unrelated(query: str, hits: Sequence[Hit]) -> bool:
    """Whether there are several hits and none of them shares any word with the query."""
    if len(hits) < MIN_HITS:
        return False
    subject = subject_of(query)
    query_terms = distinctive(terms(subject))
    if not query_terms:
        return False
    texts = [plain(f"{hit.title} {hit.snippet} {unquote(hit.url)}") for hit in hits]
    if any(term in text for text in texts for term in query_terms):
        return False
    return not _is_misspelt(subject, texts)


def subject_of(query: str) -> str:
    """The query without operators and without the words that they restrict or exclude."""
    return OPERATORS.sub(" ", SCOPES.sub(" ", EXCLUDED.sub(" ", query)))


def distinctive(all_terms: frozenset[str]) -> frozenset[str]:
    """The terms without single letters, which are in any text; all of them if there are no others."""
    return (
        frozenset(term for term in all_terms if len(term) > 1 or UNSPACED.match(term)) or all_terms
    )


def _is_misspelt(subject: str, texts: Sequence[str]) -> bool:
    """Whether the results are for a corrected spelling of a word of the query."""
    from difflib import get_close_matches

    present = {word for text in texts for word in words(text)}
    return any(
        get_close_matches(word, present, n=1, cutoff=MIN_SIMILARITY)
        for word in words(subject)
        if word not in STOP_WORDS
    )

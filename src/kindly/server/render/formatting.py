"""Small pieces that all answers share: compact JSON, clipped lines, dates, waiting times, provenance, sizes."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from kindly.budget import count_tokens
from kindly.models import Metadata, Outcome, Passage
from kindly.server.json_schema import Json
from kindly.server.render.look_alikes import BREAK, defused
from kindly.server.tool import Output
from kindly.text.plain_line import clipped_address, percent_encoded, plain_line

TITLE_TOKENS = 50
SNIPPET_TOKENS = 100
SHOWN_HASH = 12
"""Characters of a content hash in the text; the data has all of them."""
DATE_LIKE = re.compile(r"[\w ,.:/+()'’-]{1,40}")
DATE_WORDS = 6
REMEMBERED_ADDRESSES = 128
"""An answer is built several times until it fits, each time with the same addresses."""
BROKEN = re.compile(rf"(.){BREAK}")


def compact(value: object) -> str:
    """JSON without optional white space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def larger_size(text: str, data: Json) -> int:
    """Tokens of an answer: its text or its compact JSON, whichever is larger."""
    return max(count_tokens(text), json_size(data))


def json_output(data: Json, *, failed: bool = False) -> Output:
    """An answer whose text is its compact JSON."""
    return Output(compact(data), data, failed=failed)


def json_size(value: object) -> int:
    """Tokens of a value as compact JSON."""
    return count_tokens(compact(value))


def clip(text: str, tokens: int) -> str:
    """One plain line of text without marks, cut to `tokens` with an ellipsis."""
    line = defused(plain_line(text, tokens * 4))
    if count_tokens(line) <= tokens:
        return line
    kept = line.encode()[: tokens * 4 - 4].decode("utf-8", "ignore")
    return f"{kept.rstrip()}…"


@lru_cache(maxsize=REMEMBERED_ADDRESSES)
def address(url: str) -> str:
    """An address as one plain line: percent-encoded where it would read like markup or a mark."""
    shown = defused(clipped_address(url))
    return BROKEN.sub(lambda match: percent_encoded(match[1]), shown)


def dated(published: str | None) -> str | None:
    """A date as a page or a provider writes it; None if the text is too long for a date, or reads like a mark."""
    line = " ".join((published or "").split())
    is_date = (
        DATE_LIKE.fullmatch(line) and len(line.split()) <= DATE_WORDS and defused(line) == line
    )
    return line if is_date else None


def dated_by_page(about: Metadata) -> tuple[str | None, str]:
    """The date that a page states, and where on the page it stands: `json-ld`, `meta`, `url` and so on."""
    return dated(about.published), about.sources.get("published", "page")


def gap(characters: int) -> str:
    """Marks text that is left out between two excerpts."""
    return f"[… {characters:,} characters left out …]"


def with_gaps(passages: Sequence[Passage]) -> list[str]:
    """The texts of some passages of one page, with marks for what is left out before, between and after them."""
    pieces: list[str] = []
    position = total = 0
    for passage in passages:
        if passage.start > position:
            pieces.append(gap(passage.start - position))
        pieces.append(passage.text.strip("\n"))
        position, total = passage.end, passage.total
    return [*pieces, gap(total - position)] if position < total else pieces


def provenance(fetched_at: str | None, content_hash: str | None) -> list[str]:
    """When a page was fetched, and the beginning of its text's hash."""
    facts = [f"fetched {fetched_at}"] if fetched_at else []
    return [*facts, f"sha256 {content_hash[:SHOWN_HASH]}"] if content_hash else facts


def status_data(outcome: Outcome) -> Json:
    """An outcome as fields of a result."""
    if outcome.ok:
        return {"status": outcome.kind.value}
    status: Json = {"status": outcome.kind.value, "retryable": outcome.retryable}
    if outcome.retry_after_s is not None:
        status["retry_after_s"] = round(outcome.retry_after_s)
    return status


def without_none(values: Json) -> Json:
    """The entries that have a value."""
    return {name: value for name, value in values.items() if value is not None}

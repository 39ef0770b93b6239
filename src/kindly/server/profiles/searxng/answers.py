"""Hits and what was read of them → the result of profile `searxng`, within a number of tokens; errors in its shape too.

The text is the summary that the contract defines; the results are the structured content. Page text is inside JSON
strings, which it cannot end, and what in it looks like a fence mark is defused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kindly.answer import compose
from kindly.budget import fit
from kindly.errors import (
    CallTimeout,
    InputError,
    KindlyError,
    NoProvider,
    PoolExhausted,
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderBlocked,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    SearchError,
)
from kindly.frozen import frozen
from kindly.models import Hit, Hits, Outcome, OutcomeKind, Source, SourceExcerpt
from kindly.search.ranking.score import ScoredHit, scores
from kindly.server.profiles.searxng.results import (
    PageCounts,
    SearxngFacts,
    SearxngFailure,
    SearxngHit,
    SearxngPage,
    SearxngPageFailure,
    SearxngResult,
    to_json,
    to_text,
)
from kindly.server.render.failures import explained
from kindly.server.render.formatting import (
    SNIPPET_TOKENS,
    TITLE_TOKENS,
    address,
    clip,
    json_size,
    with_gaps,
)
from kindly.server.render.look_alikes import defused
from kindly.server.tool import Output
from kindly.text.plain_line import plain_line

MAX_QUERY = 500
FENCED = re.compile(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
WALLED = Outcome(OutcomeKind.PAYWALLED, "The page shows only its beginning to readers.")
NO_INSTANCES = "No available SearXNG instances"

ERROR_TYPES: tuple[tuple[type[KindlyError], str], ...] = (
    (PoolExhausted, "no_instances_available"),
    (NoProvider, "no_instances_available"),
    (InputError, "invalid_parameters"),
    (ProviderRejected, "invalid_parameters"),
    (ProviderRateLimited, "rate_limited"),
    (ProviderTimeout, "timeout"),
    (CallTimeout, "timeout"),
    (ProviderBlocked, "blocked"),
    (ProviderAnswerInvalid, "invalid_response"),
    (ProviderAuth, "access_denied"),
    (SearchError, "instance_unavailable"),
    (KindlyError, "internal_error"),
)


@frozen
class SearxngAnswer:
    """One result with its score and, if it was read, its page and a summary."""

    hit: Hit
    score: float
    source: Source | None = None
    summary: str = ""


def with_scores(hits: Hits, sources: Sequence[Source], *, code_blocks: bool) -> list[SearxngAnswer]:
    """The results, the best first. Without `code_blocks`, page text comes without its code."""
    by_url = {source.url: _usable(source, code_blocks=code_blocks) for source in sources}
    candidates = [
        ScoredHit(hit, source.document.text if source and source.document else None)
        for hit in hits.hits
        for source in [by_url.get(hit.url)]
    ]
    ranked = scores(hits.query.text, candidates)
    found = [
        SearxngAnswer(hit, score, by_url.get(hit.url))
        for hit, score in zip(hits.hits, ranked, strict=True)
    ]
    return sorted(found, key=lambda one: -one.score)


def _usable(source: Source, *, code_blocks: bool) -> Source:
    """The source without text that only subscribers can read, and without code if `code_blocks` is false."""
    document = source.document
    if document is None:
        return source
    if document.protected:
        return replace(source, document=None, passages=(), outcome=WALLED)
    if code_blocks:
        return source
    text = FENCED.sub("", document.text)
    return replace(source, document=replace(document, text=text), passages=())


def search_result(
    hits: Hits, found: Sequence[SearxngAnswer], tokens: int, *, fetch_content: bool
) -> SearxngResult:
    """The results, as many and as much of each page as `tokens` allow."""
    facts = _facts(hits, found) if fetch_content else None

    def build(kept: int, available: int) -> SearxngResult:
        sources = [one.source or Source(one.hit.url, Outcome()) for one in found[:kept]]
        excerpts = compose(sources, available).sources
        shown = tuple(
            _hit(one, _page(excerpt, one.summary) if fetch_content else None)
            for one, excerpt in zip(found, excerpts, strict=False)
        )
        notes = tuple(_notes(excerpts, len(found) - kept))
        return SearxngResult(hits.query.text, shown, facts, notes)

    kept = len(found)
    while kept and _size(build(kept, 0)) > tokens:
        kept -= 1
    return fit(lambda available: build(kept, available), _size, tokens)


def _size(result: SearxngResult) -> int:
    return json_size(to_json(result))


def _facts(hits: Hits, found: Sequence[SearxngAnswer]) -> SearxngFacts:
    read = [one.source for one in found if one.source is not None]
    return SearxngFacts(
        hits.query.category,
        hits.query.language,
        hits.took_ms,
        hits.instance,
        hits.total or len(hits.hits),
        hits.engines or tuple(dict.fromkeys(hit.provider for hit in hits.hits)),
        PageCounts(
            len(read),
            sum(source.document is not None for source in read),
            sum(source.took_ms for source in read),
        ),
    )


def _hit(one: SearxngAnswer, page: SearxngPage | SearxngPageFailure | None) -> SearxngHit:
    hit = one.hit
    return SearxngHit(
        clip(hit.title, TITLE_TOKENS),
        address(hit.url),
        clip(hit.snippet, SNIPPET_TOKENS),
        one.score,
        hit.engines[0] if hit.engines else hit.provider,
        page,
    )


def _page(excerpt: SourceExcerpt, summary: str) -> SearxngPage | SearxngPageFailure:
    """The page, or the parts of it that fit, with marks for the gaps; or why it was not read."""
    source = excerpt.source
    if source.document is None:
        return SearxngPageFailure(source.outcome.kind, explained(source.outcome))
    shown = excerpt.excerpts or ((excerpt.passage,) if excerpt.passage else ())
    markdown = "\n\n".join(piece for piece in with_gaps(shown) if piece.strip())
    words = len(source.document.text.split())
    line = defused(plain_line(summary, len(summary)))
    return SearxngPage(defused(markdown), words, source.took_ms, line)


def _notes(excerpts: Sequence[SourceExcerpt], left_out: int) -> list[str]:
    notes = []
    if cut := sum(excerpt.cursor is not None for excerpt in excerpts):
        notes.append(f"{cut} pages are cut to fit; a smaller results_count shows more of each.")
    if large := sum(_is_cut(excerpt.source) for excerpt in excerpts):
        notes.append(
            f"{large} pages are larger than the size limit: only their beginning was read."
        )
    if left_out:
        notes.append(f"{left_out} more results did not fit this answer.")
    return notes


def _is_cut(source: Source) -> bool:
    return source.document is not None and source.document.cut


def failure(error: KindlyError, arguments: Mapping[str, object]) -> Output:
    """An error in the contract's shape: type, details, attempted instances, and when to retry."""
    failed = SearxngFailure(
        str(arguments.get("query") or "")[:MAX_QUERY],
        NO_INSTANCES if isinstance(error, PoolExhausted) else error.detail,
        next(name for leaf, name in ERROR_TYPES if isinstance(error, leaf)),
        error.detail,
        error.attempted if isinstance(error, SearchError) else (),
        error.retry_after_s,
    )
    return output(failed)


def output(result: SearxngResult | SearxngFailure) -> Output:
    """The summary as text, and the whole as data."""
    return Output(to_text(result), to_json(result), failed=isinstance(result, SearxngFailure))

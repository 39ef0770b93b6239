"""Several searches → `SearchesResult` → text and data. A page that several of them found is shown once."""

from collections.abc import Mapping

from kindly.answer import compose
from kindly.budget import fit
from kindly.errors import SearchError
from kindly.models import Hits, Outcome, SourceExcerpt
from kindly.server.batch import SearchBatch
from kindly.server.json_schema import Json
from kindly.server.render.failures import sentence
from kindly.server.render.fence import AnyFence
from kindly.server.render.formatting import larger_size, status_data
from kindly.server.render.results import SearchesResult, SearchPart
from kindly.server.render.search_results import found_data, found_page, found_text, search_notes
from kindly.urls import canonical


def searches_result(batch: SearchBatch, fence: AnyFence, tokens: int) -> SearchesResult:
    """The results of each search, as much of each page as `tokens` allow; the worst ranks are left out first."""
    for kept in range(len(batch.sources), 0, -1):
        result = _fitting(batch, kept, fence, tokens)
        if _size(result) <= tokens:
            return result
    return _fitting(batch, 0, fence, tokens)


def _fitting(batch: SearchBatch, kept: int, fence: AnyFence, tokens: int) -> SearchesResult:
    left_out = len(batch.sources) - kept
    note = f"{left_out} more results did not fit max_tokens." if left_out else ""

    def build(available: int) -> SearchesResult:
        excerpts = compose(batch.sources[:kept], available).sources
        parts = _parts(batch, {canonical(one.source.url): one for one in excerpts}, fence)
        texts = (page.page_content for part in parts for page in part.pages)
        return SearchesResult(parts, note, fence.preamble(*texts))

    return fit(build, _size, tokens)


def _parts(
    batch: SearchBatch, shown: Mapping[str, SourceExcerpt], fence: AnyFence
) -> tuple[SearchPart, ...]:
    numbers: dict[str, int] = {}
    parts = []
    for query, outcome in zip(batch.queries, batch.outcomes, strict=True):
        if isinstance(outcome, SearchError):
            failed = Outcome(outcome.kind, sentence(outcome), outcome.retry_after_s)
            parts.append(SearchPart(query.text, failure=failed))
        else:
            parts.append(_part(outcome, shown, numbers, fence))
    return tuple(parts)


def _part(
    hits: Hits, shown: Mapping[str, SourceExcerpt], numbers: dict[str, int], fence: AnyFence
) -> SearchPart:
    """One search; its pages get the next `numbers`."""
    keys = list(dict.fromkeys(canonical(hit.url) for hit in hits.hits))
    also = tuple(numbers[key] for key in keys if key in numbers)
    own = [key for key in keys if key in shown and key not in numbers]
    numbers.update({key: number for number, key in enumerate(own, start=len(numbers) + 1)})
    pages = tuple(found_page(shown[key], fence) for key in own)
    return SearchPart(
        hits.query.text,
        hits.provider,
        len(hits.hits),
        pages=pages,
        also=also,
        note=" ".join(search_notes(hits, pages)),
        filters=hits.filters,
    )


def searches_data(result: SearchesResult) -> Json:
    """The result as structured content: all pages in one list, each with the queries that found it."""
    pages = [page for part in result.parts for page in part.pages]
    queries: list[list[str]] = [[] for _ in pages]
    first = 0
    for part in result.parts:
        for place in (*range(first, first + len(part.pages)), *(n - 1 for n in part.also)):
            queries[place].append(part.query)
        first += len(part.pages)
    data: Json = {
        "results": [
            found_data(page) | {"queries": found_by}
            for page, found_by in zip(pages, queries, strict=True)
        ],
        "searches": [_part_data(part) for part in result.parts],
    }
    return data | {"note": result.note} if result.note else data


def _part_data(part: SearchPart) -> Json:
    if part.failure is not None:
        return {"query": part.query, **status_data(part.failure), "note": part.failure.detail}
    data: Json = {"query": part.query, "provider": part.provider, "total": part.total}
    if part.filters:
        data["filters"] = dict(part.filters)
    return data | {"note": part.note} if part.note else data


def searches_text(result: SearchesResult) -> str:
    """The result as Markdown for the model."""
    total = sum(len(part.pages) for part in result.parts)
    blocks = [f"{total} results for {len(result.parts)} queries. {result.preamble}".rstrip()]
    number = 0
    for part in result.parts:
        blocks.append(_part_head(part))
        for page in part.pages:
            number += 1
            blocks.append(found_text(number, page))
    return "\n\n".join([*blocks, *filter(None, [result.note])])


def _part_head(part: SearchPart) -> str:
    if part.failure is not None:
        return f"# {part.query!r}\nSearch failed ({part.failure.kind}): {part.failure.detail}"
    lines = [f"# {part.query!r} ({part.provider})", part.note]
    if part.also:
        lines.append(f"Found as well: {', '.join(map(str, part.also))}.")
    if not part.total:
        lines.append("No results. Try other or fewer words.")
    return "\n".join(filter(None, lines))


def _size(result: SearchesResult) -> int:
    return larger_size(searches_text(result), searches_data(result))

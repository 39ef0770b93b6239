"""Several pages → `PagesResult` → text and data. They share one token budget; the long ones are cut."""

from collections.abc import Sequence
from dataclasses import replace

from kindly.answer import compose
from kindly.budget import fit
from kindly.models import Source
from kindly.server.json_schema import Json
from kindly.server.render.fence import AnyFence
from kindly.server.render.formatting import larger_size
from kindly.server.render.page import excerpt_result, page_data, page_text
from kindly.server.render.results import PagesResult


def pages_result(sources: Sequence[Source], fence: AnyFence, tokens: int) -> PagesResult:
    """The pages in their order, as much of each as `tokens` allow; if there is no room for all, the first ones."""
    for kept in range(len(sources), 1, -1):
        result = _fitting(sources[:kept], len(sources) - kept, fence, tokens)
        if _size(result) <= tokens:
            return result
    return _fitting(sources[:1], len(sources) - 1, fence, tokens)


def _fitting(sources: Sequence[Source], left_out: int, fence: AnyFence, tokens: int) -> PagesResult:
    note = f"{left_out} more pages did not fit max_tokens: ask for them again." if left_out else ""

    def build(available: int) -> PagesResult:
        pages = tuple(
            replace(excerpt_result(excerpt.source.url, excerpt, fence), preamble="")
            for excerpt in compose(sources, available).sources
        )
        return PagesResult(pages, note, fence.preamble(*(page.page_content for page in pages)))

    return fit(build, _size, tokens)


def pages_data(result: PagesResult) -> Json:
    """The result as structured content."""
    data: Json = {"pages": [page_data(page) for page in result.pages]}
    return data | {"note": result.note} if result.note else data


def pages_text(result: PagesResult) -> str:
    """The result as Markdown for the model."""
    read = sum(page.outcome.ok for page in result.pages)
    head = f"{read} of {len(result.pages)} pages read. {result.preamble}".rstrip()
    pages = (page_text(page) for page in result.pages)
    return "\n\n".join([head, *pages, *filter(None, [result.note])])


def _size(result: PagesResult) -> int:
    return larger_size(pages_text(result), pages_data(result))

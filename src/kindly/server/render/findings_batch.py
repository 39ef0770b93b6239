"""Findings of several pages → `FindingsBatch` → text and data. Which page answers best comes first.

The budget is shared by what answers: of a question that a page answers, the pages that do not are only named.
"""

from collections.abc import Sequence
from dataclasses import replace

from kindly.budget import fair_shares, fit
from kindly.models import Finding, Outcome, PageFindings
from kindly.server.json_schema import Json
from kindly.server.render.fence import AnyFence, fence_free
from kindly.server.render.findings import findings_data, findings_text, page_part, passages_cost
from kindly.server.render.formatting import (
    TITLE_TOKENS,
    address,
    clip,
    larger_size,
    status_data,
)
from kindly.server.render.page import note
from kindly.server.render.results import BestPage, FindingsBatch, FindingsResult, UnreadPage

Part = tuple[str, PageFindings | Outcome]


def findings_batch(parts: Sequence[Part], fence: AnyFence, tokens: int) -> FindingsBatch:
    """What the pages answer, in their order, as many passages as `tokens` allow.

    If there is no room for all pages, those that answer worst are left out.
    """
    best = best_pages(parts)
    shown = _answering(parts)
    worst_first = sorted(range(len(shown)), key=lambda index: _merit(shown[index]))
    for left_out in range(len(shown)):
        dropped = frozenset(worst_first[:left_out])
        kept = [part for index, part in enumerate(shown) if index not in dropped]
        result = _fitting(best, kept, left_out, fence, tokens)
        if _size(result) <= tokens:
            return result
    return result


def best_pages(parts: Sequence[Part]) -> tuple[BestPage, ...]:
    """For each question, the page that answers it best, else the one that comes closest."""
    read = [(url, found) for url, found in parts if isinstance(found, PageFindings)]
    questions = read[0][1].findings if read else ()
    best = []
    for index, question in enumerate(questions):
        url, found = max(read, key=lambda page: _rank(page[1].findings[index]))
        answered, score = _rank(found.findings[index])
        title = clip(found.page.title, TITLE_TOKENS) or address(url)
        best.append(BestPage(fence_free(question.question), answered, url, title, round(score, 3)))
    return tuple(best)


def _rank(finding: Finding) -> tuple[bool, float]:
    score = finding.citations[0].passage.score if finding.citations else None
    return finding.answered, score or 0.0


def _merit(part: Part) -> tuple[bool, float]:
    found = part[1]
    if isinstance(found, Outcome):
        return False, -1.0
    return max(map(_rank, found.findings), default=(False, 0.0))


def _answering(parts: Sequence[Part]) -> list[Part]:
    """The parts; without passages for a question that another page answers and this one does not."""
    answered = {
        finding.question
        for _, found in parts
        if isinstance(found, PageFindings)
        for finding in found.findings
        if finding.answered
    }

    def shown(finding: Finding) -> Finding:
        is_spare = finding.question in answered and not finding.answered
        return replace(finding, citations=()) if is_spare else finding

    return [
        (url, found)
        if isinstance(found, Outcome)
        else (url, replace(found, findings=tuple(map(shown, found.findings))))
        for url, found in parts
    ]


def _fitting(
    best: tuple[BestPage, ...], parts: Sequence[Part], left_out: int, fence: AnyFence, tokens: int
) -> FindingsBatch:
    said = f"{left_out} more pages did not fit max_tokens." if left_out else ""
    costs = [
        0 if isinstance(found, Outcome) else passages_cost(found.findings) for _, found in parts
    ]

    def build(available: int) -> FindingsBatch:
        pages = tuple(
            UnreadPage(url, found)
            if isinstance(found, Outcome)
            else page_part(url, found, fence, share)
            for (url, found), share in zip(parts, fair_shares(costs, available), strict=True)
        )
        return FindingsBatch(best, pages, said, fence.preamble())

    return fit(build, _size, tokens)


def batch_data(result: FindingsBatch) -> Json:
    """The result as structured content."""
    data: Json = {
        "best": [
            {"question": best.question, "answered": best.answered, "url": best.url}
            | {"score": best.score}
            for best in result.best
        ],
        "pages": [_page_data(page) for page in result.pages],
    }
    return data | {"note": result.note} if result.note else data


def _page_data(page: FindingsResult | UnreadPage) -> Json:
    if isinstance(page, FindingsResult):
        return findings_data(page)
    said = {"findings": [], "note": note(page.outcome).strip("_")}
    return {"url": page.url, **status_data(page.outcome), **said}


def batch_text(result: FindingsBatch) -> str:
    """The result as Markdown for the model."""
    pages = (
        findings_text(page)
        if isinstance(page, FindingsResult)
        else f"# {address(page.url)}\n{note(page.outcome)}"
        for page in result.pages
    )
    head = "\n".join([*map(_best_line, result.best), *filter(None, [result.preamble])])
    return "\n\n".join(filter(None, [head, *pages, result.note]))


def _best_line(best: BestPage) -> str:
    says = "Best answer" if best.answered else "No page seems to answer; closest"
    shown = f"{best.title} ({address(best.url)}, score {best.score:.2f})"
    return f"{best.question}: {says}: {shown}"


def _size(result: FindingsBatch) -> int:
    return larger_size(batch_text(result), batch_data(result))

"""Findings → `FindingsResult` → text and data, within a token budget."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from kindly.budget import count_tokens, fair_shares, fit
from kindly.models import Citation, Finding, PageFindings, Passage
from kindly.server.json_schema import Json
from kindly.server.render.fence import AnyFence, fence_free
from kindly.server.render.formatting import (
    TITLE_TOKENS,
    address,
    clip,
    larger_size,
    provenance,
)
from kindly.server.render.results import (
    CitedPage,
    FindingResult,
    FindingsResult,
    PassageResult,
    ReadPage,
)
from kindly.text.page_marks import page_of
from kindly.text.plain_line import MAX_ADDRESS

SECTION_TOKENS = 40
FRAME_TOKENS = 90
"""An estimate of what surrounds a passage: score, section, link and fence."""
NOT_ON_PAGE = "The page does not seem to answer this."
NOT_IN_LIBRARY = "No page read so far seems to answer this."
PERHAPS_ON_PAGE = "The page may not answer this."
PERHAPS_IN_LIBRARY = "The pages read so far may not answer this."
CLOSEST = "Closest passages:"

ToResult = Callable[[Citation], PassageResult]


def page_findings(url: str, found: PageFindings, fence: AnyFence, tokens: int) -> FindingsResult:
    """The passages of one page that answer, or the closest, as many as `tokens` allow."""

    def build(available: int) -> FindingsResult:
        part = page_part(url, found, fence, available)
        return replace(part, preamble=fence.preamble())

    return fit(build, _size, tokens)


def page_part(url: str, found: PageFindings, fence: AnyFence, available: int) -> FindingsResult:
    """One page's part of an answer: passages of about `available` tokens."""
    stored = found.page
    page = ReadPage(
        url,
        clip(stored.title, TITLE_TOKENS) or address(url),
        str(found.how),
        stored.crawled_at.isoformat(timespec="seconds"),
        stored.content_hash,
        found.note,
    )
    to_result = partial(_passage, fence=fence)
    return FindingsResult(
        _findings(found.findings, available, to_result, (NOT_ON_PAGE, PERHAPS_ON_PAGE)), page
    )


def passages_cost(findings: Sequence[Finding]) -> int:
    """About how many tokens all passages of some findings take."""
    return sum(_cost(cited) for finding in findings for cited in finding.citations)


def library_findings(found: Sequence[Finding], fence: AnyFence, tokens: int) -> FindingsResult:
    """The passages of the library that answer, or the closest, as many as `tokens` allow."""
    to_result = partial(_passage, fence=fence, cite=True)

    def build(available: int) -> FindingsResult:
        findings = _findings(found, available, to_result, (NOT_IN_LIBRARY, PERHAPS_IN_LIBRARY))
        return FindingsResult(findings, preamble=fence.preamble())

    return fit(build, _size, tokens)


def findings_data(result: FindingsResult) -> Json:
    """The result as structured content."""
    page = {} if result.page is None else _page_data(result.page)
    return page | {"findings": [_finding_data(finding) for finding in result.findings]}


def findings_text(result: FindingsResult) -> str:
    """The result as Markdown for the model."""
    head = [] if result.page is None else _page_lines(result.page)
    blocks = ["\n".join(filter(None, [*head, result.preamble]))]
    blocks += [_finding_text(finding) for finding in result.findings]
    return "\n\n".join(filter(None, blocks))


def _size(result: FindingsResult) -> int:
    return larger_size(findings_text(result), findings_data(result))


def _findings(
    findings: Sequence[Finding], available: int, to_result: ToResult, unanswered: tuple[str, str]
) -> tuple[FindingResult, ...]:
    costs = [sum(map(_cost, finding.citations)) for finding in findings]
    return tuple(
        _finding(finding, share, to_result, unanswered[finding.unsure])
        for finding, share in zip(findings, fair_shares(costs, available), strict=True)
    )


def _cost(cited: Citation) -> int:
    return count_tokens(cited.passage.text) + FRAME_TOKENS


def _finding(
    finding: Finding, available: int, to_result: ToResult, unanswered: str
) -> FindingResult:
    passages: list[PassageResult] = []
    for cited in finding.citations:
        available -= _cost(cited)
        if available < 0:
            break
        passages.append(to_result(cited))
    notes = [finding.note] if finding.note else []
    if left_out := len(finding.citations) - len(passages):
        notes.append(f"{left_out} more passages did not fit max_tokens.")
    if not finding.answered:
        notes += [unanswered, CLOSEST] if passages else [unanswered]
    return FindingResult(
        fence_free(finding.question), finding.answered, tuple(passages), " ".join(notes)
    )


def _passage(cited: Citation, *, fence: AnyFence, cite: bool = False) -> PassageResult:
    entry, passage = cited.page, cited.passage
    page = CitedPage(
        address(entry.url),
        clip(entry.title, TITLE_TOKENS),
        entry.crawled_at.isoformat(timespec="seconds"),
        entry.content_hash,
        entry.collection,
    )
    return PassageResult(
        fence.around(passage.text.strip("\n")),
        round(passage.score or 0.0, 3),
        tuple(clip(title, SECTION_TOKENS) for title in passage.section),
        passage.start,
        passage.end,
        _link(_fragment(entry.url, passage), entry.url),
        page if cite else None,
    )


def _fragment(url: str, passage: Passage) -> str:
    """The address that opens a passage: its page in a file with pages, else its words."""
    from kindly.read.text_fragment import text_fragment

    page = page_of(passage.section)
    if page is None:
        return text_fragment(url, passage.text)
    return f"{url.partition('#')[0]}#page={page}"


def _link(fragment: str, url: str) -> str:
    """The link to a passage; to its page if a link with the words would be too long."""
    return address(fragment if len(fragment) <= MAX_ADDRESS else url)


def _page_data(page: ReadPage) -> Json:
    data: Json = {
        "url": page.url,
        "title": page.title,
        "how": page.how,
        "fetched_at": page.fetched_at,
        "content_hash": page.content_hash,
    }
    return data | {"note": page.note} if page.note else data


def _page_lines(page: ReadPage) -> list[str]:
    facts = (address(page.url), page.how, *provenance(page.fetched_at, page.content_hash))
    return [f"# {page.title}", " · ".join(facts), page.note]


def _finding_data(finding: FindingResult) -> Json:
    data: Json = {
        "question": finding.question,
        "answered": finding.answered,
        "passages": [_passage_data(passage) for passage in finding.passages],
    }
    return data | {"note": finding.note} if finding.note else data


def _passage_data(passage: PassageResult) -> Json:
    data: Json = {
        "text": passage.text,
        "score": passage.score,
        "section": list(passage.section),
        "start": passage.start,
        "end": passage.end,
        "link": passage.link,
    }
    if passage.page is None:
        return data
    page = passage.page
    data |= {
        "url": page.url,
        "title": page.title,
        "fetched_at": page.fetched_at,
        "content_hash": page.content_hash,
    }
    return data | {"collection": page.collection} if page.collection else data


def _finding_text(finding: FindingResult) -> str:
    blocks = [f"## {finding.question}"]
    if finding.note and not finding.answered:
        blocks.append(finding.note)
    for number, passage in enumerate(finding.passages, start=1):
        page = passage.page
        facts = [
            f"{number}. score {passage.score:.2f}",
            page.collection if page else "",
            page.title if page else "",
            " > ".join(passage.section),
            *(provenance(page.fetched_at, page.content_hash) if page else ()),
        ]
        blocks.append(f"{' · '.join(filter(None, facts))}\n{passage.link}\n{passage.text}")
    if finding.note and finding.answered:
        blocks.append(finding.note)
    return "\n\n".join(blocks)

"""Findings → text for the model and the same as data, within a number of tokens. Passages go behind a fence."""

from collections.abc import Sequence
from typing import Any

from kindly.budget import count_tokens, fair_shares, fit
from kindly.models import Citation, Finding, PageFindings
from kindly.server.render.page import TITLE_TOKENS, Marks, clip, fence_free, provenance, size
from kindly.server.tool import Output

SECTION_TOKENS = 40
FRAME_TOKENS = 90
"""About what stands around a passage: score, section, link and fence."""
NOT_ON_PAGE = "The page does not answer this."
NOT_IN_LIBRARY = "No page read so far answers this."


def page_findings_output(url: str, found: PageFindings, fence: Marks, tokens: int) -> Output:
    """What one page says, as many passages as `tokens` allow."""
    entry = found.page
    title = clip(entry.title, TITLE_TOKENS) or url
    about: dict[str, Any] = {
        "url": url,
        "title": title,
        "how": str(found.how),
        "fetched_at": entry.crawled_at.isoformat(timespec="seconds"),
        "content_hash": entry.content_hash,
    }
    if found.note:
        about["note"] = found.note
    facts = " · ".join((url, str(found.how), *provenance(about)))
    head = "\n".join(filter(None, (f"# {title}", facts, found.note, fence.preamble)))

    def build(room: int) -> Output:
        findings = [
            _finding(one, share, fence, NOT_ON_PAGE)
            for one, share in zip(found.findings, _shares(found.findings, room), strict=True)
        ]
        text = "\n\n".join([head, *(_as_text(one) for one in findings)])
        return Output(text, about | {"findings": findings})

    return fit(build, size, tokens)


def recall_output(findings: Sequence[Finding], fence: Marks, tokens: int) -> Output:
    """What the library says, as many passages as `tokens` allow."""

    def build(room: int) -> Output:
        laid_out = [
            _finding(one, share, fence, NOT_IN_LIBRARY, cite=True)
            for one, share in zip(findings, _shares(findings, room), strict=True)
        ]
        text = "\n\n".join(filter(None, [fence.preamble, *(_as_text(one) for one in laid_out)]))
        return Output(text, {"findings": laid_out})

    return fit(build, size, tokens)


def _shares(findings: Sequence[Finding], room: int) -> list[int]:
    wanted = [sum(_weight(cited) for cited in finding.citations) for finding in findings]
    return fair_shares(wanted, room)


def _weight(cited: Citation) -> int:
    return count_tokens(cited.passage.text) + FRAME_TOKENS


def _finding(
    finding: Finding, room: int, fence: Marks, unanswered: str, *, cite: bool = False
) -> dict[str, Any]:
    shown: list[dict[str, Any]] = []
    for cited in finding.citations:
        room -= _weight(cited)
        if room < 0:
            break
        shown.append(_passage(cited, fence, cite=cite))
    laid_out: dict[str, Any] = {
        "question": fence_free(finding.question),
        "answered": finding.answered,
        "passages": shown,
    }
    notes = [finding.note] if finding.note else []
    if not finding.answered:
        notes.append(unanswered)
    if left_out := len(finding.citations) - len(shown):
        notes.append(f"{left_out} more passages did not fit max_tokens.")
    if notes:
        laid_out["note"] = " ".join(notes)
    return laid_out


def _passage(cited: Citation, fence: Marks, *, cite: bool) -> dict[str, Any]:
    from kindly.read.text_fragment import text_fragment

    entry, passage = cited.page, cited.passage
    laid_out: dict[str, Any] = {
        "text": fence.shortly(passage.text.strip("\n")),
        "score": round(passage.score or 0.0, 3),
        "section": [clip(title, SECTION_TOKENS) for title in passage.section],
        "start": passage.start,
        "end": passage.end,
        "link": text_fragment(entry.url, passage.text),
    }
    if cite:
        laid_out["url"] = entry.url
        laid_out["title"] = clip(entry.title, TITLE_TOKENS)
        laid_out["fetched_at"] = entry.crawled_at.isoformat(timespec="seconds")
        laid_out["content_hash"] = entry.content_hash
    return laid_out


def _as_text(finding: dict[str, Any]) -> str:
    lines = [f"## {finding['question']}"]
    for number, passage in enumerate(finding["passages"], start=1):
        where = " > ".join(passage["section"])
        facts = [
            f"{number}. score {passage['score']:.2f}",
            passage.get("title", ""),
            where,
            *provenance(passage),
        ]
        lines.append(f"{' · '.join(filter(None, facts))}\n{passage['link']}\n{passage['text']}")
    if "note" in finding:
        lines.append(finding["note"])
    return "\n\n".join(lines)

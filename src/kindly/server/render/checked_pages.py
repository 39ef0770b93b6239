"""Verdicts on quotes and changes of pages → text and structured data; page text is fenced."""

from collections.abc import Sequence

from kindly.crawl.page_checks import ChangesReport, PageChanges, QuoteReport
from kindly.read.evidence.quotes import Verdict
from kindly.read.evidence.section_changes import SectionChange
from kindly.read.text_fragment import text_fragment
from kindly.server.json_schema import Json
from kindly.server.render.fence import AnyFence
from kindly.server.render.formatting import TITLE_TOKENS, address, clip, larger_size
from kindly.server.tool import Output

MAX_NEW = 200
PASSAGE_TOKENS = 400
WORD_TOKENS = 40
LINE_TOKENS = 90


def quote_output(report: QuoteReport, fence: AnyFence) -> Output:
    """The verdict on a quote."""
    match, page = report.match, report.page
    data: Json = {"verdict": str(report.verdict)}
    lines = [f"Verdict: {report.verdict}."]
    if page is not None and report.verdict is not Verdict.ABSENT:
        link = address(text_fragment(page.url, match.text))
        passage = fence.around(_cut(match.text, PASSAGE_TOKENS))
        data |= {"url": address(page.url), "link": link, "passage": passage}
        data |= {"section": [clip(one, WORD_TOKENS) for one in match.section]}
        data |= {"fetched_at": page.crawled_at.isoformat(timespec="seconds")}
        lines += [" · ".join(filter(None, (clip(page.title, TITLE_TOKENS), page.collection))), link]
    if page is not None and page.collection:
        data["collection"] = page.collection
    if report.former_at is not None:
        data["former_at"] = report.former_at.isoformat(timespec="seconds")
        lines.append(
            f"The version of {report.former_at:%Y-%m-%d} said it; the current one does not."
        )
    if match.differences:
        data["differences"] = [
            {
                "quoted": clip(one.quoted, WORD_TOKENS),
                "found": clip(one.found, WORD_TOKENS),
                "kind": one.kind,
            }
            for one in match.differences
        ]
        lines += [
            f"- {one['kind']}: quoted “{one['quoted']}”, the page has “{one['found']}”"
            for one in data["differences"]
        ]
    if "passage" in data:
        lines += [fence.preamble(match.text), data["passage"]]
    return Output("\n".join(filter(None, lines)), data)


def _cut(text: str, tokens: int) -> str:
    return text if len(text) <= tokens * 4 else f"{text[: tokens * 4]}…"


def changes_output(report: ChangesReport, fence: AnyFence, tokens: int) -> Output:
    """What changed, as many pages as fit."""
    count = len(report.pages)
    while True:
        output = _changes(report, report.pages[:count], fence)
        if count == 0 or larger_size(output.text, output.structured) <= tokens:
            return output
        count //= 2


def _changes(report: ChangesReport, pages: Sequence[PageChanges], fence: AnyFence) -> Output:
    shown = [_page_data(page, fence) for page in pages]
    more = len(report.pages) - len(shown)
    note = " ".join(
        filter(None, (report.note, f"{more} more changed pages did not fit." if more else ""))
    )
    head = f"{len(report.pages)} of {report.checked} pages changed; {len(report.new)} are new."
    data: Json = {
        "changed": shown,
        "new": [address(one.url) for one in report.new[:MAX_NEW]],
        "checked": report.checked,
    }
    if note:
        data["note"] = note
    blocks = [f"{head} {note}".strip(), fence.preamble() if shown else ""]
    blocks += [_page_text(page) for page in shown]
    return Output("\n\n".join(filter(None, blocks)), data)


def _page_data(page: PageChanges, fence: AnyFence) -> Json:
    entry = page.page
    return {
        "url": address(entry.url),
        "title": clip(entry.title, TITLE_TOKENS),
        "before": page.before and page.before.isoformat(timespec="seconds"),
        "after": entry.crawled_at.isoformat(timespec="seconds"),
        "sections": [_section_data(one, entry.url, fence) for one in page.changes],
    }


def _section_data(change: SectionChange, url: str, fence: AnyFence) -> Json:
    lines = [_cut(line, LINE_TOKENS) for line in change.diff]
    if change.more:
        lines.append(f"… {change.more} more lines")
    added = next((line[1:] for line in change.diff if line.startswith("+")), "")
    return {
        "change": change.kind,
        "section": [clip(one, WORD_TOKENS) for one in change.section],
        "diff": fence.around("\n".join(lines)),
        "link": address(text_fragment(url, added)),
    }


def _page_text(page: Json) -> str:
    lines = [
        f"## {page['title'] or page['url']}",
        f"{page['url']} · {page['before']} → {page['after']}",
    ]
    for one in page["sections"]:
        where = " > ".join(one["section"]) or "the beginning"
        lines += [f"{one['change']}: {where}", one["link"], one["diff"]]
    return "\n".join(lines)

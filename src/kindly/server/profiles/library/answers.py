"""Collections, verdicts on quotes and changes → text and structured data; page text is fenced."""

from collections.abc import Sequence

from kindly.crawl.page_checks import ChangesReport, PageChanges, QuoteReport
from kindly.read.crawls.collection import CollectionStatus, TaskState
from kindly.read.evidence.quotes import Verdict
from kindly.read.evidence.section_changes import SectionChange
from kindly.read.text_fragment import text_fragment
from kindly.server.json_schema import Json
from kindly.server.render.fence import Fence
from kindly.server.render.formatting import TITLE_TOKENS, address, clip, larger_size
from kindly.server.tool import Output

MAX_COLLECTIONS = 200
PASSAGE_TOKENS = 400
WORD_TOKENS = 40
LINE_TOKENS = 90


def collection_data(status: CollectionStatus, failure: str = "") -> Json:
    """One collection."""
    one = status.collection
    data: Json = {
        "collection": one.id,
        "state": str(one.state),
        "pages": status.pages,
        "left": status.left,
        "failed": status.tasks.get(TaskState.FAILED, 0),
        "origin": address(one.origin),
        "size_bytes": status.size_bytes,
        "checked_at": one.checked_at and one.checked_at.isoformat(timespec="seconds"),
    }
    note = " ".join(filter(None, (failure, one.note)))
    return data | {"note": clip(note, 100)} if note else data


def _line(data: Json) -> str:
    left = f", {data['left']:,} left" if data["left"] else ""
    age = f", checked {data['checked_at']}" if data["checked_at"] else ""
    note = f" {data['note']}" if "note" in data else ""
    return f"{data['collection']}: {data['state']}, {data['pages']:,} pages{left}{age}.{note}"


def index_output(status: CollectionStatus, failure: str, *, is_running: bool) -> Output:
    """The collection that is being made, with a handle to ask for it."""
    data = collection_data(status, failure)
    said = _line(data)
    if is_running:
        said += (
            " Indexing goes on in the background: collections tells its state, and recall with "
            f"collection={data['collection']} asks what is there."
        )
    return Output(said, data, failed=bool(failure) and not is_running)


def collections_output(statuses: Sequence[CollectionStatus], failures: dict[str, str]) -> Output:
    """All collections."""
    shown = [
        collection_data(one, failures.get(one.collection.id, ""))
        for one in statuses[:MAX_COLLECTIONS]
    ]
    text = "\n".join(map(_line, shown)) or "There are no collections; index makes one."
    return Output(text, {"collections": shown})


def quote_output(report: QuoteReport, fence: Fence) -> Output:
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


def changes_output(report: ChangesReport, fence: Fence, tokens: int) -> Output:
    """What changed, as many pages as fit."""
    count = len(report.pages)
    while True:
        output = _changes(report, report.pages[:count], fence)
        if count == 0 or larger_size(output.text, output.structured) <= tokens:
            return output
        count //= 2


def _changes(report: ChangesReport, pages: Sequence[PageChanges], fence: Fence) -> Output:
    shown = [_page_data(page, fence) for page in pages]
    more = len(report.pages) - len(shown)
    note = " ".join(
        filter(None, (report.note, f"{more} more changed pages did not fit." if more else ""))
    )
    head = f"{len(report.pages)} of {report.checked} pages changed; {len(report.new)} are new."
    data: Json = {
        "changed": shown,
        "new": [address(one.url) for one in report.new[:MAX_COLLECTIONS]],
        "checked": report.checked,
    }
    if note:
        data["note"] = note
    blocks = [f"{head} {note}".strip(), fence.preamble() if shown else ""]
    blocks += [_page_text(page) for page in shown]
    return Output("\n\n".join(filter(None, blocks)), data)


def _page_data(page: PageChanges, fence: Fence) -> Json:
    entry = page.page
    return {
        "url": address(entry.url),
        "title": clip(entry.title, TITLE_TOKENS),
        "before": page.before and page.before.isoformat(timespec="seconds"),
        "after": entry.crawled_at.isoformat(timespec="seconds"),
        "sections": [_section_data(one, entry.url, fence) for one in page.changes],
    }


def _section_data(change: SectionChange, url: str, fence: Fence) -> Json:
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

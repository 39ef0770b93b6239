"""Loads a page: fetched, extracted, and rendered by a browser where there is evidence that it helps."""

from dataclasses import replace
from typing import TypeVar

from kindly import urls
from kindly.budget import Deadline
from kindly.errors import (
    BrowserUnavailable,
    ExtractError,
    FetchError,
    InputError,
    KindlyError,
    NoContent,
    PageWalled,
)
from kindly.extract import ExtractOptions
from kindly.models import Document, Page
from kindly.stages import Stages
from kindly.urls import Url

Failure = TypeVar("Failure", bound=KindlyError)

MORE_TEXT_S = 10.0
"""How long a page that has some text waits for a browser to show more, so that it does not delay the others."""
CAPTIONS_S = 10.0
"""How long a page waits for the captions of its video."""


async def load(
    stages: Stages,
    url: Url,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    fetched: Page | None = None,
    force_refresh: bool = False,
) -> tuple[Page, Document]:
    """Fetch a page, unless it is given, and extract its document, with a browser where there is evidence that it helps.

    Raises:
        FetchError, ExtractError: the page cannot be fetched, or contains no text.
    """
    await stages.extractor.warm()
    until = deadline.within(stages.page_timeout_s)
    try:
        page = fetched or await stages.fetch(url, until, force_refresh=force_refresh)
        document = await _extract_or_render(stages, page, options, until)
        return page, await _with_captions(stages, page, document, options, until)
    except FetchError as failure:
        if not await stages.needs_browser(None, None, failure):
            raise
        return await _render_after_challenge(stages, url, options, until, failure)


async def _extract_or_render(
    stages: Stages, page: Page, options: ExtractOptions, deadline: Deadline
) -> Document:
    """The document of the fetched page or, if it has more text, of the page as a browser renders it."""
    document, failure = None, None
    try:
        document = await stages.extract(page, options, deadline)
    except (NoContent, PageWalled) as error:
        failure = error
    reason = await stages.browser_reason(page, document, failure)
    if reason is not None:
        url = urls.parse(page.url)
        until = deadline if document is None else deadline.within(MORE_TEXT_S)
        try:
            rendered = await stages.render(url, until)
            shown = await stages.extract(rendered, options, until)
        except BrowserUnavailable as missing:
            shown = None
            document = document and _without_drawn_text(document, reason, missing)
            failure = failure and _explained(failure, missing)
        except (FetchError, ExtractError):
            shown = None
            await stages.record_gain(url, document, None)
        else:
            await stages.record_gain(url, document, shown)
        if shown is not None and (document is None or len(shown.text) > len(document.text)):
            await stages.fetcher.keep(replace(rendered, requested_url=page.requested_url))
            return shown
    if document is None:
        raise failure or NoContent("The page contains no readable text.", url=page.url)
    return document


async def _with_captions(
    stages: Stages, page: Page, document: Document, options: ExtractOptions, deadline: Deadline
) -> Document:
    """The document with the transcript of the page's video, or a note that there is none."""
    from kindly.extract import video_tracks
    from kindly.text.captions import cues_in

    if options.selector is not None or options.format == "html" or not video_tracks.has_media(page):
        return document
    track = video_tracks.best_track(page)
    if track is None:
        return (
            document.with_note(video_tracks.NO_CAPTIONS) if video_tracks.speaks(page) else document
        )
    try:
        captions = await stages.fetch(urls.parse_page(track.url), deadline.within(CAPTIONS_S))
        cues = cues_in(captions.body.decode(captions.charset or "utf-8", "replace"))
    except (FetchError, InputError, LookupError):
        cues = []
    if not cues:
        return document.with_note(video_tracks.UNREADABLE)
    return stages.redactor.record(video_tracks.with_transcript(document, track, cues))


async def _render_after_challenge(
    stages: Stages, url: Url, options: ExtractOptions, deadline: Deadline, challenge: FetchError
) -> tuple[Page, Document]:
    """Retry in a browser after a bot check; re-raise the original error if that fails."""
    try:
        page = await stages.render(url, deadline)
        return page, await stages.extract(page, options, deadline)
    except BrowserUnavailable as missing:
        raise _explained(challenge, missing) from None
    except (FetchError, ExtractError):
        raise challenge from None


def _without_drawn_text(document: Document, reason: str, missing: BrowserUnavailable) -> Document:
    """The document, which says that text is missing if a script draws the page and no browser can run it."""
    from kindly.fetch.browser.need import is_certain

    if not is_certain(reason):
        return document
    said = f"The page draws some of its text with JavaScript. {missing.detail}"
    return replace(document, partial=True).with_note(said)


def _explained(failure: Failure, missing: BrowserUnavailable) -> Failure:
    """The failure of a page, with what is wrong with the browser that would have shown more.

    A bot check is not a reason to install a browser, but the failure of an installed one is reported.
    """
    if not missing.attempts and not isinstance(failure, NoContent):
        return failure
    return failure.replace(detail=f"{failure.detail} {missing.detail}")

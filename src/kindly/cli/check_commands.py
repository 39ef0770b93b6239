"""`kindly changes` and `kindly verify`: what changed in stored pages, and whether one says a quote."""

from kindly.app import App
from kindly.budget import Deadline
from kindly.cli.verbs import NO_ANSWER, echo, run_verb
from kindly.clock import SYSTEM_CLOCK
from kindly.crawl import page_checks
from kindly.server.arguments import since_date
from kindly.server.render.checked_pages import changes_output, quote_output
from kindly.server.render.fence import NO_FENCE
from kindly.server.tool import Output
from kindly.settings import Settings
from kindly.stages import Progress


def show_changes(
    settings: Settings, target: str, since: str, *, refresh: bool, as_json: bool
) -> int:
    """Print what changed in a page or a collection; the exit code."""
    start = since_date(since, SYSTEM_CLOCK.now())

    async def verb(app: App, deadline: Deadline, progress: Progress) -> Output:
        async def collection(id_: str) -> bool:
            assert app.open_indexer is not None  # noqa: S101 - `open_app` gives one
            await app.open_indexer().run(id_, progress, refresh=True)
            return True

        asked = page_checks.refresh_by(app.stages, deadline, collection) if refresh else None
        library = await page_checks.library_of(app.stages)
        report = await page_checks.changes(library, target, start, asked)
        return changes_output(report, NO_FENCE, app.tokens_for(None))

    output = run_verb(settings, verb)
    echo(settings, output.structured if as_json else output.text)
    return 0


def show_verdict(settings: Settings, quote: str, url: str, *, refresh: bool, as_json: bool) -> int:
    """Print whether a page says a quote; the exit code, which is 0 only for an exact quote."""

    async def verb(app: App, deadline: Deadline, _: Progress) -> Output:
        library = await page_checks.library_of(app.stages)
        report = await page_checks.verify(
            app.stages, library, quote, url, deadline, refresh=refresh
        )
        return quote_output(report, NO_FENCE)

    output = run_verb(settings, verb)
    echo(settings, output.structured if as_json else output.text)
    return 0 if output.structured["verdict"] == "exact" else NO_ANSWER

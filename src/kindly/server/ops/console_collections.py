"""The console's API for collections: what is indexed and how far, a question to one of them, and what changed in it."""

from typing import Any

from starlette.requests import Request

from kindly import pipeline
from kindly.app import App
from kindly.clock import SYSTEM_CLOCK
from kindly.crawl import page_checks
from kindly.errors import StoreUnavailable
from kindly.frozen import frozen
from kindly.models import RecallScope
from kindly.read.crawls.collection import CollectionStatus, TaskState
from kindly.server.arguments import since_date
from kindly.server.ops.console_api import Refusal, json_body, running_app
from kindly.server.render.checked_pages import changes_output
from kindly.server.render.collection_results import collection_data
from kindly.server.render.fence import NO_FENCE
from kindly.server.render.findings import findings_data, library_findings
from kindly.server.server_state import ServerState

PASSAGES = 8
MAX_QUESTION = 2_000
MAX_NAME = 200


@frozen
class ConsoleCollections:
    """The requests of the console's page for collections."""

    server: ServerState

    async def listed(self, _: Request) -> dict[str, Any]:
        """All collections with age, size and progress."""
        app = running_app(self.server)
        if app.library_store is None:
            raise StoreUnavailable("Reading is not set up in this server.")
        statuses = await (await app.library_store()).crawls.collections()
        shown = [_collection(app, one) for one in statuses]
        return {"collections": app.redactor.value(shown), "now": SYSTEM_CLOCK.time()}

    async def ask(self, request: Request) -> dict[str, Any]:
        """The passages of one collection that answer a question."""
        match await json_body(request):
            case {"collection": str(name), "question": str(question)}:
                return await self._ask(name[:MAX_NAME], question.strip()[:MAX_QUESTION])
            case _:
                raise Refusal("A question needs a collection and its text.")

    async def _ask(self, name: str, question: str) -> dict[str, Any]:
        if not name or not question:
            raise Refusal("A question needs a collection and its text.")
        app = running_app(self.server)
        found = await pipeline.recall(
            app.stages, [question], limit=PASSAGES, scope=RecallScope(name)
        )
        result = library_findings(found, NO_FENCE, app.tokens_for(None))
        (finding,) = findings_data(result)["findings"]
        return {"finding": app.redactor.value(finding)}

    async def changes(self, request: Request) -> dict[str, Any]:
        """What changed in a collection."""
        app = running_app(self.server)
        name = request.query_params.get("collection", "")[:MAX_NAME]
        since = since_date(request.query_params.get("since", "")[:60], SYSTEM_CLOCK.now())
        library = await page_checks.library_of(app.stages)
        report = await page_checks.changes(library, name, since)
        output = changes_output(report, NO_FENCE, app.tokens_for(None))
        return {"changes": app.redactor.value(output.structured)}


def _collection(app: App, status: CollectionStatus) -> dict[str, Any]:
    id_ = status.collection.id
    background = None if app.background is None else app.background()
    failure = "" if background is None else background.failures.get(id_, "")
    return collection_data(status, failure) | {
        "found_by": status.collection.via,
        "done": status.tasks.get(TaskState.DONE, 0),
        "total": sum(status.tasks.values()),
        "running": background is not None and background.is_running(id_),
    }

"""Collections → text and structured data."""

from collections.abc import Mapping, Sequence

from kindly.read.crawls.collection import CollectionStatus, TaskState
from kindly.server.json_schema import Json
from kindly.server.render.formatting import address, clip
from kindly.server.tool import Output

MAX_COLLECTIONS = 200


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


def collections_output(statuses: Sequence[CollectionStatus], failures: Mapping[str, str]) -> Output:
    """All collections."""
    shown = [
        collection_data(one, failures.get(one.collection.id, ""))
        for one in statuses[:MAX_COLLECTIONS]
    ]
    text = "\n".join(map(_line, shown)) or "There are no collections; index makes one."
    return Output(text, {"collections": shown})

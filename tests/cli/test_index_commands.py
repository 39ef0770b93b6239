"""`kindly index` and what `kindly library` does with collections."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from kindly.cli.index_commands import age_of, status_line
from kindly.read.crawls.collection import Collection, CollectionStatus, TaskState
from tests.support.docs_site import DocsSite
from tests.support.processes import run_kindly as run
from tests.support.served_world import as_json, environment
from tests.support.site import running_site
from tests.support.stored_pages import NOON


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(seconds=5), "1 minute"),
        (timedelta(minutes=5), "5 minutes"),
        (timedelta(hours=30), "30 hours"),
        (timedelta(days=30), "30 days"),
    ],
)
def test_an_age_has_one_unit(age: timedelta, expected: str) -> None:
    assert age_of(age) == expected


def test_a_line_says_what_is_left() -> None:
    one = Collection("docs", "https://e.com/", NOON, "1.0", checked_at=NOON)
    status = CollectionStatus(one, {TaskState.PENDING: 2}, 1_200, 3_400_000)
    line = status_line(status, NOON + timedelta(days=3))
    assert line == "docs@1.0  1,200 pages, 3.4 MB, 3 days old, 2 pages left  https://e.com/"


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_site_is_indexed_listed_refreshed_exported_imported_and_forgotten(
    tmp_path: Path,
) -> None:
    async with running_site() as site:
        docs, environ = DocsSite(site, 4), environment(site, tmp_path / "data")
        made = await run(environ, "index", docs.start, "--name", "docs@1.0", "--json")
        assert made.code == 0, made.err
        assert json.loads(made.out)["pages"] == 5
        assert "found by links" in made.err
        again = await run(environ, "index", docs.start, "--name", "docs@1.0")
        assert "is indexed already" in again.err
        docs.change(1)
        docs.bodies.clear()
        refreshed = await run(environ, "index", "--refresh", "docs")
        assert (refreshed.code, sum(docs.bodies.values())) == (0, 1), refreshed.err
        listed = await run(environ, "library", "collections")
        assert listed.out.startswith("docs@1.0  5 pages")
    file = tmp_path / "docs.kindly"
    exported = await run(environ, "library", "export", "--collection", "docs@1.0", str(file))
    assert "5 pages exported" in exported.err
    other = {**environ, "DATA_DIR": str(tmp_path / "other")}
    assert "5 pages imported" in (await run(other, "library", "import", str(file))).out
    shown = json.loads((await run(other, "library", "collections", "--json")).out)
    assert (shown["collection"], shown["state"]) == ("docs@1.0", "ready")
    gone = await run(other, "library", "forget", "--collection", "docs@1.0")
    assert "5 pages deleted" in gone.out
    assert (await run(other, "library", "forget", "--collection", "docs@1.0")).code == 1


@pytest.mark.slow
@pytest.mark.anyio
async def test_the_dependencies_of_a_lock_file_are_indexed(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text("thing==1.2.3\nmissing==1.0\n")
    async with running_site() as site:
        docs = DocsSite(site, 2)
        info = {"info": {"version": "1.2.3", "project_urls": {"Documentation": docs.start}}}
        site.add("/registry/pypi/thing/1.2.3/json", as_json(info))
        environ = environment(site, tmp_path / "data", KINDLY_PYPI_URL=site.url("/registry"))
        done = await run(environ, "index", "--from-lock", str(lock))
        assert done.code == 1
        assert "thing@1.2.3: 3 pages" in done.out
        assert "may be another than 1.2.3" in done.out
        assert done.err.splitlines()[-1].startswith("pypi:missing@1.0: ")


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("arguments", [(), ("https://e.com/", "--from-lock", __file__)])
async def test_one_origin_is_needed(arguments: tuple[str, ...], tmp_path: Path) -> None:
    refused = await run({"DATA_DIR": str(tmp_path)}, "index", *arguments)
    assert (refused.code, "either ORIGIN or --from-lock" in refused.err) == (2, True)

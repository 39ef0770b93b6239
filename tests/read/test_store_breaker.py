"""If the store fails, the page is not stored, but still answered."""

import pytest

from kindly.errors import StoreUnavailable
from tests.support.library_world import URL, BrokenStore, LibraryWorld, document, page

pytestmark = pytest.mark.anyio


async def test_broken_store_takes_nothing_from_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    world = LibraryWorld(BrokenStore())
    library = world.library()
    assert await library.fresh(URL) is None
    async with library.lock(URL):
        stored, note = await library.keep(URL, document(), page())
    assert "could not be kept" in note
    assert (await library.ask(stored, ["waggle dance"], 1))[0].answered
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await library.recall(["bees"], 1)

"""Questions get vectors that fit the page's, or a note that says why there are none."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.errors import ModelMismatch
from kindly.models import Finding
from kindly.read.questions import question_vectors, with_note
from kindly.read.store import StoredPage
from tests.support.library_world import MODEL, URL, LibraryWorld, document, page

pytestmark = pytest.mark.anyio


class OtherDimension:
    """An embedder under the local model's name, with shorter vectors."""

    name = MODEL.name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 3), dtype=np.float32)


async def stored_bees(world: LibraryWorld) -> StoredPage:
    return (await world.library().keep(URL, document()))[0]


async def test_each_question_has_a_vector() -> None:
    world = LibraryWorld()
    stored = await stored_bees(world)
    vectors, note = await question_vectors(world.embedder, stored, ["one", "two"])
    assert stored.vectors is not None
    assert [len(one) for one in vectors if one is not None] == [stored.vectors.shape[1]] * 2
    assert note == ""


async def test_without_an_embedder_the_note_gives_the_reason() -> None:
    world = LibraryWorld()
    stored = await stored_bees(world)
    world.embedder.down = True
    vectors, note = await question_vectors(world.embedder, stored, ["one", "two"])
    assert vectors == [None, None]
    assert "asleep" in note


async def test_a_page_without_vectors_needs_none() -> None:
    world = LibraryWorld()
    world.embedder.down = True
    stored = await stored_bees(world)
    assert await question_vectors(world.embedder, stored, ["one"]) == ([None], "")


async def test_another_dimension_is_refused() -> None:
    world = LibraryWorld()
    stored = await stored_bees(world)
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await question_vectors(OtherDimension(), stored, ["one"])


async def test_another_dimension_is_refused_for_a_changed_page_that_is_not_stored() -> None:
    world = LibraryWorld()
    await stored_bees(world)
    world.embedder = OtherDimension()  # type: ignore[assignment]
    changed = document(f"{document().text}\n\n## Food\n\n{'They eat nectar and pollen. ' * 40}")
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.library().keep(URL, changed, page(cache_control="no-store"))


def test_a_note_stands_on_the_first_finding_only() -> None:
    first, second = with_note([Finding("a", (), note="own"), Finding("b", ())], "given")
    assert (first.note, second.note) == ("given own", "")
    assert with_note([], "given") == ()

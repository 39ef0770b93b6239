"""What every search of the library starts and ends with: the vectors of questions, and the note if there are none."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kindly.models import Finding
from kindly.read.embedder import Embedder, embed_or_note
from kindly.read.model_check import ensure_same_model
from kindly.read.store import EmbeddingModel, StoredPage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


async def question_vectors(
    embedder: Embedder, stored: StoredPage, questions: Sequence[str]
) -> "tuple[Sequence[Vectors | None], str]":
    """One vector per question, if the page has vectors to compare with, and a note if the embedder has none.

    For a page without vectors, `Library.keep` has noted the reason already.

    Raises:
        ModelMismatch: the page's vectors have another dimension.
    """
    if stored.vectors is None:
        return [None] * len(questions), ""
    vectors, note = await embed_or_note(embedder, questions)
    if vectors:
        of_page = EmbeddingModel(embedder.name, stored.vectors.shape[1])
        ensure_same_model(of_page, EmbeddingModel(embedder.name, len(vectors[0])))
    return vectors or [None] * len(questions), note


def with_note(findings: Sequence[Finding], note: str) -> tuple[Finding, ...]:
    """The findings, with the note on the first one only."""
    if not findings or not note:
        return tuple(findings)
    first, *others = findings
    return (replace(first, note=" ".join(filter(None, (note, first.note)))), *others)

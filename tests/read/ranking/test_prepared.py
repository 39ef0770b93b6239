"""What ranking needs of a chunk: computed once, kept as bytes."""

from dataclasses import fields, replace

import numpy as np
import pytest

from kindly.models import Chunk
from kindly.read.chunk import split
from kindly.read.ranking import prepared as module
from kindly.read.ranking import static_model
from kindly.read.ranking.prepared import (
    KINDS,
    Prepared,
    from_bytes,
    prefix_key,
    prepare,
    prepared_chunks,
    term_key,
    to_bytes,
    window_ends,
    with_prepared,
)
from kindly.read.ranking.rank import Index

URL = "https://example.com/bees"
TEXT = "# Bees\n\nBees dance. Bees sleep at night.\n\n```\nx = 1\n```\n\n蜜蜂跳舞。\n\n| a | b |"


def chunks(text: str = TEXT) -> tuple[Chunk, ...]:
    return split(text, URL)


def same(one: Prepared, other: Prepared) -> bool:
    names = [field.name for field in fields(Prepared)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_bytes_hold_all_of_a_prepared_chunk() -> None:
    (one,) = prepare(chunks(), static_model.load())
    held = to_bytes(one)
    assert held is not None
    back = from_bytes(held)
    assert back is not None
    assert same(one, back)


def test_a_chunk_is_prepared_alike_alone_and_with_others() -> None:
    model = static_model.load()
    two = chunks("Sleeping bees slept.")
    together = prepare((*chunks(), *two), model)
    assert same(together[1], prepare(two, model)[0])


def test_sentences_terms_and_windows_are_counted() -> None:
    (one,) = prepare(chunks("# Bees\n\nBees dance. Bees sleep."), None)
    assert [KINDS[kind] for kind in one.kinds] == ["heading", "prose", "prose"]
    assert one.counts.tolist() == [1, 2, 2]
    assert one.terms.tolist() == [0, 0, 1, 0, 2]
    assert one.frequencies.tolist() == [3, 1, 1]
    assert one.window_ends.tolist() == [3]
    assert one.keys[3:].tolist() == [term_key("bee")], "of the heading"


def test_terms_with_the_same_beginning_have_the_same_upper_half() -> None:
    assert term_key("flower") >> 32 == term_key("flow") >> 32 == prefix_key("flowing")
    assert term_key("flower") != term_key("flow")


@pytest.mark.parametrize("damage", [b"", b"\x00" * 40, b"short"])
def test_bytes_that_are_no_prepared_chunk_are_not_used(damage: bytes) -> None:
    assert from_bytes(damage) is None


def test_bytes_of_another_version_or_cut_ones_are_prepared_anew() -> None:
    model = static_model.load()
    (whole,) = with_prepared(chunks(), model)
    assert whole.prepared is not None
    other = bytes([module.VERSION + 1]) + whole.prepared[1:]
    for held in (other, whole.prepared[:-1]):
        (found,) = prepared_chunks([replace(whole, prepared=held)], model)
        assert same(found, prepare(chunks(), model)[0])


def test_only_missing_bytes_are_computed_and_none_without_a_model() -> None:
    known = replace(chunks()[0], prepared=b"known")
    kept, new = with_prepared([known, *chunks("Wasps hunt.")], static_model.load())
    assert kept.prepared == b"known"
    assert new.prepared
    assert with_prepared(chunks(), None)[0].prepared is None


def test_numbers_beyond_the_columns_are_not_kept() -> None:
    (one,) = prepare(chunks(), static_model.load())
    assert to_bytes(replace(one, tokens=np.array([70_000]))) is None


def test_without_its_first_sentence_a_chunk_has_only_the_terms_of_the_others() -> None:
    model = static_model.load()
    first, rest = "Wasps hunt.", "Bees dance. Bees sleep."
    (cut,) = prepare(chunks(f"{first} {rest}"), model)
    (alone,) = prepare(chunks(rest), model)
    found = cut.without_first()
    for name in ("keys", "counts", "terms", "frequencies", "window_ends", "pieces", "tokens"):
        assert getattr(found, name).tolist() == getattr(alone, name).tolist(), name


def test_windows_grow_to_the_size_and_none_is_the_end_of_another() -> None:
    assert window_ends([5.0, 5.0, 5.0, 5.0], 10) == [2, 3, 4]
    assert window_ends([50.0, 5.0], 10) == [1, 2]
    assert window_ends([], 10) == []


def test_prepared_chunks_are_ranked_like_others() -> None:
    text = "\n\n".join(
        f"# Part {n}\n\nBees dance {n} times. They sleep at night." for n in range(9)
    )
    plain = split(text, URL, size=32)
    ready = with_prepared(plain, static_model.load())
    one, other = (
        Index(some, None).ask("How often do bees dance?", None, limit=3) for some in (plain, ready)
    )
    assert one == other
    assert one.passages

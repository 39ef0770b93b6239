from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.extract.formats.recognition import (
    Recognised,
    RecognisedLine,
    is_installed,
    model_paths,
    open_recogniser,
    read_picture,
)
from tests.support.pdf_files import PROSE, lines, pixels

needs_library = pytest.mark.skipif(not is_installed(), reason="the extra `ocr` is not installed")


def box(left: float, top: float, width: float, height: float) -> NDArray[np.float32]:
    right, bottom = left + width, top + height
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.float32)


@dataclass
class Engine:
    """A library that finds lines by the height of the picture, and reads them by how often it was asked."""

    found: dict[int, list[NDArray[np.float32]]]
    scores: list[float] = field(default_factory=lambda: [0.9] * 100)
    asked: int = 0

    def __call__(self, picture: Any, *, use_det: bool, use_cls: bool, use_rec: bool) -> Any:
        if use_det:
            boxes = self.found.get(picture.shape[0])
            return SimpleNamespace(boxes=None if boxes is None else np.array(boxes))
        score = self.scores[self.asked]
        self.asked += 1
        return SimpleNamespace(txts=(f"line  {self.asked}",), scores=(score,))

    def crop_text_regions(self, picture: Any, boxes: Any) -> list[Any]:
        return [picture[:10, :10] for _ in boxes]


def picture(height: int = 100, width: int = 200) -> NDArray[np.uint8]:
    made = np.zeros((height, width, 3), np.uint8)
    made[0, 0] = 255
    return made


def read(engine: Engine) -> Recognised:
    return read_picture(engine, picture(), lambda: False)


def test_lines_come_with_their_places() -> None:
    engine = Engine({100: [box(10, 20, 80, 10)]}, [0.9, 0.8])
    assert read(engine) == Recognised((RecognisedLine("line 2", 10, 20, 90, 30, 0.8),), 200, 100)


def test_what_is_hardly_sure_is_no_text() -> None:
    boxes = [box(10, 20, 80, 10), box(10, 40, 80, 10)]
    assert [line.text for line in read(Engine({100: boxes}, [0.9, 0.9, 0.3, 0.9])).lines] == [
        "line 4"
    ]


def test_confidence_is_weighted_by_length() -> None:
    made = (RecognisedLine("a", 0, 0, 1, 1, 0.5), RecognisedLine("bcd", 0, 0, 1, 1, 0.9))
    assert Recognised(made).confidence == pytest.approx(0.8)
    assert Recognised().confidence == 0


@pytest.mark.parametrize(
    "shown",
    [np.full((100, 100, 3), 255, np.uint8), np.zeros((4, 400, 3), np.uint8)],
    ids=["one colour", "too thin"],
)
@needs_library
def test_empty_picture_is_not_read(shown: NDArray[np.uint8]) -> None:
    recognise = open_recogniser()
    assert recognise is not None
    assert recognise(shown, lambda: False) == Recognised((), shown.shape[1], shown.shape[0])


def test_picture_without_lines_has_no_text() -> None:
    assert read(Engine({})) == Recognised((), 200, 100)


def test_picture_on_its_side_is_turned() -> None:
    tall = [box(20 * n, 10, 10, 80) for n in range(5)]
    engine = Engine({100: tall, 200: [box(10, 20, 80, 10)]})
    assert (read(engine).width, read(engine).height) == (100, 200)


def test_picture_upside_down_is_turned() -> None:
    engine = Engine({100: [box(10, 20, 80, 10)]}, [0.4, 0.9, 0.95])
    assert [line.confidence for line in read(engine).lines] == [0.95]


def test_reading_stops_when_it_is_late() -> None:
    boxes = [box(10, 20 * n, 80, 10) for n in range(5)]
    asked = count()
    read_part = read_picture(Engine({100: boxes}), picture(), lambda: next(asked) > 2)
    assert (len(read_part.lines), read_part.complete) == (2, False)


@pytest.mark.parametrize("missing", ["rapidocr", "onnxruntime"])
def test_both_packages_are_needed(missing: str) -> None:
    assert not is_installed(lambda name: None if name == missing else name)


@needs_library
def test_models_are_in_the_package() -> None:
    assert [Path(path).exists() for path in model_paths().values()] == [True, True]


@needs_library
@pytest.mark.slow
@pytest.mark.parametrize("turns", [0, 1, 2], ids=["upright", "on its side", "upside down"])
def test_printed_text_is_read(turns: int) -> None:
    recognise = open_recogniser()
    assert recognise is not None
    grey = np.rot90(pixels(lines([*PROSE, *PROSE], y=600)), turns)
    shown = np.ascontiguousarray(np.repeat(grey[..., None], 3, axis=2))
    found = recognise(shown, lambda: False)
    assert " ".join(line.text for line in found.lines) == " ".join([*PROSE, *PROSE])
    assert found.confidence > 0.9


@needs_library
@pytest.mark.slow
def test_library_that_fails_reads_nothing() -> None:
    recognise = open_recogniser()
    assert recognise is not None
    broken = np.zeros((50, 50, 7), np.uint8)
    broken[0, 0] = 1
    assert recognise(broken, lambda: False) == Recognised(complete=False)

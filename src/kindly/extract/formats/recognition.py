"""Character recognition: a picture → the lines of text in it, with their places and how sure it is of them.

RapidOCR (the extra `ocr`) runs the models of PaddleOCR that its package contains. Models are named by path, because
without one it would download them. Text is found in the whole picture first and then recognised line by line, so that
a deadline is met within a line.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kindly.concurrency.process_limits import use_reserve
from kindly.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    """Rows of pixels: blue, green, red."""

LIBRARY: Final = "rapidocr"
MODELS: Final = {"Det": "*_det_*.onnx", "Rec": "*_rec_*.onnx"}
DETECTION_SIDE: Final = 960
"""The longer side of the picture in which lines are looked for; a page of a book needs no more."""
FINE_DETECTION_SIDE: Final = 1600
"""The same for pictures whose text may be small, such as screenshots."""
MAX_LINES: Final = 400
LEAST_SURE: Final = 0.5
"""A line that is less sure than this is no text."""
MAX_THREADS: Final = 4
UPRIGHT_SHARE: Final = 0.4
"""If fewer lines than this lie flat, the picture is turned by a quarter."""
SAMPLE_LINES: Final = 3
READABLE: Final = 0.75
"""If the widest lines are less sure than this, the picture may be upside down."""
MIN_SIDE: Final = 12


@frozen
class RecognisedLine:
    """A line of text in a picture; coordinates in pixels from the top left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float


@frozen
class Recognised:
    """The text of a picture from top to bottom."""

    lines: tuple[RecognisedLine, ...] = ()
    width: int = 0
    height: int = 0
    """The size of the picture after it was turned upright."""
    complete: bool = True
    """Whether there was time for all lines."""

    @property
    def confidence(self) -> float:
        """How sure it is of the text on average, from 0 to 1."""
        total = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / max(total, 1)


Recogniser = Callable[["Picture", Callable[[], bool]], Recognised]
"""Reads a picture until the function says that it is late."""


def is_installed(find: Callable[[str], object] = find_spec) -> bool:
    """Whether the extra with the library is installed."""
    return find(LIBRARY) is not None and find("onnxruntime") is not None


def open_recogniser(*, fine: bool = False) -> Recogniser | None:
    """A recogniser, which loads its models at the first picture; None if the extra is not installed."""
    if not is_installed():
        return None

    def recognise(picture: "Picture", is_late: Callable[[], bool]) -> Recognised:
        if _is_empty(picture):
            return Recognised((), picture.shape[1], picture.shape[0])
        try:
            return read_picture(_engine(fine=fine), picture, is_late)
        except Exception:  # noqa: BLE001 - the library does not document what it raises
            return Recognised(complete=False)

    return recognise


@lru_cache(maxsize=1)
def _engine(*, fine: bool) -> Any:
    """The library with its own models and few threads."""
    import os

    use_reserve()
    with _quiet():
        from rapidocr import RapidOCR  # type: ignore[import-untyped,unused-ignore]

        threads = max(1, min(MAX_THREADS, (os.cpu_count() or 1) // 2))
        return RapidOCR(
            params={
                **{f"{part}.model_path": path for part, path in model_paths().items()},
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.text_score": 0.0,
                "Global.max_side_len": 20_000,
                "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Det.limit_type": "max",
                "Det.limit_side_len": FINE_DETECTION_SIDE if fine else DETECTION_SIDE,
                "Rec.rec_batch_num": 1,
            }
        )


def model_paths() -> dict[str, str]:
    """The models in the library's package, by the part that uses them.

    Raises:
        FileNotFoundError: the package has none.
    """
    spec = find_spec(LIBRARY)
    folder = Path((spec.origin if spec else None) or "").parent / "models"
    found = {part: sorted(folder.glob(pattern)) for part, pattern in MODELS.items()}
    if not all(found.values()):
        raise FileNotFoundError(f"{LIBRARY} has no models in its package.")
    return {part: str(paths[-1]) for part, paths in found.items()}


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore the warnings of packages that are imported meanwhile."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read_picture(engine: Any, picture: "Picture", is_late: Callable[[], bool]) -> Recognised:
    """Find the lines of a picture, turn it upright, and recognise them one by one."""
    import numpy as np

    boxes, crops = _detect(engine, picture)
    if _lies_sideways(boxes):
        picture = np.ascontiguousarray(np.rot90(picture))
        boxes, crops = _detect(engine, picture)
    if crops and not is_late() and _is_upside_down(engine, boxes, crops):
        picture = np.ascontiguousarray(np.rot90(picture, 2))
        boxes, crops = _detect(engine, picture)
    height, width = picture.shape[:2]
    lines: list[RecognisedLine] = []
    for box, crop in zip(boxes, crops, strict=True):
        if is_late():
            return Recognised(tuple(lines), width, height, complete=False)
        text, confidence = _recognise(engine, crop)
        if text and confidence >= LEAST_SURE:
            (left, top), (right, bottom) = box.min(axis=0).tolist(), box.max(axis=0).tolist()
            lines.append(RecognisedLine(text, left, top, right, bottom, confidence))
    return Recognised(tuple(lines), width, height)


def _is_empty(picture: "Picture") -> bool:
    """Whether a picture is too small for text or has one colour."""
    return min(picture.shape[:2]) < MIN_SIDE or bool(picture.min() == picture.max())


def _detect(engine: Any, picture: "Picture") -> tuple[list[Any], list["Picture"]]:
    """The corners of each line, and its picture."""
    found = engine(picture, use_det=True, use_cls=False, use_rec=False)
    if getattr(found, "boxes", None) is None:
        return [], []
    boxes = list(found.boxes[:MAX_LINES])
    return boxes, list(engine.crop_text_regions(picture, boxes))


def _recognise(engine: Any, crop: "Picture") -> tuple[str, float]:
    found = engine(crop, use_det=False, use_cls=False, use_rec=True)
    if not getattr(found, "txts", None):
        return "", 0.0
    return " ".join(found.txts[0].split()), float(found.scores[0])


def _size(box: Any) -> tuple[float, float]:
    width, height = (box.max(axis=0) - box.min(axis=0)).tolist()
    return width, height


def _lies_sideways(boxes: Sequence[Any]) -> bool:
    """Whether most lines run up or down."""
    sizes = [_size(box) for box in boxes]
    long = [size for size in sizes if max(size) > 2 * min(size)]
    flat = sum(width > height for width, height in long)
    return len(long) > SAMPLE_LINES and flat < UPRIGHT_SHARE * len(long)


def _is_upside_down(engine: Any, boxes: Sequence[Any], crops: Sequence["Picture"]) -> bool:
    """Whether the widest lines can be read better the other way up."""
    import numpy as np

    by_width = sorted(range(len(boxes)), key=lambda n: -_size(boxes[n])[0])[:SAMPLE_LINES]
    sure = sum(_recognise(engine, crops[n])[1] for n in by_width)
    if sure >= READABLE * len(by_width):
        return False
    turned = [np.ascontiguousarray(np.rot90(crops[n], 2)) for n in by_width]
    return sum(_recognise(engine, crop)[1] for crop in turned) > sure + 0.1 * len(by_width)

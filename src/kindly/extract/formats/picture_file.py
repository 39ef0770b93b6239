"""PNG, JPEG and WebP files → the text in them, with their size and what they say about themselves."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from kindly.concurrency.process_limits import use_reserve
from kindly.errors import ExtractionFailed, MediaUnsupported, NoContent
from kindly.extract import ExtractOptions
from kindly.extract.formats.file_errors import broken_file
from kindly.extract.formats.html_fragment import note, paragraph, read_fragment, with_metadata
from kindly.extract.formats.pdf.pdf_layout import layout
from kindly.extract.formats.pdf.pdf_scans import scanned_page
from kindly.extract.formats.picture_metadata import (
    JPEG_START,
    PictureMetadata,
    read_picture_metadata,
)
from kindly.extract.formats.recognition import Recognised, Recogniser, open_recogniser
from kindly.extract.formats.recognition_notes import HOW, sure
from kindly.extract.html import ExtractedText
from kindly.models import Metadata

if TYPE_CHECKING:
    from kindly.extract.formats.recognition import Picture

KINDS: Final = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WebP"}
MAX_PIXELS: Final = 50_000_000
MAX_SIDE: Final = 3_000
"""A larger picture is made smaller before it is read."""
POINTS: Final = 2.0
"""Pixels in a point, as in a screenshot."""
LIGHT: Final = 160
READ_SHARE: Final = 0.7
"""The part of the time for reading."""


def open_fine_recogniser() -> Recogniser | None:
    """A recogniser for pictures with small text."""
    return open_recogniser(fine=True)


def read_picture_file(
    body: bytes,
    media_type: str,
    options: ExtractOptions,
    url: str,
    *,
    recogniser: Callable[[], Recogniser | None] = open_fine_recogniser,
    clock: Callable[[], float] = time.monotonic,
) -> ExtractedText:
    """The text in a picture.

    Raises:
        ExtractionFailed: it has too many pixels.
        MediaUnsupported: it is broken, or nothing is known of it because the extra is not installed.
        NoContent: there is no text in it, and it says nothing about itself.
    """
    until = clock() + READ_SHARE * options.seconds
    known = read_picture_metadata(body)
    what = f"a {KINDS[media_type]} picture of {known.width:,} × {known.height:,} pixels"
    if not known.pixels:
        raise broken_file(body, url=url, media_type=media_type)
    if known.pixels > MAX_PIXELS:
        raise ExtractionFailed(
            f"The address has {what}, which is above the limit of {MAX_PIXELS:,} pixels.", url=url
        )
    recognise = recogniser()
    read = None
    if recognise is not None:
        picture = decoded(body)
        if picture is None:
            raise broken_file(body, url=url, media_type=media_type)
        read = recognise(picture, lambda: clock() > until)
    if not (read and read.lines) and not (known.alternative or known.description or known.title):
        if read is None:
            raise MediaUnsupported(
                f"The address has {what}. To read text in it by character recognition, {HOW}.",
                url=url,
                media_type=media_type,
            )
        raise NoContent(f"The address has {what}, with no text that can be recognised.", url=url)
    return _extracted(known, what, read, options, url)


def _extracted(
    known: PictureMetadata, what: str, read: Recognised | None, options: ExtractOptions, url: str
) -> ExtractedText:
    parts = [
        note(what),
        paragraph(f"Alternative text: {known.alternative}") if known.alternative else "",
        paragraph(f"Description: {known.description}") if known.description else "",
    ]
    remark = ""
    if read is None:
        remark = f"Text in the picture was not read. To read it by character recognition, {HOW}."
    elif read.lines:
        remark = f"The text was {sure(read.confidence)}."
        page = scanned_page(read, POINTS).content
        parts += (note(sure(read.confidence)), layout([page], {}, numbered=False))
    extracted = read_fragment("".join(parts), options, url)
    title = known.title or extracted.metadata.title
    return with_metadata(
        extracted,
        Metadata(
            title=title,
            description=known.alternative or known.description or None,
            author=known.author or None,
            published=known.created or None,
        ),
        hidden=0,
        partial=read is not None and not read.complete,
        note=remark,
    )


def decoded(body: bytes) -> "Picture | None":
    """The pixels of a file, as large as recognition needs them; None if it is broken."""
    import cv2
    import numpy as np

    use_reserve()
    is_jpeg = body.startswith(JPEG_START)
    try:
        picture: Any = cv2.imdecode(
            np.frombuffer(body, np.uint8), cv2.IMREAD_COLOR if is_jpeg else cv2.IMREAD_UNCHANGED
        )
    except cv2.error:
        return None
    if picture is None:
        return None
    longer = max(picture.shape[:2])
    if longer > MAX_SIDE:
        scale = MAX_SIDE / longer
        picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    if picture.dtype != np.uint8:
        picture = (picture >> 8).astype(np.uint8)
    if picture.ndim == 2:
        picture = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR)
    elif picture.shape[2] == 4:
        picture = _on_paper(picture)
    return cast("Picture", np.ascontiguousarray(picture))


def _on_paper(picture: "Picture") -> "Picture":
    """A picture with transparent parts on white paper, or on black if what it draws is light."""
    import numpy as np

    drawn = picture[..., 3] > 0
    light = drawn.any() and picture[..., :3][drawn].mean() > LIGHT
    alpha = picture[..., 3:].astype(np.uint16)
    paper = 0 if light and not drawn.all() else 255
    mixed = (picture[..., :3] * alpha + paper * (255 - alpha)) // 255
    return mixed.astype(np.uint8)

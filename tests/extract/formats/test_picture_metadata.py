import struct

import pytest

from kindly.extract.formats.picture_metadata import PictureMetadata, read_picture_metadata
from tests.support.picture_files import exif, jpeg_header, png, webp, xmp

XMP = b"http://ns.adobe.com/xap/1.0/\x00"
EXIF = b"Exif\x00\x00"
VP8X = b"\x00" * 4 + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (png(), (30, 20)),
        (jpeg_header(), (640, 480)),
        (webp((b"VP8X", VP8X)), (640, 480)),
        (webp((b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14))), (640, 480)),
        (webp((b"VP8 ", b"\x00" * 3 + b"\x9d\x01\x2a" + struct.pack("<HH", 640, 480))), (640, 480)),
        (b"\x89PNG\r\n\x1a\n", (0, 0)),
        (b"\xff\xd8\xff", (0, 0)),
        (b"RIFF\x00\x00\x00\x00WEBP", (0, 0)),
        (b"", (0, 0)),
    ],
    ids=["png", "jpeg", "webp", "lossless", "lossy", "png stub", "jpeg stub", "webp stub", "none"],
)
def test_size_is_read_from_the_header(body: bytes, size: tuple[int, int]) -> None:
    known = read_picture_metadata(body)
    assert (known.width, known.height, known.pixels) == (*size, size[0] * size[1])


FIELDS = {0x010E: "A heron on a post", 0x013B: "A. B.", 0x0132: "2024:05:06 07:08:09"}
SAID = PictureMetadata(description="A heron on a post", author="A. B.", created="2024-05-06")


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_exif_fields_are_read(order: str) -> None:
    known = read_picture_metadata(jpeg_header((0xE1, EXIF + exif(FIELDS, order))))
    assert known == PictureMetadata(640, 480, "", "", SAID.description, SAID.author, SAID.created)


@pytest.mark.parametrize(
    "body",
    [png(None, (b"eXIf", exif(FIELDS))), webp((b"VP8X", VP8X), (b"EXIF", exif(FIELDS)))],
    ids=["png", "webp"],
)
def test_exif_is_found_in_other_formats(body: bytes) -> None:
    assert read_picture_metadata(body).description == SAID.description


ALTERNATIVE = xmp(Iptc4xmpCore_AltTextAccessibility="A grey bird &amp; a post")


@pytest.mark.parametrize(
    "body",
    [
        jpeg_header((0xE1, XMP + ALTERNATIVE)),
        webp((b"VP8X", VP8X), (b"XMP ", ALTERNATIVE)),
        png(None, (b"iTXt", b"XML:com.adobe.xmp\x00\x00\x00\x00\x00" + ALTERNATIVE)),
    ],
    ids=["jpeg", "webp", "png"],
)
def test_alternative_text_is_read(body: bytes) -> None:
    assert read_picture_metadata(body).alternative == "A grey bird & a post"


def test_xmp_comes_before_exif() -> None:
    packet = XMP + xmp(dc_description="From XMP", dc_title="Heron")
    for segments in (((0xE1, packet), (0xE1, EXIF + exif(FIELDS))),
                     ((0xE1, EXIF + exif(FIELDS)), (0xE1, packet))):  # fmt: skip
        known = read_picture_metadata(jpeg_header(*segments))
        assert (known.title, known.description, known.author) == ("Heron", "From XMP", "A. B.")


@pytest.mark.parametrize(
    ("parts", "description"),
    [
        ([(b"tEXt", b"Description\x00A heron")], "A heron"),
        ([(b"iTXt", b"Description\0\0\0de\0\0Ein Fischreiher")], "Ein Fischreiher"),
        ([(b"iTXt", b"Description\x00\x01\x00\x00\x00packed")], ""),
        ([(b"tEXt", b"Software\x00Paint")], ""),
        ([(b"tEXt", b"Comment\x00A remark")], "A remark"),
    ],
    ids=["plain", "international", "compressed", "other", "comment"],
)
def test_texts_of_a_png_are_read(parts: list[tuple[bytes, bytes]], description: str) -> None:
    assert read_picture_metadata(png(None, *parts)).description == description


@pytest.mark.parametrize("text", ["OLYMPUS DIGITAL CAMERA", "SONY DSC", "DCIM\\100MEDIA"])
def test_what_a_camera_writes_is_no_description(text: str) -> None:
    body = jpeg_header((0xE1, EXIF + exif({0x010E: text})))
    assert read_picture_metadata(body).description == ""


def test_comment_of_a_jpeg_is_its_description() -> None:
    assert read_picture_metadata(jpeg_header((0xFE, b"By hand"))).description == "By hand"


def test_file_truncated_or_changed_anywhere_is_still_read() -> None:
    whole = jpeg_header(
        (0xE1, EXIF + exif(FIELDS)), (0xE1, XMP + xmp(dc_title="Heron")), (0xFE, b"By hand")
    )
    for end in range(len(whole)):
        assert read_picture_metadata(whole[:end]).width in (0, 640)
        changed = whole[:end] + b"\xff" + whole[end + 1 :]
        assert read_picture_metadata(changed).pixels >= 0

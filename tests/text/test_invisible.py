import pytest

from kindly.text.invisible import clean

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "cleaned", "reported"),
    [
        ("plain text\n\twith tabs", "plain text\n\twith tabs", 0),
        ("bell\x07 and escape\x1b", "bell and escape", 2),
        ("soft\u00adhyphen", "softhyphen", 0),
        ("zero\u200bwidth", "zerowidth", 0),
        ("\ufeffmark", "mark", 0),
        ("bits\u200b\u200c\u200c\u200b\u200c end", "bits end", 1),
        (f"title{TAGS}", "title", 1),
        (f"{ENGLAND} flag", f"{ENGLAND} flag", 0),
        ("\U0001f3f4" + TAGS, "\U0001f3f4", 1),
        ("bidi \u202edesrever\u202c", "bidi desrever", 2),
        ("4\u2062\u2063\u206420", "420", 1),
        ("pay\u206a\u206f", "pay", 1),
        ("👨\u200d👩\u200d👧 family", "👨\u200d👩\u200d👧 family", 0),
        ("❤\ufe0f\u200d🔥 and ❤\ufe0f", "❤\ufe0f\u200d🔥 and ❤\ufe0f", 0),
        ("\ufe0fx", "x", 0),
        ("a\ufe01\ufe02\ufe03\ufe04b", "ab", 1),
        ("می\u200cخواهم", "می\u200cخواهم", 0),
        ("क\u200dष", "क\u200dष", 0),
        ("la\u200ctin jo\u200din", "latin join", 0),
        ("葛\U000e0100城", "葛\U000e0100城", 0),
        ("x\U000e0100", "x", 1),
        ("שלום مرحبا", "שלום مرحبا", 0),
        ("é\u200b", "é", 0),
    ],
)  # fmt: skip
def test_only_invisible_characters_are_removed(text: str, cleaned: str, reported: int) -> None:
    assert clean(text) == (cleaned, reported)

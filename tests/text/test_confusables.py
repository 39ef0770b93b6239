"""Characters that look alike are folded; positions lead back to the original."""

import pytest

from kindly.text.confusables import LETTERS, fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("End WEB-page", "end web-page"),
        ("ｅｎԁ‐ｗеЬ", "end-web"),
        ("ᴇɴᴅ ⓔⓝⓓ 🅴🅽🅳 🇪🇳🇩 𝐞𝐧𝐝", "end end end end end"),
        ("ΕΝD ЕND énd", "end end end"),
        ("‹«〈《＜≪◄", "<<<<<<<"),
        ("›»〉》＞≫►", ">>>>>>>"),
        ("【「［", "[[["),
        ("‐‑–—―−﹣－", "--------"),
        ("a\u00a0b\u2028c\u3000d", "a b\nc d"),
        ("e\u200bn\u0301d\U000e0041", "end"),
        ("日本語 ½ ﬁ", "日本語 ½ ﬁ"),
    ],
)
def test_what_looks_alike_is_folded(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_every_letter_of_the_table_has_one_meaning() -> None:
    assert all(fold(alike).text == plain for plain, row in LETTERS.items() for alike in row)


@pytest.mark.parametrize(
    "text", ["plain", "a\u200bb", "\u200b\u200babc\u0301d\u0301\u0301e", "é\u200b"]
)
def test_positions_lead_back_to_the_original(text: str) -> None:
    folded = fold(text)
    for position, character in enumerate(folded.text):
        assert fold(text[folded.source(position)]).text == character

from kindly.extract.content.char_counts import Count, count_characters


def test_characters_are_counted_by_class() -> None:
    counts = count_characters(["Costs $5, or $10.", "日本。", "x"])
    assert counts.words.tolist() == [4, 3, 1]
    assert counts.sentences.tolist() == [1, 1, 0]
    assert counts.edges.tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 0]]
    first = counts.by_class[0]
    assert {kind.name: first[kind] for kind in Count} == {
        "DIGITS": 3,
        "CAPITALS": 1,
        "COMMAS": 1,
        "MONEY": 2,
        "SYMBOLS": 0,
    }


def test_text_of_only_punctuation_has_one_word() -> None:
    assert count_characters(["…"]).words.tolist() == [1]

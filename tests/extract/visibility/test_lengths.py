import pytest

from kindly.extract.visibility.lengths import percent, pixels, uses_viewport


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("100vw", 1280),
        ("100dvh", 800),
        ("50%", 500),
        ("calc(100vh + 20px)", 820),
        ("calc(2 * 60vh)", 960),
        ("calc(-1 * 100vw)", -1280),
        ("calc(100px / 4 - 5px)", 20),
        ("max(110vw, 100%)", 1408),
        ("min(10px, 2em)", 10),
        ("clamp(1px, 50px, 20px)", 20),
        ("calc((1px + 2px) * 3)", 9),
        ("calc(100px / 0)", None),
        ("calc(1px +", None),
        ("calc(var(--x) + 1px)", None),
        ("calc" + "(" * 500, None),
        ("auto", None),
        ("", None),
    ],
    ids=lambda value: str(value)[:30],
)
def test_lengths_and_formulas_in_pixels(value: str, expected: float | None) -> None:
    assert pixels(value) == (None if expected is None else pytest.approx(expected))


def test_percentages_have_the_given_size() -> None:
    assert pixels("calc(100% + 1px)", 12.8) == pytest.approx(1281)
    assert (percent("150%"), percent("150px"), percent(None)) == (150, 0, 0)


@pytest.mark.parametrize(
    ("value", "expected"), [("10vw", True), ("calc(1px + 5svh)", True), ("10px", False)]
)
def test_whether_a_length_depends_on_the_viewport(value: str, expected: bool) -> None:
    assert uses_viewport(value) is expected

import pytest

from kindly.fetch.browser.settle import Observation, Settling

Look = tuple[float, int, int, bool]


def done_at(looks: list[Look]) -> float | None:
    settling = Settling()
    for look in looks:
        settling = settling.observe(Observation(*look))
        if settling.done(look[0]):
            return look[0]
    return None


def steady(until_s: float, chars: int, pending: int, *, complete: bool = True) -> list[Look]:
    return [(step / 20, chars, pending, complete) for step in range(int(until_s * 20) + 1)]


@pytest.mark.parametrize(
    ("looks", "at_s"),
    [
        (steady(2, 900, 0), 0.1),
        (steady(2, 900, 3), 0.3),
        (steady(2, 900, 0, complete=False), 0.3),
        (steady(2, 40, 0), 0.6),
        (steady(2, 40, 1), None),
        (steady(2, 0, 0, complete=False), None),
        ([(step / 20, step * 100, 0, True) for step in range(40)], None),
        (
            [(0.0, 40, 1, True), (0.4, 900, 0, True), (0.45, 900, 0, True), (0.55, 900, 0, True)],
            0.55,
        ),
    ],
    ids=[
        "text and silence",
        "text while requests run for ever",
        "text before the document is complete",
        "short page in silence",
        "spinner while requests run",
        "nothing yet",
        "text that keeps growing",
        "spinner, then text",
    ],
)
def test_page_is_done_when_its_content_is(looks: list[Look], at_s: float | None) -> None:
    assert done_at(looks) == at_s

import pytest

from kindly.text.durations import seconds


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [
        (0.0, "1 second"),
        (0.2, "1 second"),
        (1.0, "1 second"),
        (1.2, "2 seconds"),
        (60, "60 seconds"),
    ],
)
def test_waiting_time_is_written_in_whole_seconds(duration_s: float, words: str) -> None:
    assert seconds(duration_s) == words

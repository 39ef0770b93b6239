"""Captions of a video: files of two formats, and paragraphs with times."""

import pytest

from kindly.text.captions import MAX_CUES, Cue, clock, cues_in, paragraphs

VTT = """WEBVTT - a title

NOTE this is no line --> of captions

STYLE
::cue { color: red }

1
00:00:01.000 --> 00:00:04.000 align:start
<v Ada>Bees see &amp; feel</v>
<00:00:02.000><c>ultraviolet</c> light.

00:05.500 --> 00:09.000
<c>ultraviolet</c> light.
They dance.

01:00:00.000 --> 01:00:02.000
**The** [end](https://x.example/)
"""
SRT = (
    "\ufeff1\r\n00:00:01,000 --> 00:00:04,000\r\n{\\an8}<i>Bees</i> see.\r\n\r\n"
    "2\r\n00:02:05,000 --> 00:02:09,000\r\nThey dance.\r\n"
)


def test_lines_of_webvtt_come_once_and_without_markup() -> None:
    assert cues_in(VTT) == [
        Cue(1, "Bees see & feel"),
        Cue(1, "ultraviolet light."),
        Cue(5, "They dance."),
        Cue(3600, "The end"),
    ]


def test_lines_of_subrip_are_read() -> None:
    assert cues_in(SRT) == [Cue(1, "Bees see."), Cue(125, "They dance.")]


@pytest.mark.parametrize(
    "text",
    ["", "WEBVTT", "<html><p>Not found</p></html>", "00:00 --> soon\nx", "a --> b\n\nc"],
)
def test_a_text_that_is_no_captions_has_no_lines(text: str) -> None:
    assert cues_in(text) == []


def test_a_file_without_end_is_cut() -> None:
    many = "".join(f"00:00:00.000 --> 00:00:01.000\nline {n}\n\n" for n in range(MAX_CUES + 50))
    assert len(cues_in(many)) <= MAX_CUES


def test_a_new_paragraph_begins_after_half_a_minute() -> None:
    cues = [Cue(0, "a"), Cue(29, "b"), Cue(30, "c"), Cue(61, "d")]
    assert paragraphs(cues) == ["[0:00] a b", "[0:30] c", "[1:01] d"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (61, "1:01"), (3600, "1:00:00"), (-5, "0:00")]
)
def test_times_are_written_as_a_player_shows_them(seconds: int, shown: str) -> None:
    assert clock(seconds) == shown

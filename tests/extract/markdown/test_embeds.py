import pytest

from tests.support.html_pages import read


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "<iframe src='https://www.youtube.com/embed/abcdefghijk?x=1' title='How tides work'></iframe>",
            "[Video: How tides work](https://www.youtube.com/watch?v=abcdefghijk)",
        ),
        ("<iframe data-src='//player.vimeo.com/video/123'></iframe>", "[Video](https://vimeo.com/123)"),
        (
            "<iframe src='https://w.soundcloud.com/player/' title='YouTube video player'></iframe>",
            "[Audio](https://w.soundcloud.com/player/)",
        ),
        ("<iframe src='https://ads.example/x' title='SECRET'></iframe>", ""),
        ("<iframe src='https://youtu.be/abcdefghijk' width=1></iframe>", ""),
        ("<iframe src='https://[bad' title=x></iframe>", ""),
        ("<video title='Clip' src='/clip.mp4'>no video</video>", "[Video: Clip](https://site.example/clip.mp4)"),
        ("<audio><source src='/a.mp3'></audio>", "[Audio](https://site.example/a.mp3)"),
        ("<video autoplay src='/loop.mp4'></video>", ""),
        ("<video src='blob:x'></video>", ""),
    ],
)  # fmt: skip
def test_embedded_media_become_links(markup: str, text: str) -> None:
    assert (
        read(f"<main><p>Seen.</p>{markup}</main>", selector="main").text
        == f"Seen.\n\n{text}".strip()
    )

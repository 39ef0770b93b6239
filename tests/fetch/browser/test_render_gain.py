import pytest

from kindly.fetch.browser.render_gain import TRIES, RenderGain

HOST = "a.example"


def test_unknown_host_is_worth_a_try() -> None:
    assert RenderGain().may_help(HOST)


@pytest.mark.parametrize(
    ("pages", "may_help"),
    [
        ([(100, 100)] * (TRIES - 1), True),
        ([(100, 100)] * TRIES, False),
        ([(100, 0)] * TRIES, False),
        ([(1_000, 1_040)] * TRIES, False),
        ([(1_000, 1_060)] * TRIES, False),
        ([(1_000, 1_200)] * TRIES, True),
        ([(10, 60)] + [(100, 100)] * 2 * TRIES, True),
        ([(100, 100)] * TRIES + [(0, 900)], True),
    ],
    ids=[
        "one page in vain",
        "pages in vain",
        "renderings that failed",
        "a few more characters",
        "a small share more",
        "much more",
        "one gain, then pages in vain",
        "a late gain on a page without text",
    ],
)
def test_host_where_rendering_never_helped_is_given_up(
    pages: list[tuple[int, int]], may_help: bool
) -> None:
    gain = RenderGain()
    for before, after in pages:
        gain.record(HOST, before, after)
    assert gain.may_help(HOST) is may_help
    assert gain.may_help("b.example")


def test_only_the_hosts_that_were_asked_last_are_known() -> None:
    gain = RenderGain(max_hosts=2)
    for host in (HOST, "b.example", "c.example"):
        for _ in range(TRIES):
            gain.record(host, 10, 10)
    assert [gain.may_help(host) for host in (HOST, "b.example", "c.example")] == [
        True,
        False,
        False,
    ]

import pytest

from kindly.errors import AddressRefused, PageUnreachable
from kindly.fetch.chain.redirects import Redirects, redirect_target, refresh_target
from kindly.fetch.chain.types import HopReply, PageRequest
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.urls import join, parse
from tests.support.fetch_fakes import FakeTime, ScriptedHop, reply

URL = parse("https://example.com/")


@pytest.mark.anyio
async def test_failure_of_a_later_hop_names_the_requested_url_in_a_copy() -> None:
    time = FakeTime()
    broken = PageUnreachable("b.example broke the connection.", url="https://b.example/")
    hop = ScriptedHop([reply(302, location="https://b.example/"), broken])
    follow = Redirects(hop, Guard(GuardPolicy()), 5, time.clock)

    with pytest.raises(PageUnreachable) as caught:
        await follow(PageRequest(URL, time.deadline()))

    assert (caught.value.url, caught.value.detail) == ("https://example.com/", broken.detail)
    assert broken.url == "https://b.example/"


def test_created_with_a_location_is_no_redirect() -> None:
    assert redirect_target(reply(201, location="http://127.0.0.1/")) is None


def test_two_different_locations_are_refused() -> None:
    twice = HopReply(URL, 302, (("location", "/a"), ("location", "http://127.0.0.1/")))

    with pytest.raises(AddressRefused):
        redirect_target(twice)


def test_same_location_twice_is_followed() -> None:
    twice = HopReply(URL, 302, (("location", "/a"), ("location", "/a")))

    assert redirect_target(twice) == parse("https://example.com/a")


def refresh_of(body: str, status: int = 200) -> str | None:
    target = refresh_target(reply(status, body=body.encode()))
    return None if target is None else str(target)


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ('<meta http-equiv="refresh" content="0;url=/new">', "/new"),
        ("<META HTTP-EQUIV=Refresh CONTENT='5; URL=/new'>", "/new"),
        ("<meta content=\"0, url='/a?b=1&amp;c=2'\" http-equiv=refresh>", "/a?b=1&c=2"),
        (
            '<meta http-equiv="refresh" content="0;url=https://other.example/">',
            "https://other.example/",
        ),
        ('<meta http-equiv="refresh" content="30">', None),
        ('<meta http-equiv="refresh" content="300;url=/new">', None),
        ('<meta name="refresh" content="0;url=/new">', None),
        ('<meta http-equiv="refresh" content="0;url=/new">' + "word " * 100, None),
        ("<p>Nothing</p>", None),
    ],
)
def test_page_with_only_a_meta_refresh_is_followed(markup: str, target: str | None) -> None:
    at = refresh_of(markup)
    assert at == (str(join(parse("https://example.com/"), target)) if target else None)


def test_meta_refresh_of_an_error_page_is_ignored() -> None:
    assert refresh_of('<meta http-equiv="refresh" content="0;url=/new">', 404) is None


def test_meta_refresh_to_another_scheme_is_refused() -> None:
    with pytest.raises(AddressRefused):
        refresh_of('<meta http-equiv="refresh" content="0;url=file:///etc/passwd">')

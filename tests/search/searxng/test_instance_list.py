"""The list of public instances: which are used, and in what order."""

import json

import pytest

from kindly.errors import ProviderAnswerInvalid
from kindly.search.searxng.instance_list import (
    GRADES,
    MAX_INSTANCES,
    UNKNOWN_RESPONSE_MS,
    Grade,
    Instance,
    base_url_of,
    grade_of,
    instance_from,
    parse_instances,
)
from tests.support.paths import DATA

SAMPLE = DATA / "searx_space" / "instances.json"
"""In the format that searx.space publishes."""

GOOD: dict[str, object] = {
    "network_type": "normal",
    "generator": "searxng",
    "version": "2026.8.14+094c33d40",
    "http": {"status_code": 200, "error": None, "grade": "A"},
    "tls": {"grade": "A"},
    "timing": {"search": {"success_percentage": 100.0, "all": {"median": 0.5}}},
    "uptime": {"uptimeWeek": 99.0},
    "analytics": False,
}


def test_the_published_list_gives_good_instances_best_first() -> None:
    assert parse_instances(SAMPLE.read_bytes()) == (
        Instance("https://steady.example.org", "A+", 100.0, 1250),
        Instance("https://quick.example.org", "A+", 99.94, 641),
        Instance("https://www.path.example.org/searxng", "A", 0.0, 300),
        Instance("https://plain.example.org", "B", 96.0, UNKNOWN_RESPONSE_MS),
    )


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"network_type": "tor"}, id="another network"),
        pytest.param({"network_type": None}, id="no network"),
        pytest.param({"generator": "searx"}, id="another program"),
        pytest.param({"error": "Timeout error"}, id="an error"),
        pytest.param({"http": {"status_code": 200, "error": "x", "grade": "A"}}, id="HTTP error"),
        pytest.param({"http": {"status_code": 403, "grade": "A"}}, id="forbidden"),
        pytest.param({"version": None}, id="no version"),
        pytest.param({"analytics": True}, id="tracks its visitors"),
        pytest.param({"http": {"grade": "C"}}, id="poor headers"),
        pytest.param({"tls": {"grade": "F"}}, id="poor TLS"),
        pytest.param({"http": {}, "tls": {"grade": "?"}}, id="no grade known"),
        pytest.param({"uptime": {"uptimeWeek": 60.0}}, id="often down"),
        pytest.param({"timing": {"search": {"success_percentage": 0.0}}}, id="search fails"),
    ],
)
def test_an_unusable_instance_is_left_out(change: dict[str, object]) -> None:
    assert instance_from("https://one.example.org/", GOOD) is not None
    assert instance_from("https://one.example.org/", {**GOOD, **change}) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://one.example.org/", "https://one.example.org"),
        ("https://One.Example.ORG", "https://one.example.org"),
        ("https://one.example.org:443/", "https://one.example.org"),
        ("https://one.example.org:8443/searx/", "https://one.example.org:8443/searx"),
        ("http://one.example.org/", None),
        ("https://abcdef.onion/", None),
        ("https://abcdef.i2p/", None),
        ("https://127.0.0.1/", None),
        ("https://[::1]/", None),
        ("https://localhost/", None),
        ("https://router/", None),
        ("https://printer.local/", None),
        ("https://db.internal/", None),
        ("https://user:secret@one.example.org/", None),
        ("https://one.example.org/?q=x", None),
        ("not a url", None),
        (None, None),
    ],
)
def test_only_public_https_names_are_addresses(url: object, expected: str | None) -> None:
    assert base_url_of(url) == expected


@pytest.mark.parametrize(
    ("http", "tls", "expected"),
    [
        ("A+", "A+", "A+"),
        ("A+", "A", "A"),
        ("A-", "A+", "A"),
        ("A", "B, A", "B"),
        ("B-", None, "B"),
        (None, "A+", "A+"),
        ("A+", "?", "A+"),
        ("", "", None),
        ("C+", "A+", None),
        (7, ["A"], None),
    ],
)
def test_the_worse_grade_counts(http: object, tls: object, expected: Grade | None) -> None:
    assert grade_of({"http": {"grade": http}, "tls": {"grade": tls}}) == expected


@pytest.mark.parametrize(
    ("timing", "expected_ms"),
    [
        ({"search": {"all": {"median": 0.5, "mean": 0.7}}}, 500),
        ({"search": {"all": {"value": 0.25}}}, 250),
        ({"search": {}, "initial": {"all": {"value": 2}}}, 2000),
        ({"search": {"all": {"median": 1e9}}}, UNKNOWN_RESPONSE_MS),
        ({"search": {"all": {"median": -1, "mean": True}}}, UNKNOWN_RESPONSE_MS),
        ({"search": {"all": {"median": 10**400}}}, UNKNOWN_RESPONSE_MS),
        ([], UNKNOWN_RESPONSE_MS),
    ],
)
def test_the_response_time_is_the_first_that_is_known(timing: object, expected_ms: int) -> None:
    instance = instance_from("https://one.example.org/", {**GOOD, "timing": timing})

    assert instance == Instance("https://one.example.org", "A", 99.0, expected_ms)


@pytest.mark.parametrize("grade", ["A+", "A", "B"])
def test_the_better_grade_comes_first_whatever_the_speed(grade: str) -> None:
    fast = {"timing": {"search": {"all": {"median": 0.01}}}}
    entries: dict[str, object] = {
        "https://fast.example.org/": {**GOOD, **fast, "http": {"grade": "B-"}},
        "https://best.example.org/": {**GOOD, "http": {"grade": "A+"}, "tls": {"grade": "A+"}},
        "https://good.example.org/": GOOD,
    }

    found = parse_instances(json.dumps({"instances": entries}).encode())

    assert [instance.grade for instance in found] == ["A+", "A", "B"]
    assert found[["A+", "A", "B"].index(grade)].tier == ["A+", "A", "B"].index(grade)


def test_two_spellings_of_one_address_are_one_instance() -> None:
    entries = {"https://one.example.org/": GOOD, "https://ONE.example.org": GOOD}

    assert len(parse_instances(json.dumps({"instances": entries}).encode())) == 1


def test_a_list_of_any_length_gives_a_bounded_number() -> None:
    entries = {f"https://s{number}.example.org/": GOOD for number in range(MAX_INSTANCES + 50)}

    assert len(parse_instances(json.dumps({"instances": entries}).encode())) == MAX_INSTANCES


def test_entries_in_another_format_are_skipped() -> None:
    entries: dict[str, object] = {
        "https://one.example.org/": GOOD,
        "https://two.example.org/": "a string",
        "https://three.example.org/": None,
        "https://four.example.org/": [],
        "https://five.example.org/": {**GOOD, "http": "A+", "tls": 1},
    }

    found = parse_instances(json.dumps({"instances": entries}).encode())

    assert [instance.url for instance in found] == ["https://one.example.org"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html>", id="a page"),
        pytest.param(b"\xff\xfe\x00", id="not text"),
        pytest.param(b"[" * 100_000, id="nested too deep"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"instances": []}', id="no mapping"),
        pytest.param(b'{"instances": {}}', id="empty"),
        pytest.param(b'{"instances": {"https://x.example/": {}}}', id="none that is good"),
    ],
)
def test_anything_but_the_list_is_refused(body: bytes) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        parse_instances(body)


def test_every_grade_has_a_tier() -> None:
    assert [Instance("https://x.example", grade).tier for grade in GRADES] == [0, 1, 2]

import pytest

from kindly.extract.visibility.selectors import specificity, usable

KNOWN = frozenset({"p", "div", ".a", ".b", "#c", ".md:b"})


@pytest.mark.parametrize(
    ("selectors", "found"),
    [
        (".a", [(".a", ".a", True)]),
        (" div.a > p ", [("div.a > p", "p", False)]),
        (".a, .z, #c", [(".a", ".a", True), ("#c", "#c", True)]),
        (".md\\:b", [(".md\\:b", ".md:b", True)]),
        ("p.b:not(.z)", [("p.b:not(.z)", ".b", False)]),
        ("[data-x='.z'] p", [("[data-x='.z'] p", "p", False)]),
        (".a *", [(".a *", "", False)]),
        ("h1", []),
        (".a .z", []),
        (".z p", []),
        (".a > h1", []),
        (".a:hover", []),
        ("p::before", []),
        ("50%", []),
    ],
    ids=str,
)  # fmt: skip
def test_only_selectors_of_known_names_are_used(
    selectors: str, found: list[tuple[str, str, bool]]
) -> None:
    assert [(s.text, s.key, s.single) for s in usable([(selectors, "")], KNOWN)] == found


def test_long_selector_that_matches_nothing_is_passed_over_at_once() -> None:
    assert list(usable([("." + "a" * 5_000 + "!", ""), ("a-" * 5_000 + "(", "")], KNOWN)) == []


def test_selector_knows_the_number_of_its_rule() -> None:
    assert [s.rule for s in usable([(".z", ""), (".a", ""), ("p,.b", "")], KNOWN)] == [1, 2, 2]


def test_ids_count_more_than_classes_and_those_more_than_tags() -> None:
    assert specificity("#c") > specificity(".a.b p") > specificity("div p") > specificity("p")

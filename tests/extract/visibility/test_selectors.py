import pytest

from kindly.extract.visibility.selectors import applicable_selectors, specificity

KNOWN = frozenset({"p", "div", ".a", ".b", "#c", ".md:b", "pÉ"})


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
        ("DIV", [("DIV", "div", False)]),
        ("pÉ", [("pÉ", "pÉ", True)]),
        (".a pÉ", []),
        ("div.a>.b", [("div.a>.b", ".b", False)]),
        ("", [("", "", False)]),
    ],
    ids=str,
)  # fmt: skip
def test_only_selectors_with_known_names_apply(
    selectors: str, found: list[tuple[str, str, bool]]
) -> None:
    assert [
        (s.text, s.key, s.single) for s in applicable_selectors([(selectors, "")], KNOWN, KNOWN)
    ] == found


def test_long_selector_without_a_match_is_skipped_fast() -> None:
    assert (
        applicable_selectors(
            [("." + "a" * 5_000 + "!", ""), ("a-" * 5_000 + "(", "")], KNOWN, KNOWN
        )
        == []
    )


def test_selector_has_the_index_of_its_rule() -> None:
    assert [
        s.rule for s in applicable_selectors([(".z", ""), (".a", ""), ("p,.b", "")], KNOWN, KNOWN)
    ] == [1, 2, 2]


def test_ids_count_more_than_classes_and_those_more_than_tags() -> None:
    assert specificity("#c") > specificity(".a.b p") > specificity("div p") > specificity("p")

import pytest
from turbohtml import parse

from kindly.extract.visibility.stylesheets import MAX_CONDITIONS, MAX_SHEET_CHARACTERS, rules_of


def rules(css: str) -> list[tuple[str, str]]:
    found = rules_of(parse(f"<style>{css}</style>"))
    return [(selectors.strip(), body.strip()) for selectors, body in found]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        (".a{COLOR:Red}", [(".a", "COLOR:Red")]),
        ("/* x{y} */.a{b:c}", [(".a", "b:c")]),
        ("@import 'x'; .a{b:c}", [(".a", "b:c")]),
        (".a{content:'}'; b:c}", [(".a", "; b:c")]),
        ("@media print{.a{b:c}}", []),
        ("@media screen{.a{b:c}}", [(".a", "b:c")]),
        ("@media (max-width:600px){.a{b:c}}", []),
        ("@media (min-width:40em){.a{b:c}}", [(".a", "b:c")]),
        ("@media not print{.a{b:c}}", [(".a", "b:c")]),
        ("@media print, screen{.a{b:c}}", [(".a", "b:c")]),
        ("@supports (display:grid){.a{b:c}}", [(".a", "b:c")]),
        ("@supports not (display:grid){.a{b:c}}", []),
        ("@layer x{.a{b:c}}", [(".a", "b:c")]),
        ("@keyframes x{from{b:c}}", []),
        ("@media screen{@media print{.a{b:c}}.d{e:f}}", [(".d", "e:f")]),
        (".a{b:c", []),
    ],
    ids=str,
)
def test_rules_that_apply_on_a_desktop_screen(css: str, expected: list[tuple[str, str]]) -> None:
    assert rules(css) == expected


def test_deep_conditions_are_not_followed() -> None:
    depth = MAX_CONDITIONS + 1
    assert rules("@media screen{" * depth + ".a{b:c}" + "}" * depth) == []


def test_huge_stylesheet_has_no_rules() -> None:
    assert rules(".a{b:c}" + " " * MAX_SHEET_CHARACTERS) == []

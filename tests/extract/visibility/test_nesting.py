import pytest

from kindly.extract.visibility.nesting import MAX_COMBINATIONS, nested_selectors, split_selectors


@pytest.mark.parametrize(
    ("parents", "head", "expected"),
    [
        ((".a",), "& .x", (".a .x",)),
        ((".a",), ".x", (".a .x",)),
        ((".a",), "> .x", (".a > .x",)),
        ((".a",), "&.x", (".a.x",)),
        ((".x",), ".a &", (".a .x",)),
        (("p",), ".x&", (".x:is(p)",)),
        ((".a, .b",), "& .x, & .y", (".a .x", ".a .y", ".b .x", ".b .y")),
        ((".a",), "&:not(.x, .y)", (".a:not(.x, .y)",)),
    ],
    ids=str,
)  # fmt: skip
def test_nested_selectors_are_those_of_the_browser(
    parents: tuple[str, ...], head: str, expected: tuple[str, ...]
) -> None:
    assert nested_selectors(parents, head) == expected


def test_too_many_combinations_are_not_expanded() -> None:
    assert nested_selectors((",".join(f".a{n}" for n in range(MAX_COMBINATIONS)),), ".x, .y") == ()


def test_commas_in_arguments_do_not_separate() -> None:
    assert split_selectors(":is(.a, .b) p, [x='a,b'], i") == [":is(.a, .b) p", "[x='a,b']", "i"]

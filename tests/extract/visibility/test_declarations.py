import pytest

from kindly.extract.visibility.declarations import Variables, normalise


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("display:none", "display:none"),
        ("display:/* a */none", "display: none"),
        ("display:none/* never closed", "display:none "),
        ("display:n\\6fne", "display:none"),
        ("display:n\\6f ne", "display:none"),
        ("display:\\none", "display:none"),
        ("color:\\0 x\\d800 y\\110000 z", "color:\ufffdx\ufffdy\ufffdz"),
        ("font-size:calc(0px)", "font-size:0px"),
        ("width:calc(1px + 2px)", "width:calc(1px + 2px)"),
        ("opacity:1e-3", "opacity:0.0010"),
        ("color:#1e-3", "color:#1e-3"),
        ("block-size:0;inset-inline-start:-9px", "height:0;left:-9px"),
        ("margin-inline-start:-9px", "margin-left:-9px"),
        ("display:none;display:nonsense", "display:none"),
        ("display:none;display:block", "display:none;display:block"),
        ("visibility:hidden;visibility:0", "visibility:hidden"),
        ("opacity:0;opacity:shown", "opacity:0"),
        ("display:nonsense", "display:nonsense"),
    ],
)
def test_declarations_are_normalised(written: str, expected: str) -> None:
    assert normalise(written, Variables([])) == expected


@pytest.mark.parametrize(
    ("written", "own", "expected"),
    [
        ("display:var(--d)", False, "display:none"),
        ("display:var( --d )", False, "display:none"),
        ("display:var(--nope,none)", False, "display:none"),
        ("display:var(--nope)", False, "display:var(--nope)"),
        ("display:var(--far)", False, "display:none"),
        ("color:var(--c)", False, "color:var(--c)"),
        ("color:var(--c)", True, "color:#fff"),
        ("--c:#000;color:var(--c)", True, "--c:#000;color:#000"),
        ("--a:var(--b);--b:var(--a);color:var(--a)", True, "--a:var(--b);--b:var(--a);color:var(--b)"),
    ],
)  # fmt: skip
def test_variables_that_are_the_whole_value_are_expanded(
    written: str, own: bool, expected: str
) -> None:
    known = Variables(["--d:none; --far:var(--d)", "--c:#fff"])
    assert (
        normalise(written, known, own=own).partition(";color")[2] == expected.partition(";color")[2]
    )
    if "--a" not in written:
        assert normalise(written, known, own=own) == expected


def test_expansion_of_growing_variables_is_bounded() -> None:
    grown = normalise("--a:" + "var(--a) " * 40 + ";color:var(--a)", Variables([]), own=True)
    assert len(grown) < 2_000_000


def test_only_variables_with_one_value_are_known() -> None:
    bodies = ["--d: none; --c:#fff", "--c:#000", "color:red", "--d:none"]
    assert Variables(bodies).values == {"--d": "none"}

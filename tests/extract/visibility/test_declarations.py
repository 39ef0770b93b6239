"""Declarations in other words mean the same."""

import pytest

from kindly.extract.visibility.declarations import Variables, plain


@pytest.mark.parametrize(
    ("written", "meant"),
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
def test_other_spelling_is_put_plainly(written: str, meant: str) -> None:
    assert plain(written, Variables([])) == meant


@pytest.mark.parametrize(
    ("written", "own", "meant"),
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
def test_variables_are_put_in_where_they_decide_alone(written: str, own: bool, meant: str) -> None:
    known = Variables(["--d:none; --far:var(--d)", "--c:#fff"])
    assert plain(written, known, own=own).partition(";color")[2] == meant.partition(";color")[2]
    if "--a" not in written:
        assert plain(written, known, own=own) == meant


def test_variable_that_grows_is_left_alone_in_time() -> None:
    grown = plain("--a:" + "var(--a) " * 40 + ";color:var(--a)", Variables([]), own=True)
    assert len(grown) < 2_000_000


def test_only_variables_of_one_value_are_known() -> None:
    bodies = ["--d: none; --c:#fff", "--c:#000", "color:red", "--d:none"]
    assert Variables(bodies).values == {"--d": "none"}

import pytest

from kindly.extract.visibility.layout.off_screen import four, is_off_screen, moves


@pytest.mark.parametrize(
    "style",
    [
        {"position": "fixed", "top": "100vh"},
        {"position": "fixed", "left": "calc(100% + 1px)"},
        {"position": "fixed", "inset": "100vh auto auto 0"},
        {"position": "fixed", "left": "0", "transform": "translatex(-100%)"},
        {"position": "absolute", "left": "100vw"},
        {"position": "absolute", "top": "300vh"},
        {"position": "absolute", "bottom": "120vh"},
        {"translate": "0 -120vh"},
        {"margin-left": "100vw"},
        {"text-indent": "100%", "overflow": "hidden"},
    ],
    ids=str,
)
def test_boxes_off_the_screen(style: dict[str, str]) -> None:
    assert is_off_screen(style)


@pytest.mark.parametrize(
    "style",
    [
        {"position": "fixed", "top": "calc(100vh - 60px)"},
        {"position": "fixed", "left": "50%", "transform": "translate(-50%,-50%)"},
        {"position": "absolute", "left": "100%"},
        {"position": "absolute", "top": "100vh"},
        {"position": "relative", "left": "10vw"},
        {"margin-left": "calc(50% - 50vw)"},
        {"text-indent": "100%"},
        {"transform": "translatex(-100%)"},
    ],
    ids=str,
)
def test_boxes_on_the_screen(style: dict[str, str]) -> None:
    assert not is_off_screen(style)


def test_shorthands_have_four_sides() -> None:
    assert four("1px") == ["1px"] * 4
    assert four("1px 2px 3px") == ["1px", "2px", "3px", "2px"]
    assert four("calc(1px + 2px) 0") == ["calc(1px + 2px)", "0", "calc(1px + 2px)", "0"]
    assert four("") == []


def test_translations_of_all_functions() -> None:
    style = {
        "transform": "translate(1px, 2px) translatey(3px) matrix(1,0,0,1,4,5)",
        "translate": "6px",
    }
    assert moves(style) == [("1px", "2px"), ("0", "3px"), ("4", "5"), ("6px", "0")]

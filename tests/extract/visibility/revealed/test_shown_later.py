from turbohtml import parse

from kindly.extract.visibility.revealed.shown_later import shown_later

WORDS = "<p>Bees see ultraviolet light and tell the others by a dance.</p>" * 20
HIDDEN = {"display": "none"}


def later(markup: str) -> bool:
    document = parse(f"<body>{markup}", positions=False)
    box = document.select("#x")[0]
    return box in shown_later(document, {box: HIDDEN})


def test_nearly_all_of_the_main_element_is_shown_by_a_script() -> None:
    assert later(f"<p>Menu</p><main><p>Wait</p><div id=x>{WORDS}</div></main>")
    assert later(f"{WORDS}{WORDS}<div id=x><main>{WORDS}</main></div>")


def test_a_part_of_it_is_not() -> None:
    assert not later(f"<main>{WORDS}<div id=x>{WORDS}</div></main>")
    assert not later("<main><p>Wait</p><div id=x>A short text that stays hidden.</div></main>")
    assert not later(f"<main>{WORDS}</main><div id=x>{WORDS}</div>")


def test_a_box_off_the_screen_stays_hidden() -> None:
    document = parse("<button aria-controls=x>Why?</button><div id=x>Answer</div>", positions=False)
    box = document.select("#x")[0]
    away = {"position": "absolute", "top": "-9999px", "opacity": "0"}
    assert shown_later(document, {box: away}) == set()
    assert shown_later(document, {box: HIDDEN}) == {box}
    assert shown_later(document, {}) == set()

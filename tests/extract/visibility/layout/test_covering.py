from tests.support.html_pages import read

KEPT = "<p>This sentence of the page can be seen by everyone who opens it.</p>"
COVER = "position:absolute;inset:0;background:#fff"
LINK = "<link rel=stylesheet href=site.css>"


def sees(markup: str, head: str = "") -> bool:
    return "SECRET" in read(f"{head}<main>{KEPT}{markup}{KEPT}</main>").text


def test_text_under_a_box_that_fills_its_containing_block_is_removed() -> None:
    assert not sees(f"<div style='position:relative'><p>SECRET</p><b style='{COVER}'></b></div>")


def test_text_is_kept_where_an_external_stylesheet_may_place_it() -> None:
    markup = f"<div style='position:relative'><p class=x>SECRET</p><b style='{COVER}'></b></div>"
    assert not sees(markup)
    assert sees(markup, LINK)


def test_box_over_most_of_the_page_is_a_splash_screen() -> None:
    prose = "<p>SECRET words of a page that a script uncovers.</p>" * 40
    assert sees(f"<div style='position:relative'>{prose}<b style='{COVER}'></b></div>")


def test_box_that_fills_the_page_covers_nothing() -> None:
    assert sees(f"<p>SECRET</p><b style='{COVER}'></b>")


def test_text_behind_the_background_of_an_ancestor_is_removed_unless_that_is_a_level_of_its_own() -> (
    None
):
    text = "<p style='position:relative;z-index:-1'>SECRET</p>"
    assert not sees(f"<div style='background:#eee'><div>{text}</div></div>")
    assert sees(f"<div style='background:#eee;isolation:isolate'>{text}</div>")
    assert sees(f"<div class=card style='background:#eee'>{text}</div>", LINK)


def test_many_boxes_are_examined_in_bounded_time() -> None:
    boxes = f"<div style='position:relative'><i>a</i><b style='{COVER}'>b</b></div>" * 3_000
    prose = "Bees see ultraviolet light and tell the others by a dance. " * 20
    assert sees(f"<main>{boxes}<p>SECRET {prose}</p></main>")

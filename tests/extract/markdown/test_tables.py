import pytest

from tests.support.html_pages import read, rendered

WORDS = " ".join(["word"] * 300)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<tr><th>a<th>b<th>c</tr><tr><td rowspan=2>x<td colspan=2>y</tr><tr><td>1<td>2</tr>",
            "| a | b | c |\n| --- | --- | --- |\n| x | y | y |\n| x | 1 | 2 |",
        ),
        (
            "<tr><th>a<th>b<th>c</tr><tr><td>1<td rowspan=2>m<td>2</tr><tr><td>3<td>4</tr>",
            "| a | b | c |\n| --- | --- | --- |\n| 1 | m | 2 |\n| 3 | m | 4 |",
        ),
        (
            "<tr><th>a<th></th><th>b</tr><tr><td>1<td><td>2</tr><tr><td><td><td></tr>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<caption>Cap</caption><tr><th>a<th>b</tr><tr><td>1<td>2</tr>", "Cap\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<tr><th colspan=2><h3>Title</h3></tr><tr><td><h4>k</h4><td>v</tr><tr><td>l<td>w</tr>",
            "### Title\n\n| k | v |\n| --- | --- |\n| l | w |",
        ),
        ("<tr><td><p>alone</p></td></tr><tr><td>below</td></tr>", "alone\n\nbelow"),
        ("<tr><td>left</td><td><table><tr><td>in</table></td></tr>", "left\n\nin"),
        ("<tr><td>code</td><td><pre>x\ny</pre></td></tr>", "code\n\n```\nx\ny\n```"),
        (f"<tr><td>{WORDS}</td><td>{WORDS}</td></tr>", f"{WORDS}\n\n{WORDS}"),
        ("<tr><th>Only</th></tr><tr><td>one</td></tr>", "| Only |\n| --- |\n| one |"),
        ("<tr><td rowspan=x>a<td colspan=0>b</tr><tr><td>c<td>d</tr>", "| a | b |\n| --- | --- |\n| c | d |"),
    ],
    ids=[
        "plain", "spans", "span in the middle", "empty column", "caption", "heading over all", "one column", "nested",
        "code", "prose", "one column with a head", "odd spans",
    ],
)  # fmt: skip
def test_data_table_is_a_compact_grid_and_layout_table_is_unwrapped(rows: str, text: str) -> None:
    assert rendered(f"<table>{rows}</table>") == text


def test_presentation_table_is_unwrapped() -> None:
    row = "<tr><td>a</td><td>b</td></tr>"
    assert rendered(f"<table role=presentation>{row}</table>") == "a\n\nb"


def test_huge_spans_do_not_grow_the_table() -> None:
    rows = "<tr>" + "<td rowspan=1000 colspan=1000>y</td>" * 30 + "</tr>"
    assert len(rendered(f"<table>{rows * 50}</table>")) < 20_000


def test_nested_layout_table_is_unwrapped() -> None:
    layout = "<table><tr><td><table><tr><td>one</td><td>two</td></tr></table></td></tr></table>"
    assert read(f"<main>{layout}</main>").text == "| one | two |\n| --- | --- |"


def test_table_in_the_title_of_a_table_is_part_of_the_title() -> None:
    title = "<tr><td colspan=2><table><tr><td><td>Points<td>edit</table></tr>"
    rows = f"{title}<tr><th>a<th>b</tr><tr><td>1<td>2</tr>"
    assert rendered(f"<table>{rows}</table>").endswith("| a | b |\n| --- | --- |\n| 1 | 2 |")


def test_rows_of_different_length_are_a_table() -> None:
    rows = "<tr><th>a<th>b</tr><tr><td>1</tr><tr><td>2<td>3<td>4</tr>"
    assert (
        rendered(f"<table>{rows}</table>")
        == "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 2 | 3 | 4 |"
    )


def test_sort_keys_are_not_text() -> None:
    rows = "<tr><th>a<th>b</tr><tr><td><span class=sortkey>Voss, Carl</span>Carl Voss<td>1</tr>"
    assert "| Carl Voss | 1 |" in rendered(f"<table>{rows}</table>")


def test_copy_of_a_merged_cell_has_no_link_and_no_mark() -> None:
    merged = "<td rowspan=2><a href='/x'>Yes</a><sup><a href='#n'>1</a></sup>"
    rows = f"<tr><th>a<th>b</tr><tr><td>1{merged}</tr><tr><td>2</tr>"
    assert rendered(f"<table>{rows}</table>").endswith(
        "| 1 | [Yes](https://site.example/x)[1] |\n| 2 | Yes |"
    )


def test_posts_in_a_table_are_a_layout() -> None:
    rows = "".join(f"<tr><td>Ann {n}</td><td>{n} {WORDS}</td></tr>" for n in range(3))
    assert "|" not in rendered(f"<table>{rows}</table>")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><td><h2>One</h2></td></tr><tr><td>text</td></tr>", "## One\n\ntext"),
        (
            "<tr><td><h4>One</h4><p>a b c d e f</p></td><td><h4>Two</h4><ul><li>g h i j k</li></ul></td></tr>" * 3,
            "#### One\n\na b c d e f\n\n#### Two\n\n- g h i j k\n\n" * 3,
        ),
        ("<tr><td><h2>One</h2></td></tr><tr><td>a</td><td>b</td></tr>", "## One\n\na\n\nb"),
    ],
    ids=["one column", "sections side by side", "heading above columns"],
)  # fmt: skip
def test_headings_in_a_layout_table_stay_headings(rows: str, text: str) -> None:
    assert rendered(f"<table>{rows}</table>") == text.strip()


def test_headings_as_column_names_are_a_header() -> None:
    rows = "<tr><td><h4>Name</h4><td><h4>Age</h4></tr><tr><td>Ann<td>3</tr><tr><td>Bo<td>4</tr>"
    table = "| Name | Age |\n| --- | --- |\n| Ann | 3 |\n| Bo | 4 |"
    assert rendered(f"<table>{rows}</table>") == table

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindly.errors import InputError
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats import data
from kindly.models import Document
from tests.support.html_pages import page

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def read(body: str | bytes, media_type: str) -> Document:
    return extract(page(body, media_type=media_type), ExtractOptions())


@pytest.mark.parametrize(
    ("text", "pretty"),
    [
        ('{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'),
        ("[NaN,Infinity]", "[\n  NaN,\n  Infinity\n]"),
        ("[1e999, 0.10]", "[\n  1e999,\n  0.10\n]"),
        (f"[{'9' * 9000}]", f"[\n  {'9' * 9000}\n]"),
        ('{"a":{},"b":[]}', '{\n  "a": {},\n  "b": []\n}'),
        ('["caf\\u00e9 \\" {"]', '[\n  "café \\" {"\n]'),
        ('["\\ud800"]', '[\n  "\\ud800"\n]'),
        ('"only"', '"only"'),
        ("{broken", "{broken"),
    ],
    ids=["same key", "not numbers", "floats", "long number", "empty", "escapes", "half a sign", "string", "broken"],
)  # fmt: skip
def test_json_is_indented_and_otherwise_verbatim(text: str, pretty: str) -> None:
    assert data.json_text(text) == pretty


@given(JSON)
def test_indented_json_has_the_same_value(value: object) -> None:
    assert json.loads(data.json_text(json.dumps(value))) == value


@pytest.mark.parametrize("depth", [100, 500, 200_000])
def test_deep_json_keeps_its_text(depth: int) -> None:
    assert read("[" * depth + "]" * depth, "application/json").text.count("[") == depth


def test_json_that_would_become_too_long_is_not_indented() -> None:
    assert data.json_text("[1,2,3,4,5,6,7]", max_characters=20) == "[1,2,3,4,5,6,7]"


def test_long_json_lines_are_truncated_with_a_note() -> None:
    body = "".join(f'{{"n": {n}}}\n' for n in range(500))
    document = read(body, "application/x-ndjson")
    assert document.partial
    assert document.text.startswith('```json\n{"n": 0}\n{"n": 1}')
    assert document.text.endswith(
        "```\n\n— the file is truncated: 200 of its 500 objects were read —"
    )


def test_few_json_lines_are_complete() -> None:
    document = read('{"n": 1}\n\n{"n": 2}\n', "application/jsonl")
    assert (document.text, document.partial) == ('```json\n{"n": 1}\n{"n": 2}\n```', False)


def test_long_json_lines_are_detected_by_their_first_lines() -> None:
    assert data.is_json_lines('{"n": 1}\n' * 50_000)


@pytest.mark.parametrize(
    ("body", "table"),
    [
        ("a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ('a;b\n"x;y";2\n', "| a | b |\n| --- | --- |\n| x;y | 2 |"),
        ("a\tb\n1\t2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("a,b\n1\n\n2,3,4\n", "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 2 | 3 | 4 |"),
        ("a|b\n1|*2*\n", "| a | b |\n| --- | --- |\n| 1 | \\*2\\* |"),
    ],
    ids=["comma", "semicolon", "tab", "ragged", "pipe"],
)
def test_csv_becomes_a_table(body: str, table: str) -> None:
    assert read(body, "text/csv").text == table


@pytest.mark.parametrize("body", ["just words\nand more\n", "a,b\n" + "x" * 200_000 + ",1"])
def test_text_without_columns_is_not_a_table(body: str) -> None:
    assert read(body, "text/csv").text == body.strip("\n")


def test_long_and_wide_table_is_truncated_with_a_note() -> None:
    body = "\n".join(",".join("1" for _ in range(60)) for _ in range(1_500))
    document = read(body, "text/csv")
    assert document.partial
    assert "1,001 of about 1,500 rows were read, 50 of 60 columns were read" in document.text


@pytest.mark.parametrize("media_type", ["application/json", "text/csv", "application/x-ndjson"])
def test_selector_on_data_is_an_input_error(media_type: str) -> None:
    with pytest.raises(InputError):
        extract(page("[1,2]", media_type=media_type), ExtractOptions(selector="p"))

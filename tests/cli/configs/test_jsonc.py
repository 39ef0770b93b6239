"""JSON files: one entry is changed, everything else stays byte for byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindly.cli.configs import Malformed, merged
from kindly.cli.configs.jsonc import Json

PATH = ("mcpServers", "kindly")
FIELDS: dict[str, object] = {"command": "uvx", "args": ["kindly"], "env": {"KEY": "new"}}
JSONC = Json()
STRICT = Json(comments=False)

ENTRY = """    "kindly": {
      "command": "uvx",
      "args": ["kindly"],
      "env": {
        "KEY": "new"
      }
    }"""


def put(text: str) -> str:
    return merged(JSONC, text, PATH, FIELDS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f'{{\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}\n'),
        ("{}", f'{{\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}'),
        ("\ufeff{}", f'\ufeff{{\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}'),
        ("// mine\n", f'// mine\n{{\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}\n'),
        ("{\n  // mine\n}\n", f'{{\n  // mine\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}\n'),
        (
            '{\n  "a": 1 // one\n}\n',
            f'{{\n  "a": 1, // one\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}\n',
        ),
        (
            '{\n  "a": 1, /* one */\n  // end\n}\n',
            f'{{\n  "a": 1, /* one */\n  "mcpServers": {{\n{ENTRY}\n  }},\n  // end\n}}\n',
        ),
        (
            '{\n  "a": 1,\n  "b": 2 }',
            f'{{\n  "a": 1,\n  "b": 2,\n  "mcpServers": {{\n{ENTRY}\n  }}\n}}',
        ),
        (
            '{\n  "mcpServers": {},\n  "z": null\n}\n',
            f'{{\n  "mcpServers": {{\n{ENTRY}\n  }},\n  "z": null\n}}\n',
        ),
        (
            '{"a":[1,{"b":2}]}',
            '{"a":[1,{"b":2}], "mcpServers": {"kindly": {"command": "uvx", "args": ["kindly"], '
            '"env": {"KEY": "new"}}}}',
        ),
        (
            '{"mcpServers":{}}',
            '{"mcpServers":{"kindly": {"command": "uvx", "args": ["kindly"], '
            '"env": {"KEY": "new"}}}}',
        ),
        (
            '{"a": 1,}',
            '{"a": 1, "mcpServers": {"kindly": {"command": "uvx", "args": ["kindly"], '
            '"env": {"KEY": "new"}}}}',
        ),
    ],
    ids=[
        "empty file",
        "empty object",
        "byte order mark",
        "only a comment",
        "comment in the object",
        "comment behind the last value",
        "trailing comma",
        "brace on the last line",
        "empty section",
        "one line",
        "one line with section",
        "one line with trailing comma",
    ],
)
def test_a_new_entry_follows_the_layout_of_the_file(before: str, after: str) -> None:
    assert put(before) == after
    assert put(after) == after


def test_indentation_and_line_endings_are_those_of_the_file() -> None:
    before = '{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n\t\t"other": {}\r\n\t}\r\n}\r\n'
    after = put(before)
    assert '\r\n\t\t"kindly": {\r\n\t\t\t"command": "uvx",\r\n' in after
    assert after.count("\n") == after.count("\r\n")


def test_an_existing_entry_keeps_its_comments_and_other_fields() -> None:
    before = """{
  "mcpServers": {
    "kindly": {
      "disabled": true, // for now
      "command": "old", // was here
      "url": "http://old/", // gone
      "env": { "OTHER": "kept", "KEY": "old" }
    }
  }
}
"""
    after = merged(JSONC, before, PATH, FIELDS, ("url", "headers"))
    assert (
        after
        == """{
  "mcpServers": {
    "kindly": {
      "disabled": true, // for now
      "command": "uvx", // was here
      // gone
      "env": { "OTHER": "kept", "KEY": "new" },
      "args": ["kindly"]
    }
  }
}
"""
    )


@pytest.mark.parametrize(
    ("text", "path", "left"),
    [
        ('{"a": 1, "b": 2, "c": 3}', ("b",), '{"a": 1, "c": 3}'),
        ('{"a": 1, "b": 2}', ("b",), '{"a": 1 }'),
        ('{"a": 1}', ("a",), "{}"),
        ('{\n  "a": 1,\n  "b": 2\n}', ("b",), '{\n  "a": 1\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
        ('{"a": {"b": 1}}', ("a", "b"), '{"a": {}}'),
        ('{"a": 1}', ("x", "y"), '{"a": 1}'),
        ('{"a": 1}', (), '{"a": 1}'),
        ("", ("a",), ""),
    ],
    ids=["middle", "last", "only", "line", "first line", "deep", "absent", "no path", "empty"],
)
def test_a_member_is_removed_with_its_comma_and_its_line(
    text: str, path: tuple[str, ...], left: str
) -> None:
    assert JSONC.remove(text, path) == left


def test_the_last_of_two_members_with_one_name_counts() -> None:
    after = JSONC.put('{"a": 1, "a": 2}', ("a",), 3)
    assert after == '{"a": 1, "a": 3}'


@pytest.mark.parametrize(
    ("form", "text", "line"),
    [
        (JSONC, '{\n  "a": \n}', 3),
        (JSONC, '{\n  "a" 1\n}', 2),
        (JSONC, "{\n  a: 1\n}", 2),
        (JSONC, '{\n  "a": 1\n  "b": 2\n}', 3),
        (JSONC, '{"a": [1 2]}', 1),
        (JSONC, '{"a": 1}\n\nmore', 3),
        (JSONC, '{"a": "never ends', 1),
        (JSONC, "[1, 2]", 1),
        (JSONC, "{", 1),
        (JSONC, f"{'[' * 300}", 1),
        (JSONC, '{"a": ' + "9" * 5000 + "}", 1),
        (STRICT, "{\n  // no\n}", 2),
        (STRICT, '{\n  "a": 1,\n}', 2),
        (JSONC, '{\n  "mcpServers": []\n}', 1),
        (JSONC, '{"mcpServers": {"kindly": 5}}', 1),
    ],
    ids=[
        "value missing",
        "colon missing",
        "name without quotes",
        "comma missing",
        "comma missing in an array",
        "text behind",
        "open string",
        "array",
        "open object",
        "too deep",
        "too long a number",
        "comment where none may be",
        "trailing comma where none may be",
        "section is no object",
        "entry is no object",
    ],
)
def test_the_error_of_a_malformed_file_names_the_line(form: Json, text: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        merged(form, text, PATH, FIELDS)
    assert caught.value.line == line


def test_a_value_on_the_path_that_is_not_an_object_is_refused() -> None:
    with pytest.raises(Malformed):
        JSONC.put('{"a": 1}', ("a", "b"), 2)


def test_only_values_that_may_be_secret_are_hidden() -> None:
    text = """{
  "apiKey": "sk-1", "theme": "dark", // sk is not seen
  "mcpServers": {"x": {"args": ["a"], "env": {"URL": "u"}, "headers": {"X": ["y", 3]}}}
}"""
    assert (
        JSONC.masked(text)
        == """{
  "apiKey": "***", "theme": "dark", // sk is not seen
  "mcpServers": {"x": {"args": ["a"], "env": {"URL": "***"}, "headers": {"X": ["***", 3]}}}
}"""
    )
    assert JSONC.masked("") == ""


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), values, max_size=4),
    st.dictionaries(st.text(max_size=4), st.dictionaries(st.text(max_size=3), values), max_size=2),
    st.sampled_from([None, 0, 2, 4, "\t"]),
)
def test_everything_else_keeps_its_order(
    document: dict[str, Any], servers: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps({**document, "mcpServers": servers}, indent=indent)
    after = put(text)
    assert json.loads(after)["mcpServers"]["kindly"]["command"] == "uvx"
    if "kindly" not in servers:
        letters = iter("".join(after.split()))
        assert all(letter in letters for letter in "".join(text.split()))

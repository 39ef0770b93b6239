"""YAML files: one entry is changed, everything else stays byte for byte."""

import pytest
import yaml

from kindly.cli.configs import Malformed, merged
from kindly.cli.configs.yaml import Yaml

PATH = ("extensions", "kindly")
FIELDS: dict[str, object] = {
    "type": "stdio",
    "cmd": "uvx",
    "args": ["kindly", "--context", "agent: a"],
    "envs": {"SERPER_API_KEY": "new"},
    "enabled": True,
    "timeout": 300,
}
FORM = Yaml("extensions", "kindly")
BLOCK = """  kindly:
    type: "stdio"
    cmd: "uvx"
    args: ["kindly", "--context", "agent: a"]
    envs: {"SERPER_API_KEY": "new"}
    enabled: true
    timeout: 300
"""
OTHER = """  developer:  # mine
    bundled: true
    envs:
      TOKEN: secret
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"extensions:\n{BLOCK}"),
        ("GOOSE_MODEL: x\n", f"GOOSE_MODEL: x\nextensions:\n{BLOCK}"),
        ("extensions: {}\nA: 1\n", f"extensions:\n{BLOCK}A: 1\n"),
        (f"extensions:\n{OTHER}\n# end\nA: 1\n", f"extensions:\n{OTHER}{BLOCK}\n# end\nA: 1\n"),
        ("A: 1\r\nextensions:\r\n", f"A: 1\nextensions:\n{BLOCK}".replace("\n", "\r\n")),
        (
            "extensions:\n    memory:\n        enabled: true\n",
            "extensions:\n    memory:\n        enabled: true\n"
            + "".join(f"  {line}\n" for line in BLOCK.splitlines()),
        ),
    ],
    ids=["empty", "no section", "empty section", "after the others", "CRLF", "other indent"],
)
def test_a_new_entry_goes_to_the_end_of_the_section(before: str, after: str) -> None:
    assert merged(FORM, before, PATH, FIELDS) == after
    assert yaml.safe_load(after)["extensions"]["kindly"] == FIELDS


@pytest.mark.parametrize(
    "entry",
    [
        "  kindly:\n    cmd: old\n    args:\n    - a\n    - 'b c'\n    envs: {}\n    bundled: null\n",
        "  kindly:\n    cmd: 'it''s'\n    uri: http://x # here\n    envs:\n      OLD: \"1\"\n",
        '  kindly: {"cmd": "old"}\n',
    ],
    ids=["as Goose writes it", "quotes and comments", "one line"],
)
def test_an_entry_is_changed_and_keeps_what_it_has(entry: str) -> None:
    before = f"A: 1\nextensions:\n{entry}{OTHER}B: 2\n"
    after = merged(FORM, before, PATH, FIELDS, ["uri"])
    old, new = yaml.safe_load(before), yaml.safe_load(after)
    kept = {**old["extensions"]["kindly"], **FIELDS}
    kept["envs"] = {**(old["extensions"]["kindly"].get("envs") or {}), "SERPER_API_KEY": "new"}
    kept.pop("uri", None)
    assert new["extensions"].pop("kindly") == kept
    del old["extensions"]["kindly"]
    assert new == old
    assert merged(FORM, after, PATH, FIELDS, ["uri"]) == after
    assert OTHER in after


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A: 1\nextensions: {kindly: {cmd: x}}\n", 2),
        ("extensions:\n\tkindly: 1\n", 2),
        ("extensions:\n  kindly: 7\n", 2),
        ("extensions:\n  kindly:\n    args: [a, b]\n", 3),
        ("extensions:\n  kindly:\n    note: |\n      text\n", 3),
    ],
    ids=["flow style", "tab", "no table", "flow list without quotes", "block text"],
)
def test_a_file_that_cannot_be_changed_safely_is_refused(text: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        merged(FORM, text, PATH, FIELDS)
    assert caught.value.line == line


def test_values_that_may_be_secret_are_hidden_and_lines_stay() -> None:
    text = f"API_KEY: abc\nextensions:\n{OTHER}{BLOCK}headers:\n- one\nLAST: 1\n"
    shown = FORM.masked(text)
    assert len(shown.splitlines()) == len(text.splitlines())
    for secret in ("abc", "secret", "new", "one"):
        assert secret not in shown
    assert 'cmd: "uvx"' in shown
    assert "LAST: 1" in shown

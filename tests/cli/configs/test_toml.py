"""TOML files: one entry is changed, everything else stays byte for byte."""

import pytest

from kindly.cli.configs import Malformed, merged
from kindly.cli.configs.toml import Toml

PATH = ("mcp_servers", "kindly")
FIELDS: dict[str, object] = {"command": "uvx", "args": ["kindly", 1, True], "env": {"KEY": "new"}}
TOML = Toml()
BLOCK = """[mcp_servers.kindly]
command = "uvx"
args = ["kindly", 1, true]
env = { KEY = "new" }
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", BLOCK),
        ("# mine\n", f"# mine\n\n{BLOCK}"),
        ('model = "x"', f'model = "x"\n\n{BLOCK}'),
        ("[tui] # all\na = 1\n\n", f"[tui] # all\na = 1\n\n{BLOCK}"),
        ("a = 1\r\n", f"a = 1\n\n{BLOCK}".replace("\n", "\r\n")),
    ],
    ids=["empty", "comment", "no newline at the end", "blank line at the end", "CRLF"],
)
def test_a_new_entry_goes_to_the_end(before: str, after: str) -> None:
    assert merged(TOML, before, PATH, FIELDS) == after
    assert merged(TOML, after, PATH, FIELDS) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '[mcp_servers.kindly] # mine\ncommand = "old" # why\nargs = [ # two\n  "a",\n]\n'
            'note = """\n[not a head]\n"""\n\n[mcp_servers.kindly.env]\nOTHER = \'x\' # y\n\n[z]\nq = 1\n',
            '[mcp_servers.kindly] # mine\ncommand = "uvx" # why\nargs = ["kindly", 1, true]\n'
            'note = """\n[not a head]\n"""\n\n[mcp_servers.kindly.env]\nOTHER = \'x\' # y\nKEY = "new"\n\n[z]\nq = 1\n',
        ),
        (
            '[mcp_servers.kindly]\nenv = { A = "1" }\ncommand = "old"',
            '[mcp_servers.kindly]\nenv = { A = "1", KEY = "new" }\ncommand = "uvx"\nargs = ["kindly", 1, true]\n',
        ),
        (
            '[mcp_servers."kindly"]\r\nenv.A = "1"\r\n[z]\r\n',
            '[mcp_servers."kindly"]\r\nenv.A = "1"\r\nenv.KEY = "new"\r\ncommand = "uvx"\r\n'
            'args = ["kindly", 1, true]\r\n[z]\r\n',
        ),
        (
            "[mcp_servers]\nkindly = {}\n",
            '[mcp_servers]\nkindly = { command = "uvx", args = ["kindly", 1, true], env = { KEY = "new" } }\n',
        ),
        (
            'mcp_servers.kindly.command = "x"\n[z]\n',
            'mcp_servers.kindly.command = "uvx"\nmcp_servers.kindly.args = ["kindly", 1, true]\n[z]\n\n'
            '[mcp_servers.kindly.env]\nKEY = "new"\n',
        ),
        (
            "mcp_servers = { other = { a = { } } }\n",
            'mcp_servers = { other = { a = { } }, kindly = { command = "uvx", args = ["kindly", 1, true], '
            'env = { KEY = "new" } } }\n',
        ),
    ],
    ids=["tables", "inline env", "dotted env", "inline entry", "dotted entry", "inline section"],
)
def test_an_existing_entry_is_changed_in_place(before: str, after: str) -> None:
    assert merged(TOML, before, PATH, FIELDS) == after
    assert merged(TOML, after, PATH, FIELDS) == after


def test_a_name_without_any_table_is_put_before_the_first() -> None:
    assert TOML.put("a = 1\n", ("b", "c d"), 2) == 'a = 1\nb = { "c d" = 2 }\n'
    assert TOML.put("a = 1\n[t]\n", ("b",), "\x7f") == 'a = 1\nb = "\\u007f"\n\n[t]\n'


def test_a_removed_field_is_removed_with_its_line() -> None:
    before = (
        '[mcp_servers.kindly]\nurl = "x" # y\nhttp_headers.a = "1"\n'
        '[mcp_servers.kindly.headers]\nb = "2"\n[z]\nq = 1\n'
    )
    after = merged(TOML, before, PATH, {"command": "x"}, ("url", "headers", "http_headers"))
    assert after == '[mcp_servers.kindly]\ncommand = "x"\n[z]\nq = 1\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb =\n", 2),
        ("a = 'open", 1),
        ("a = 1\n[[mcp_servers]]\nx = 1\n", 1),
        ("mcp_servers = 3\n", 1),
    ],
    ids=["value missing", "open string", "array of tables", "section is no table"],
)
def test_a_file_that_cannot_be_changed_is_refused(text: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        merged(TOML, text, PATH, FIELDS)
    assert caught.value.line == line


def test_a_layout_that_would_lose_something_is_refused() -> None:
    """A table of the same name inside an array of tables cannot be distinguished from ours."""
    text = '[[jobs]]\nname = "a"\n[jobs.kindly]\nx = 1\n[[jobs]]\nname = "b"\n'
    with pytest.raises(Malformed):
        merged(TOML, text, ("jobs", "kindly"), FIELDS)


def test_only_values_that_may_be_secret_are_hidden() -> None:
    text = (
        'model = "m"\n[mcp_servers.x]\nargs = ["a"]\nenv = { A = "1", "B" = \'2\' }\n'
        '[mcp_servers.x.http_headers]\nA = """\nsecret\n"""\n'
        '[plain]\ninner = { api_key = "k", n = 1 }\nother = { n = "kept" }\n'
    )
    masked = TOML.masked(text)
    assert masked.count("\n") == text.count("\n")
    assert '"1"' not in masked
    assert "'2'" not in masked
    assert "secret" not in masked
    assert '"k"' not in masked
    assert 'model = "m"' in masked
    assert 'other = { n = "kept" }' in masked


LAYOUT = (
    "\ufeff# a file of mine\r\n\r\n  indented = 1   # odd\r\n'quoted key'.x=[1,\r\n  2, # two\r\n]\r\n"
    "[ mcp_servers . other ]\r\ncommand   =  'x'\r\n\r\n\r\n[[jobs]]\r\nat = 07:32:00\r\n[[jobs]]\r\n"
    '[z]\r\ntext = """\r\na\\\r\n  b"""\r\ndate = 1979-05-27 # d\r\n# the end'
)


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_everything_else_stays_byte_for_byte(newline: str) -> None:
    before = LAYOUT.replace("\r\n", newline)
    added = merged(TOML, before, PATH, FIELDS)
    assert added.startswith(before)
    changed = merged(TOML, added, PATH, {**FIELDS, "command": "other"})
    assert changed == added.replace('"uvx"', '"other"')
    assert TOML.remove(changed, (*PATH, "args")).startswith(before)


def test_a_file_with_mixed_line_endings_keeps_them() -> None:
    before = 'a = 1\r\nb = 2\n[mcp_servers.kindly]\r\ncommand = "old"\r\n'
    assert TOML.put(before, (*PATH, "command"), "new") == before.replace("old", "new")

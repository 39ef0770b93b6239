"""`setup`: puts Kindly into a client's configuration. Shows the change, asks, keeps what was there; no key is shown."""

import difflib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import distribution
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkstemp

import click

from kindly.cli.clients import CLIENTS, HTTP_TOKEN, Client, ClientHost, ConfigPlace, client_named
from kindly.cli.configs import Malformed, merged
from kindly.cli.configs.common import at, is_table
from kindly.cli.start_command import (
    DISTRIBUTION,
    UVX_ENVIRON,
    Install,
    installed_extras,
    is_uvx,
    launcher,
)
from kindly.errors import InputError
from kindly.redact import Redactor
from kindly.settings import ENV_BY_FIELD, NEEDS, TOKEN_NAMES, Settings

PLACEHOLDER = "your-key"
PRIVATE = 0o600
"""The mode of a new file: it may hold keys."""
OTHERS = 0o044
CONTEXT_LINES = 2


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller asked for."""

    keys: tuple[str, ...] = ()
    """Variables whose values the client is to pass on."""
    from_env: bool = False
    http: str | None = None
    """The address of a running server, instead of a command."""
    command: str | None = None
    """In front of `start-mcp-server`."""
    file: Path | None = None
    yes: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after."""

    path: Path
    before: str | None
    """None if there is no such file."""
    after: str


def overview(settings: Settings) -> int:
    """Print every client with its file, and whether it is set up."""
    machine = this_machine(settings.child_environ)
    for client in CLIENTS:
        path = located(client, machine)
        click.echo(f"{client.name:<15} {_state(client, path):<10} {path}")
    return 0


def show(settings: Settings, name: str, wishes: Wishes) -> int:
    """Print what would be put into the client's file, and nothing else."""
    client = client_named(name)
    values = dict.fromkeys(_known(wishes.keys), PLACEHOLDER)
    fields, _ = _entry(client, wishes, values, settings.child_environ)
    click.echo(client.form.put("", client.path, fields), nl=False)
    path = wishes.file or located(client, this_machine(settings.child_environ))
    click.echo(f"This goes into {path}.", err=True)
    return 0


def set_up(settings: Settings, name: str, wishes: Wishes) -> int:
    """Put Kindly into the client's file; 0 if it stands there then, 1 if the user did not want it.

    Raises:
        InputError: a wish cannot be granted, or the file cannot be read or written.
    """
    client = client_named(name)
    path = wishes.file or located(client, this_machine(settings.child_environ))
    values = _values(wishes, settings.child_environ)
    change = _planned(client, path, wishes, values, settings.child_environ)
    if change.before == change.after:
        click.echo(f"{client.label} is set up already: nothing to change in {path}.")
        return 0
    _announce(client, change, values)
    if not wishes.yes and not _agreed():
        click.echo("Nothing was written.")
        return 1
    backup = _written(change)
    click.echo(f"Written to {path}." + (f" What was there is in {backup}." if backup else ""))
    _advise(client, change, wishes, keyed=bool(values))
    return 0


def this_machine(environ: Mapping[str, str]) -> ClientHost:
    """The machine that this runs on."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return ClientHost(sys.platform, Path(home) if home else Path.home(), environ)


def located(client: Client, machine: ClientHost) -> Path:
    """The client's file: one that is there, else in a folder that is there, else where it usually is."""
    places = client.places(machine)
    files = [folder / client.file for place in places for folder in _folders(place)]
    usual = [place.folder / client.file for place in places if place.folder]
    return next((file for file in files if file.exists()), (files or usual[-1:])[0])


def _folders(place: ConfigPlace) -> list[Path]:
    """Those that are there."""
    if place.folder is not None:
        return [place.folder] if place.folder.is_dir() else []
    return sorted(place.root.glob(place.pattern))


def installed() -> Install:
    """How this program was installed."""
    origin = distribution(DISTRIBUTION).read_text("direct_url.json")
    return Install(
        origin, sys.executable, installed_extras(lambda name: find_spec(name) is not None)
    )


def _state(client: Client, path: Path) -> str:
    try:
        text = _read(path)
        tree = client.form.load(text or "")
    except (InputError, Malformed):
        return "unreadable"
    if at(tree, client.path) is not None:
        return "set up"
    return "no file" if text is None else "not set up"


def _known(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The names, if each is a setting.

    Raises:
        InputError: one is not.
    """
    known = {*NEEDS, *TOKEN_NAMES, *(env.name for env in ENV_BY_FIELD.values())}
    for name in keys:
        if name not in known:
            near = difflib.get_close_matches(name.upper(), sorted(known), n=1)
            hint = f" Did you mean {near[0]}?" if near else " See docs/settings.md."
            raise InputError(f"{name} is not a setting.{hint}", field="key")
    return keys


def _values(wishes: Wishes, environ: Mapping[str, str]) -> dict[str, str]:
    """The values of the keys: from the environment, or asked for without showing them."""
    values: dict[str, str] = {}
    for name in _known(wishes.keys):
        if not wishes.from_env:
            values[name] = click.prompt(name, hide_input=True, err=True).strip()
        elif not (value := environ.get(name, "")):
            raise InputError(f"{name} is not set in the environment.", field="key")
        else:
            values[name] = value
    return values


def _entry(
    client: Client, wishes: Wishes, values: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[dict[str, object], tuple[str, ...]]:
    """The fields of the entry, and those that it must not have."""
    if wishes.http is None:
        command = _command(client, wishes, environ)
        more = UVX_ENVIRON if is_uvx(command) else {}
        return client.command(command, {**more, **values})
    if not wishes.http.startswith(("http://", "https://")):
        raise InputError("--http takes an address such as http://127.0.0.1:8000/mcp.", field="http")
    if client.url is None:
        raise InputError(
            f"{client.label} cannot name a running server in its file: add it under Settings, Connectors, "
            "or leave out --http.",
            field="http",
        )
    if extra := sorted(set(values) - {HTTP_TOKEN}):
        raise InputError(
            f"{', '.join(extra)} must be set where the server runs; with --http only {HTTP_TOKEN} is passed on.",
            field="key",
        )
    return client.address(wishes.http, values.get(HTTP_TOKEN))


def _command(client: Client, wishes: Wishes, environ: Mapping[str, str]) -> tuple[str, ...]:
    if wishes.command is not None:
        words = tuple(shlex.split(wishes.command, posix=os.name != "nt"))
        if not words:
            raise InputError("--command is empty.", field="command")
    else:
        uvx = shutil.which("uvx", path=environ.get("PATH"))
        words = launcher(installed(), uvx if client.windowed or uvx is None else "uvx")
    return *words, "start-mcp-server", "--context", client.context


def _planned(
    client: Client,
    path: Path,
    wishes: Wishes,
    values: Mapping[str, str],
    environ: Mapping[str, str],
) -> Change:
    fields, dropped = _entry(client, wishes, values, environ)
    before = _read(path)
    try:
        after = merged(client.form, before or "", client.path, fields, dropped)
    except Malformed as error:
        raise InputError(
            f"{path}, line {error.line}: {error.what}. The file was left as it is. Mend it and try again, or put in by "
            f"hand what `kindly setup {client.name} --print` shows.",
            field="file",
        ) from None
    return Change(path, before, after)


def _read(path: Path) -> str | None:
    """The text; None if there is no file.

    Raises:
        InputError: it cannot be read as text.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", field="file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; it was left as it is.", field="file") from None


def _announce(client: Client, change: Change, values: Mapping[str, str]) -> None:
    """Show the change, with everything hidden that may be a key."""
    if not change.path.parent.exists():
        click.echo(f"{client.label} seems not to be installed: there is no {change.path.parent}.")
    redactor = Redactor.of(values.values())
    before, after = (client.form.masked(text) for text in (change.before or "", change.after))
    name = str(change.path)
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), name, name, lineterm="", n=CONTEXT_LINES
    )
    for line in lines:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.secho(redactor.text(line.removesuffix("\r")), fg=colour)
    for key in values:
        click.echo(f"{key}: set (hidden)")


def _agreed() -> bool:
    try:
        return click.confirm("Write this?")
    except click.Abort:
        click.echo()
        return False


def _written(change: Change) -> Path | None:
    """Write the file in one step and keep the old one beside it; where that is.

    Raises:
        InputError: it cannot be written, or was changed while the user was asked.
    """
    real = change.path.resolve()
    try:
        if _read(change.path) != change.before:
            raise InputError(
                f"{change.path} was changed by another program in the meantime: run this again.",
                field="file",
            )
        if change.before is None:
            real.parent.mkdir(parents=True, exist_ok=True)
            _replace(real, change.after, PRIVATE)
            return None
        mode = real.stat().st_mode & 0o777
        backup = _kept(real, change.before, mode)
        _replace(real, change.after, mode)
    except OSError as error:
        raise InputError(
            f"{change.path} cannot be written: {error.strerror}.", field="file"
        ) from None
    return backup


def _kept(path: Path, text: str, mode: int) -> Path:
    """A copy under the next free number."""
    for number in count(1):
        backup = path.with_name(f"{path.name}.bak{number}")
        with suppress(FileExistsError):
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as out:
                out.write(text.encode())
            return backup
    raise AssertionError("unreachable")


def _replace(path: Path, text: str, mode: int) -> None:
    """The file with this text, whole or not at all."""
    descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _advise(client: Client, change: Change, wishes: Wishes, *, keyed: bool) -> None:
    """What is to be done now, and what is missing."""
    click.echo(client.after)
    if keyed and os.name != "nt" and change.path.stat().st_mode & OTHERS:
        click.echo(f"Others on this machine can read {change.path}: chmod 600 keeps the key yours.")
    tree = client.form.load(change.after)
    environ = at(tree, (*client.path, "env"))
    if wishes.http is None and not (is_table(environ) and environ.keys() & NEEDS.keys()):
        click.echo(
            "web_search needs a provider, all else works: run this again with --key SERPER_API_KEY, or see "
            "docs/providers.md."
        )
    if at(tree, (*client.path, "bearer_token_env_var")) is not None:
        click.echo(f"{client.label} reads the token from {HTTP_TOKEN}: set it where it is started.")

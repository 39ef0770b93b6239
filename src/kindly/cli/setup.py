"""`setup`: adds Kindly to the configuration of a client. Shows the change without keys, asks, and keeps a backup."""

import difflib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
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
    BROWSER,
    DISTRIBUTION,
    UVX_ENVIRON,
    Install,
    installed_extras,
    installs_browser,
    is_uvx,
    launcher,
)
from kindly.errors import InputError, SettingsError
from kindly.fetch.browser.advice import WITH_PIP
from kindly.fetch.browser.executables import find
from kindly.fetch.browser.executables import this_machine as browser_host
from kindly.frozen import frozen
from kindly.redact import Redactor
from kindly.settings import ENV_BY_FIELD, NEEDS, TOKEN_NAMES, Settings

PLACEHOLDER = "your-key"
PRIVATE = 0o600
"""The mode of a new file: it may contain keys."""
READABLE_BY_OTHERS = 0o044
CONTEXT_LINES = 2


@frozen
class SetupOptions:
    """The options of `kindly setup`."""

    keys: tuple[str, ...] = ()
    """Variables to write into the entry."""
    from_env: bool = False
    http: str | None = None
    """The address of a running server, instead of a command."""
    command: str | None = None
    """The command before `start-mcp-server`."""
    browser: bool = False
    """Install a browser driver too."""
    file: Path | None = None
    yes: bool = False


@frozen
class Change:
    """The text of a file before and after."""

    path: Path
    before: str | None
    """None if the file does not exist."""
    after: str


def overview(settings: Settings) -> int:
    """Print every client, its state and its file."""
    machine = this_machine(settings.child_environ)
    for client in CLIENTS:
        path = located(client, machine)
        click.echo(f"{client.name:<15} {_state(client, path):<10} {path}")
    return 0


def show(settings: Settings, name: str, options: SetupOptions) -> int:
    """Print the entry for the client; write nothing."""
    client = client_named(name)
    values = dict.fromkeys(_known(options.keys), PLACEHOLDER)
    fields, _ = _entry(client, options, values, settings.child_environ)
    click.echo(client.form.put("", client.path, fields), nl=False)
    path = options.file or located(client, this_machine(settings.child_environ))
    click.echo(f"This entry goes into {path}.", err=True)
    return 0


def set_up(settings: Settings, name: str, options: SetupOptions) -> int:
    """Add Kindly to the client's file; 0 if it is there then, 1 if the user declined.

    Raises:
        InputError: an option is invalid, or the file cannot be read or written.
    """
    client = client_named(name)
    path = options.file or located(client, this_machine(settings.child_environ))
    values = _values(options, settings.child_environ)
    change = _plan(client, path, options, values, settings.child_environ)
    if change.before == change.after:
        click.echo(f"{client.label} is set up already; nothing to change in {path}.")
        if options.browser:
            _print_browser_steps(client, options, settings.child_environ)
        return 0
    _print_change(client, change, values)
    if not options.yes and not _confirmed():
        click.echo("Nothing was written.")
        return 1
    backup = _write(change)
    click.echo(f"{path} is written." + (f" The previous version is {backup}." if backup else ""))
    _print_next_steps(client, change, options, settings.child_environ, keyed=bool(values))
    return 0


def this_machine(environ: Mapping[str, str]) -> ClientHost:
    """The platform, home folder and environment of the current user."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return ClientHost(sys.platform, Path(home) if home else Path.home(), environ)


def located(client: Client, machine: ClientHost) -> Path:
    """The client's file: an existing one, else in an existing folder, else in the default folder."""
    places = client.places(machine)
    files = [folder / client.file for place in places for folder in _folders(place)]
    usual = [place.folder / client.file for place in places if place.folder]
    return next((file for file in files if file.exists()), (files or usual[-1:])[0])


def _folders(place: ConfigPlace) -> list[Path]:
    """The folders that exist."""
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
    """The names, each checked to be a setting.

    Raises:
        InputError: one is not a setting.
    """
    known = {*NEEDS, *TOKEN_NAMES, *(env.name for env in ENV_BY_FIELD.values())}
    for name in keys:
        if name not in known:
            near = difflib.get_close_matches(name.upper(), sorted(known), n=1)
            hint = f" Did you mean {near[0]}?" if near else " See docs/settings.md."
            raise InputError(f"{name} is not a setting.{hint}", field="key")
    return keys


def _values(options: SetupOptions, environ: Mapping[str, str]) -> dict[str, str]:
    """The values of the keys: from the environment, or from a prompt that does not show them."""
    values: dict[str, str] = {}
    for name in _known(options.keys):
        if not options.from_env:
            values[name] = click.prompt(name, hide_input=True, err=True).strip()
        elif not (value := environ.get(name, "").strip()):
            raise InputError(f"{name} is not set in the environment.", field="key")
        else:
            values[name] = value
    return values


def _entry(
    client: Client, options: SetupOptions, values: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[dict[str, object], tuple[str, ...]]:
    """The fields of the entry, and those that it must not have."""
    if options.browser and (options.http or options.command):
        raise InputError(
            "--browser changes the command that installs Kindly: leave out --http and --command.",
            field="browser",
        )
    if options.http is None:
        command = _command(client, options, environ)
        more = UVX_ENVIRON if is_uvx(command) else {}
        return client.command(command, {**more, **values})
    if not options.http.startswith(("http://", "https://")):
        raise InputError("--http takes an address such as http://127.0.0.1:8000/mcp.", field="http")
    if client.url is None:
        raise InputError(
            f"{client.label} cannot name a running server in its file: add it in its settings, or leave out "
            "--http.",
            field="http",
        )
    if extra := sorted(set(values) - {HTTP_TOKEN}):
        raise InputError(
            f"{', '.join(extra)} must be set where the server runs; with --http only {HTTP_TOKEN} is passed on.",
            field="key",
        )
    return client.address(options.http, values.get(HTTP_TOKEN))


def _command(client: Client, options: SetupOptions, environ: Mapping[str, str]) -> tuple[str, ...]:
    if options.command is not None:
        words = tuple(shlex.split(options.command, posix=os.name != "nt"))
        if not words:
            raise InputError("--command is empty.", field="command")
    else:
        uvx = shutil.which("uvx", path=environ.get("PATH"))
        install = installed().with_browser() if options.browser else installed()
        words = launcher(install, uvx if client.is_desktop or uvx is None else "uvx")
    return *words, "start-mcp-server", "--context", client.context


def _plan(
    client: Client,
    path: Path,
    options: SetupOptions,
    values: Mapping[str, str],
    environ: Mapping[str, str],
) -> Change:
    fields, dropped = _entry(client, options, values, environ)
    before = _read(path)
    try:
        after = merged(client.form, before or "", client.path, fields, dropped)
    except Malformed as error:
        raise InputError(
            f"{path}, line {error.line}: {error.what}. The file is unchanged. Fix it and try again, or add by hand the "
            f"entry that `kindly setup {client.name} --print` prints.",
            field="file",
        ) from None
    return Change(path, before, after)


def _read(path: Path) -> str | None:
    """The text of a file; None if it does not exist.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", field="file") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not UTF-8 text. The file is unchanged.", field="file"
        ) from None


def _print_change(client: Client, change: Change, values: Mapping[str, str]) -> None:
    """Print the change; values that may be keys are hidden."""
    folder = change.path.parent.parent if client.own_folder else change.path.parent
    if not folder.exists():
        click.echo(f"{client.label} seems not to be installed: {folder} does not exist.")
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


def _confirmed() -> bool:
    try:
        return click.confirm("Write this change?")
    except click.Abort:
        click.echo()
        return False


def _write(change: Change) -> Path | None:
    """Write the file atomically, after a backup of the old one; the path of the backup.

    Raises:
        InputError: it cannot be written, or another program changed it in the meantime.
    """
    real = change.path.resolve()
    try:
        if _read(change.path) != change.before:
            raise InputError(
                f"{change.path} was changed by another program in the meantime. Run the command again.",
                field="file",
            )
        if change.before is None:
            real.parent.mkdir(parents=True, exist_ok=True)
            _replace(real, change.after, PRIVATE)
            return None
        mode = real.stat().st_mode & 0o777
        backup = _backup(real, change.before, mode)
        _replace(real, change.after, mode)
    except OSError as error:
        raise InputError(
            f"{change.path} cannot be written: {error.strerror}.", field="file"
        ) from None
    return backup


def _backup(path: Path, text: str, mode: int) -> Path:
    """A copy of the file with the next free number."""
    for number in count(1):
        backup = path.with_name(f"{path.name}.bak{number}")
        with suppress(FileExistsError):
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as out:
                out.write(text.encode())
            return backup
    raise AssertionError("unreachable")


def _replace(path: Path, text: str, mode: int) -> None:
    """Write the file atomically: a temporary file, then a rename."""
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


def _print_next_steps(
    client: Client,
    change: Change,
    options: SetupOptions,
    environ: Mapping[str, str],
    *,
    keyed: bool,
) -> None:
    """Print the next step and what is missing."""
    click.echo(client.after)
    if keyed and os.name != "nt" and change.path.stat().st_mode & READABLE_BY_OTHERS:
        click.echo(
            f"Other users of this machine can read {change.path}. To keep the key private, run chmod 600 on it."
        )
    tree = client.form.load(change.after)
    variables = at(tree, (*client.path, client.names.environ))
    if options.http is None and not (is_table(variables) and variables.keys() & NEEDS.keys()):
        click.echo(
            "web_search needs a provider; the other tools work. Run this again with --key SERPER_API_KEY, or see "
            "docs/providers.md."
        )
    _print_browser_steps(client, options, environ)
    if at(tree, (*client.path, "bearer_token_env_var")) is not None:
        click.echo(f"{client.label} reads the token from the environment variable {HTTP_TOKEN}.")


def _print_browser_steps(client: Client, options: SetupOptions, environ: Mapping[str, str]) -> None:
    """Print how to get what is missing for pages that need a browser."""
    if options.http is not None or options.command is not None:
        return
    command = _command(client, options, environ)
    has_driver = installs_browser(command) if is_uvx(command) else BROWSER in installed().extras
    if not has_driver and options.browser:
        click.echo(f"To install the browser driver, run: {sys.executable} -m {WITH_PIP}")
    elif not has_driver:
        click.echo("Pages drawn by JavaScript need a browser: run this again with --browser.")
    else:
        _print_missing_browser(environ)


def _print_missing_browser(environ: Mapping[str, str]) -> None:
    try:
        find(browser_host(environ))
    except SettingsError as error:
        click.echo(error.detail)

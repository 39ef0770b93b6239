"""The command line: argv → settings → a verb or the server. The only package that prints or exits."""

from kindly.cli.commands import main

__all__ = ["main"]

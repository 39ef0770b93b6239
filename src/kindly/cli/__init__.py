"""The command line: argv → settings → a verb or the server. The only package that prints or exits."""

import gc

# What imports create lives as long as the program: looking for garbage in it is a tenth of the time of a start.
gc.disable()
try:
    from kindly.cli.commands import main
finally:
    gc.freeze()
    gc.enable()

__all__ = ["main"]

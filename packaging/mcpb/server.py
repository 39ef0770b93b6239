"""What the bundle starts: the installed program, with the arguments of its manifest."""

from kindly.cli import main

main()

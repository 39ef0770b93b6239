"""`python -m kindly`: the same program as the console script."""

from kindly.cli import main

if __name__ == "__main__":
    main()

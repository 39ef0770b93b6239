"""Benches; all that run Kindly in their own process do so as its command line does."""

from kindly.settings import limit_numeric_threads

limit_numeric_threads()

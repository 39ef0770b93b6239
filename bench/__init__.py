"""Benches; all that run Kindly in their own process do so as its command line does."""

from kindly.settings import spare_threads

spare_threads()

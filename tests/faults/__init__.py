"""Faults around the server, and what it promises despite them."""

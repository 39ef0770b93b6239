"""A server that lies, and what becomes of each lie."""

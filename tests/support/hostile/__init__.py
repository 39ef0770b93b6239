"""A hostile server, and the expected outcome of each of its responses."""

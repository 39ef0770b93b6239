"""Document + question → passages: chunks, vectors, a library of what was read, and the ranking over it."""

"""What stored pages prove: whether they say a quote, and what changed between two of their versions."""

"""Question + chunks → passages, best first: BM25 and vector candidates, learned re-ranking."""

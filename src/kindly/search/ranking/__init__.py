"""Hits → ordered hits: fusion, quality, relevance, deduplication."""

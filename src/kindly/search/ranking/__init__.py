"""Hits → hits in order: fusion, quality, relevance, deduplication."""

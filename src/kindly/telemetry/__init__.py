"""Observing the program itself: call statistics, trace spans, rate-limited warnings. Never queries or page text."""

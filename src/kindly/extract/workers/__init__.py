"""Killable worker processes for extraction: pool, process, protocol."""

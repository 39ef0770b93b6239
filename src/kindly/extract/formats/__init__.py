"""Bytes → text, one module per file format."""

"""Readers of file formats: bytes → text, one module per format."""

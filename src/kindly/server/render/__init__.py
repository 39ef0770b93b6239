"""Typed answers → text for the model and structured data, within a token budget, fenced."""

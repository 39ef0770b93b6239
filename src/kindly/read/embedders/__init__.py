"""The embedders: text → vectors."""

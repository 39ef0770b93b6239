"""Kindly: search the web, fetch a page, and read only the part that answers a question."""

__all__ = ["SERVER_NAME", "__version__"]

__version__ = "0.1.0"

SERVER_NAME = "kindly-web-search-mcp-server"

"""Name and version of the package: the one place where they are written."""

SERVER_NAME = "kindly-web-search-mcp-server"
__version__ = "0.2.0"

"""The MCP server. The only package that imports the protocol's types."""

"""The client's side: MCP and nothing else. The only package that knows the protocol's types."""

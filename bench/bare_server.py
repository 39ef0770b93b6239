"""A two-tool server written bare on the same SDK: what Kindly's cold start is compared with."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("bare")


@server.tool()
def web_search(query: str, num_results: int = 3) -> dict[str, str]:
    """Search the web."""
    return {"query": query, "num_results": str(num_results)}


@server.tool()
def get_content(url: str) -> dict[str, str]:
    """Read a page."""
    return {"url": url}


if __name__ == "__main__":
    server.run()

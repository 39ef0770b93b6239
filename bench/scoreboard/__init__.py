"""Evidence for tokens: Kindly beside other MCP servers that fetch pages; `python -m bench.scoreboard`."""

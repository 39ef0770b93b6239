"""Streamable HTTP: the ASGI app, access control, OAuth, request limits."""

"""What goes wrong around the server, and what it promises all the same."""

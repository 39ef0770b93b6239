"""Record network answers to a file, and replay them."""

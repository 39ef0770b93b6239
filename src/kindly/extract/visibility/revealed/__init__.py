"""Text that is hidden when a page arrives, and that a visitor gets to see."""

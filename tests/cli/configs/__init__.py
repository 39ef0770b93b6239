"""Configuration files of other programs, edited as text."""

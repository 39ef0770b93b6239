"""Text hidden by its place: off the screen, behind something, cropped."""

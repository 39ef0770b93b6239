"""Hidden text detection: a CSS cascade without layout, and the rules for text that a person cannot see."""

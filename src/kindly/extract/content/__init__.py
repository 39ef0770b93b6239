"""Which blocks of a page are its main content: features, classifier, choice."""

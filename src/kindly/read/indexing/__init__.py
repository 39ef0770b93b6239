"""Pages → rows of the library after the answer: a queue, the process that splits and embeds, and its protocol."""

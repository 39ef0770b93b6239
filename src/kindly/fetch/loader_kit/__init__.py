"""What loaders are built from: the protocol, their client, HTML, Markdown and JSON helpers."""

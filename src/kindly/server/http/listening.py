"""The socket of the HTTP transport. Imports no web framework, so that `doctor` can try the port."""

import socket

from kindly.errors import SettingsError
from kindly.settings import Settings


def listen(settings: Settings) -> socket.socket:
    """A listening socket at the configured address.

    Raises:
        SettingsError: the address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise SettingsError(
            f"The server cannot listen on KINDLY_HOST {settings.host}, KINDLY_PORT {settings.port}: "
            f"{error.strerror or error}. Choose another port."
        ) from None
    # Without this every answer waits 40 ms for the client's delayed acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening

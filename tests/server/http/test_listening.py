import socket

import pytest

from kindly.errors import SettingsError
from kindly.server.http.listening import listen
from kindly.settings import Settings


def settings(host: str, port: int) -> Settings:
    return Settings.load({"KINDLY_HOST": host, "KINDLY_PORT": str(port)})


def test_a_socket_listens_at_the_address_and_answers_without_delay() -> None:
    with listen(settings("127.0.0.1", 0)) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with socket.create_connection(listening.getsockname(), timeout=60):
            pass


def test_a_port_that_is_taken_is_an_error_that_names_the_settings() -> None:
    with listen(settings("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(SettingsError, match=f"KINDLY_HOST 127.0.0.1, KINDLY_PORT {port}"):
            listen(settings("127.0.0.1", port))

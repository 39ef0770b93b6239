"""The TLS context that both HTTP clients share: the system's certificate authorities, and those of SSL_CERT_FILE.

Loading certificates takes tens of milliseconds, so it happens once, in a thread, at the first connection.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from kindly.errors import SettingsError

if TYPE_CHECKING:
    import ssl


class Tls:
    """A TLS context that is built at its first use."""

    def __init__(self, ca_file: Path | None = None) -> None:
        self._ca_file = ca_file
        self._context: ssl.SSLContext | None = None
        self._building = anyio.Lock()

    async def context(self) -> "ssl.SSLContext":
        """The context, the same one each time.

        Raises:
            SettingsError: The file of SSL_CERT_FILE cannot be used.
        """
        async with self._building:
            if self._context is None:
                self._context = await anyio.to_thread.run_sync(_build, self._ca_file)
            return self._context


def _build(ca_file: Path | None) -> "ssl.SSLContext":
    import httpx2

    context = httpx2.create_ssl_context(trust_env=False)
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except OSError as error:
            raise SettingsError(
                f"SSL_CERT_FILE {ca_file} cannot be used ({type(error).__name__}): "
                "it must be a readable PEM file."
            ) from error
    return context


def certificate_error(error: BaseException | None) -> "ssl.SSLCertVerificationError | None":
    """The refused certificate among the causes of an error, if that is why it was raised."""
    import ssl

    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error

"""The shared TLS context, the user's certificate file, and refused certificates among the causes of an error."""

import ssl
from pathlib import Path

import anyio
import pytest

from kindly.errors import SettingsError
from kindly.net.tls import Tls, certificate_error

pytestmark = pytest.mark.anyio


async def test_the_context_is_built_once() -> None:
    tls, contexts = Tls(), []

    async def ask() -> None:
        contexts.append(await tls.context())

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
    assert len(set(map(id, contexts))) == 1


@pytest.mark.parametrize("content", [None, "no certificate"], ids=["missing", "not a certificate"])
async def test_the_error_names_a_certificate_file_that_cannot_be_used(
    tmp_path: Path, content: str | None
) -> None:
    ca_file = tmp_path / "ca.pem"
    if content is not None:
        ca_file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        await Tls(ca_file).context()
    assert str(ca_file) in caught.value.detail
    assert "SSL_CERT_FILE" in caught.value.detail


async def test_a_refused_certificate_is_found_among_the_causes() -> None:
    refused = ssl.SSLCertVerificationError("certificate has expired")
    outer = OSError("connection failed")
    outer.__cause__ = ValueError("handshake")
    outer.__cause__.__context__ = refused
    assert certificate_error(outer) is refused
    assert certificate_error(OSError("reset")) is None
    assert certificate_error(None) is None

"""One TLS context for all, made once; a certificate file that is no use is named."""

from pathlib import Path

import anyio
import pytest

from kindly.errors import SettingsError
from kindly.net.tls import Tls

pytestmark = pytest.mark.anyio


async def test_everybody_gets_the_same_context() -> None:
    tls, seen = Tls(), []

    async def ask() -> None:
        seen.append(await tls.context())

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
    assert len(set(map(id, seen))) == 1


@pytest.mark.parametrize("content", [None, "no certificate"], ids=["missing", "not a certificate"])
async def test_a_useless_certificate_file_is_named(tmp_path: Path, content: str | None) -> None:
    ca_file = tmp_path / "ca.pem"
    if content is not None:
        ca_file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        await Tls(ca_file).context()
    assert str(ca_file) in caught.value.detail
    assert "SSL_CERT_FILE" in caught.value.detail

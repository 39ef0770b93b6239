import ssl
import sys
from pathlib import Path

import pytest

from kindly.fetch.browser.authorities import DATABASE, AuthoritiesError, trust
from tests.support.certificates import Authority, new_authority
from tests.support.chromium import missing

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

needs_linux = pytest.mark.skipif(
    bool(missing()) or sys.platform != "linux", reason="authorities are handed to Chromium on Linux"
)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return new_authority("Corporate authority")


@pytest.mark.parametrize(
    "text",
    [None, "nothing", "-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----"],
    ids=["missing", "no certificate", "broken"],
)
def test_unreadable_authorities_are_reported(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "ca.pem"
    if text is not None:
        path.write_text(text)
    with pytest.raises(AuthoritiesError, match="SSL_CERT_FILE"):
        trust(tmp_path, path)


def test_without_the_nss_library_the_system_authorities_apply(
    tmp_path: Path, authority: Authority
) -> None:
    ca_file = authority.write(tmp_path / "ca.pem")
    assert not trust(tmp_path, ca_file, "libnone.so")
    assert list(tmp_path.iterdir()) == [ca_file]


@needs_linux
def test_block_that_is_not_a_certificate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text(ssl.DER_cert_to_PEM_cert(b"no certificate"))
    with pytest.raises(AuthoritiesError, match="not a certificate"):
        trust(tmp_path, path)


@needs_linux
def test_database_that_cannot_be_written_is_reported(tmp_path: Path, authority: Authority) -> None:
    ca_file = authority.write(tmp_path / "ca.pem")
    database = tmp_path / DATABASE
    database.mkdir(parents=True)
    (database / "cert9.db").mkdir()
    with pytest.raises(AuthoritiesError, match="could not be written"):
        trust(tmp_path, ca_file)

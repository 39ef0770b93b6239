"""Extra certificate authorities for Chromium: a PEM file in, an NSS database out.

Chromium on Linux reads such a database from its home folder. It is written in the worker process with NSS, the library
that Chromium uses, so that the browser still verifies names, dates and signatures. On other systems, and without that
library, the browser trusts the system's own list.
"""

import ctypes
import re
import ssl
from pathlib import Path
from typing import Any

DATABASE = ".pki/nssdb"
"""Below the home folder; every version of Chromium prefers it to newer places."""
LIBRARY = "libnss3.so"
CERTIFICATE = re.compile(
    r"-----BEGIN (?:TRUSTED )?CERTIFICATE-----.+?-----END (?:TRUSTED )?CERTIFICATE-----", re.DOTALL
)
MAX_CERTIFICATES = 500
FOR_SERVERS = 0x08 | 0x10
"""NSS's CERTDB_VALID_CA and CERTDB_TRUSTED_CA."""


class AuthoritiesError(Exception):
    """The authorities could not be installed for the browser; the text says why."""


class _Item(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("data", ctypes.c_char_p), ("len", ctypes.c_uint))


class _Trust(ctypes.Structure):
    _fields_ = (("ssl", ctypes.c_uint), ("email", ctypes.c_uint), ("signing", ctypes.c_uint))


def trust(home: Path, pem: Path, library: str = LIBRARY) -> bool:
    """Make a browser whose home folder is `home` trust the certificates of `pem`; False if NSS is missing.

    Raises:
        AuthoritiesError: the file has no certificates, or the database cannot be written.
    """
    certificates = _certificates(pem)
    try:
        nss = ctypes.CDLL(library)
    except OSError:
        return False
    folder = home / DATABASE
    folder.mkdir(parents=True, exist_ok=True)
    _declare(nss)
    if nss.NSS_InitReadWrite(f"sql:{folder}".encode()):
        raise AuthoritiesError("The browser's certificate database could not be written.")
    try:
        _write(nss, certificates)
    finally:
        nss.NSS_Shutdown()
    return True


def _certificates(pem: Path) -> list[bytes]:
    try:
        text = pem.read_text("ascii", "replace")
        found = [
            ssl.PEM_cert_to_DER_cert(block.replace("TRUSTED ", ""))
            for block in CERTIFICATE.findall(text)
        ]
    except (OSError, ValueError) as error:
        raise AuthoritiesError("SSL_CERT_FILE must be a readable PEM file.") from error
    if not found:
        raise AuthoritiesError("SSL_CERT_FILE has no certificates.")
    return found[:MAX_CERTIFICATES]


def _declare(nss: Any) -> None:
    """Declare pointer types: by default ctypes takes them for 32-bit integers."""
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    nss.PK11_GetInternalKeySlot.restype = pointer
    nss.CERT_GetDefaultCertDB.restype = pointer
    nss.CERT_NewTempCertificate.restype = pointer
    nss.CERT_NewTempCertificate.argtypes = (pointer, ctypes.POINTER(_Item), text, number, number)
    nss.PK11_InitPin.argtypes = (pointer, text, text)
    nss.PK11_ImportCert.argtypes = (pointer, pointer, ctypes.c_ulong, text, number)
    nss.CERT_ChangeCertTrust.argtypes = (pointer, pointer, ctypes.POINTER(_Trust))
    nss.CERT_DestroyCertificate.argtypes = (pointer,)
    nss.PK11_FreeSlot.argtypes = (pointer,)


def _write(nss: Any, certificates: list[bytes]) -> None:
    slot, database = nss.PK11_GetInternalKeySlot(), nss.CERT_GetDefaultCertDB()
    try:
        nss.PK11_InitPin(slot, None, b"")
        for number, der in enumerate(certificates):
            item = _Item(0, der, len(der))
            made = nss.CERT_NewTempCertificate(database, ctypes.byref(item), None, 0, 1)
            if not made:
                raise AuthoritiesError("SSL_CERT_FILE contains a block that is not a certificate.")
            try:
                failed = nss.PK11_ImportCert(slot, made, 0, f"authority {number}".encode(), 0)
                trusted = ctypes.byref(_Trust(FOR_SERVERS, 0, 0))
                if failed or nss.CERT_ChangeCertTrust(database, made, trusted):
                    raise AuthoritiesError(
                        "The browser's certificate database could not be written."
                    )
            finally:
                nss.CERT_DestroyCertificate(made)
    finally:
        nss.PK11_FreeSlot(slot)

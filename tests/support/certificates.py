"""Certificates for tests: an authority and the certificates that it signs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """A certificate authority."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def write(self, path: Path) -> Path:
        """Its certificate as a PEM file."""
        path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return path

    def sign(self, host: str, path: Path, behind: "Authority | None" = None) -> Path:
        """A PEM file with a new key, a certificate for `host`, and its authority's certificate, by default its own."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(host, self.certificate.subject, key, ca=False)
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        made = builder.add_extension(names, critical=False).sign(self.key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        chain = (made, (behind or self).certificate)
        path.write_bytes(
            private + b"".join(one.public_bytes(serialization.Encoding.PEM) for one in chain)
        )
        return path


def new_authority(name: str) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    made = _builder(name, _name(name), key, ca=True).sign(key, hashes.SHA256())
    return Authority(key, made)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, ca: bool
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + 30 * DAY)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )

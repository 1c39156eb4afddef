"""Keys behind key pairs: checked and fingerprinted, or made.

The private half of a key that is made here is returned once and never stored.
"""

import base64
import datetime
import hashlib
import typing

from cryptography import exceptions
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509 import oid

from nova_lite import exception
from nova_lite import runtime

# Private and public key, as texts.
Pair: typing.TypeAlias = tuple[str, str]

BITS = 2048
VALID_FOR = datetime.timedelta(days=3650)


class InvalidKey(exception.Invalid):
    msg = 'Keypair data is invalid: failed to generate fingerprint'


def fingerprint(kind: str, public_key: str) -> str:
    """Return the fingerprint of a public key: MD5 for ssh, SHA-1 for x509. Raise InvalidKey."""
    try:
        digest = _FINGERPRINTS[kind](public_key)
    except (ValueError, IndexError, TypeError, exceptions.UnsupportedAlgorithm):
        raise InvalidKey() from None
    return ':'.join(f'{byte:02x}' for byte in digest)


def generate(kind: str, user_id: str) -> Pair:
    """Return (private key, public key) of a new key pair, as texts."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    return _GENERATORS[kind](key, user_id)


def _ssh_digest(public_key: str) -> bytes:
    serialization.load_ssh_public_key(public_key.encode())
    raw = base64.b64decode(public_key.split()[1])
    return hashlib.md5(raw, usedforsecurity=False).digest()


def _x509_digest(public_key: str) -> bytes:
    certificate = x509.load_pem_x509_certificate(public_key.encode())
    return certificate.fingerprint(hashes.SHA1())


def _ssh_pair(key: rsa.RSAPrivateKey, _user_id: str) -> Pair:
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    return private.decode(), f'{public.decode()} nova-lite'


def _x509_pair(key: rsa.RSAPrivateKey, user_id: str) -> Pair:
    """Return a self-signed client certificate; the private half is PKCS #12 in base64."""
    name = x509.Name([x509.NameAttribute(oid.NameOID.COMMON_NAME, user_id[:64])])
    now = runtime.now()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + VALID_FOR)
        .add_extension(x509.ExtendedKeyUsage([oid.ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    bundle = pkcs12.serialize_key_and_certificates(
        b'nova-lite', key, certificate, None, serialization.NoEncryption()
    )
    public = certificate.public_bytes(serialization.Encoding.PEM)
    return base64.b64encode(bundle).decode(), public.decode()


_FINGERPRINTS = {'ssh': _ssh_digest, 'x509': _x509_digest}
_GENERATORS = {'ssh': _ssh_pair, 'x509': _x509_pair}

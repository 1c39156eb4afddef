"""Virtual TPM of a guest: whether it is requested, and who can read its secret."""

from nova_lite.lifecycle.guests import asked

# Who can read the secret; the first is the default.
SECRETS = PRIVATE, HOST, DEPLOYMENT = 'user', 'host', 'deployment'


def is_requested(guest: asked.Asked) -> bool:
    """Return whether flavor or image request a virtual TPM."""
    return bool(guest.spec('tpm_version') or guest.prop('tpm_version'))


def secret_of(guest: asked.Asked) -> str:
    """Return who can read the secret of the guest's virtual TPM, one of SECRETS if it is known."""
    return guest.spec('tpm_secret_security') or PRIVATE

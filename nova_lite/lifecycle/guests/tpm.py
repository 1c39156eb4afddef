"""Virtual TPM of a guest: its version and model, and who can read its secret."""

from nova_lite import exception
from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import refusals

VERSIONS = '1.2', '2.0'
MODELS = TIS, CRB = 'tpm-tis', 'tpm-crb'

# Who can read the secret; the first is the default.
SECRETS = PRIVATE, HOST, DEPLOYMENT = 'user', 'host', 'deployment'


def is_requested(guest: asked.Asked) -> bool:
    """Return whether flavor or image request a virtual TPM."""
    return bool(guest.spec('tpm_version') or guest.prop('tpm_version'))


def device(guest: asked.Asked) -> tuple[str, str] | None:
    """Return (version, model), or None without a virtual TPM.

    Raise Invalid if flavor and image contradict, or for what does not exist.
    """
    version = agreement.word(guest, 'tpm_version', 'TPM version', VERSIONS)
    if version is None:
        return None
    model = agreement.word(guest, 'tpm_model', 'TPM model', MODELS) or TIS
    if model == CRB and version != '2.0':
        raise refusals.InvalidRequest('TPM model CRB is only valid with TPM version 2.0.')
    return version, model


def check_resize(former: asked.Asked, wanted: asked.Asked) -> None:
    """Raise Invalid if a guest would get a wrong TPM, or one with a secret of another owner.

    The scheduler refuses a wrong TPM of a guest that has none. former, wanted: the guest before and
    after the resize
    """
    secrets = secret_of(former), secret_of(wanted)
    if device(former) and device(wanted) and secrets.count(DEPLOYMENT) == 1:
        raise exception.Invalid(
            f"Resize between '{DEPLOYMENT}' TPM secret security and other TPM secret security modes "
            'is not supported.'
        )


def secret_of(guest: asked.Asked) -> str:
    """Return who can read the secret of the guest's virtual TPM, one of SECRETS if it is known."""
    return guest.spec('tpm_secret_security') or PRIVATE

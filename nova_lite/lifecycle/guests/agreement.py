"""Values that flavor and image may both name, but not differently."""

from collections.abc import Collection

from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import refusals

SOUND_MODELS = 'sb16', 'es1370', 'pcspk', 'ac97', 'ich6', 'ich9', 'usb', 'virtio'
ENCRYPTION_FORMATS = 'plain', 'luks', 'luksv2'
USB_MODELS = 'none', 'nec-xhci', 'qemu-xhci'
MOST_USB_PORTS = 15
_SWITCH, _FORMAT = 'ephemeral_encryption', 'ephemeral_encryption_format'


def word(
    guest: asked.Asked, name: str, meaning: str, allowed: Collection[str], *, namespace: str = 'hw'
) -> str | None:
    """Return the value of the flavor's `NAMESPACE:NAME` or the image's `NAMESPACE_NAME`, or None.

    meaning: phrase for a refusal. Raise FlavorImageConflict, or InvalidRequest for another word.
    """
    flavor, image = guest.spec(name, namespace) or None, guest.prop(name, namespace) or None
    if flavor and image and flavor != image:
        raise refusals.conflict(guest, name, flavor, image, namespace=namespace)
    found = flavor or image
    if found and found not in allowed:
        raise refusals.InvalidRequest(
            f"Invalid {meaning} '{found}'. Allowed values: {', '.join(allowed)}."
        )
    return found


def sound_model(guest: asked.Asked) -> str | None:
    """Return the model of the sound device. Raise Invalid if flavor and image disagree."""
    return word(guest, 'sound_model', 'sound device model', SOUND_MODELS)


def check_usb(guest: asked.Asked) -> None:
    """Raise Invalid if flavor and image disagree on USB devices, or for what does not exist."""
    word(guest, 'usb_model', 'USB controller model', USB_MODELS)
    name = 'redirected_usb_ports'
    flavor, image = (_ports(text) for text in (guest.spec(name), guest.prop(name)))
    if flavor is not None and image is not None and flavor != image:
        raise refusals.conflict(guest, name, flavor, image)


def _ports(text: str | None) -> int | None:
    """Return the number of redirected USB ports in an extra spec or a property."""
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        raise refusals.InvalidRequest(f'"{text}" is not a valid integer.') from None
    if number < 0:
        raise refusals.InvalidRequest('You cannot have a negative number of USB ports.')
    if number > MOST_USB_PORTS:
        raise refusals.InvalidRequest(f'Nova only supports up to {MOST_USB_PORTS} USB ports.')
    return number


def ephemeral_encryption(guest: asked.Asked) -> tuple[bool, str | None]:
    """Return (whether ephemeral disks are encrypted, their format or None). Raise Invalid."""
    flavor, image = guest.truths(_SWITCH)
    if flavor is not None and image is not None and flavor != image:
        raise refusals.conflict(guest, _SWITCH, guest.spec(_SWITCH), image)
    if not (flavor or image):
        return False, None
    return True, word(guest, _FORMAT, 'ephemeral encryption format', ENCRYPTION_FORMATS)

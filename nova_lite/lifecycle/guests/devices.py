"""Sockets, serial ports and network rings of a guest."""

from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import images
from nova_lite.lifecycle.guests import refusals

PARTS = 'sockets', 'cores', 'threads'
MOST = 65536
# Features that flavor and image may both name, but not differently.
SWITCHES = 'pmu', 'virtio_packed_ring', 'vif_multiqueue_enabled'


def check_topology(guest: asked.Asked) -> None:
    """Raise Invalid if the image's sockets, cores and threads exceed their limits."""
    flavor_limits = [_number(guest.spec(f'cpu_max_{part}')) for part in PARTS]
    image_limits = [_image_number(guest, f'cpu_max_{part}') for part in PARTS]
    for part in PARTS:
        _number(guest.spec(f'cpu_{part}'))
    image = [_image_number(guest, f'cpu_{part}') for part in PARTS]
    if _exceed(image_limits, flavor_limits):
        raise refusals.ImageVCPULimitsRangeExceeded(
            image=_shown(image_limits), flavor=_shown(flavor_limits)
        )
    limits = [i or f or MOST for i, f in zip(image_limits, flavor_limits, strict=True)]
    if _exceed(image, limits):
        raise refusals.ImageVCPUTopologyRangeExceeded(image=_shown(image), limits=_shown(limits))


def _exceed(numbers: list[int], limits: list[int]) -> bool:
    return any(limit and number > limit for number, limit in zip(numbers, limits, strict=True))


def _shown(numbers: list[int]) -> str:
    return ', '.join(f'{part}={number}' for part, number in zip(PARTS, numbers, strict=True))


def _number(text: str | None) -> int:
    try:
        return 0 if text is None else int(text)
    except ValueError as error:
        raise refusals.InvalidFlavorExtraSpec(reason=error) from None


def _image_number(guest: asked.Asked, name: str) -> int:
    text = guest.prop(name)
    return 0 if text is None else images.number(text)


def check_serial_ports(guest: asked.Asked) -> None:
    """Raise Invalid if the image has more serial ports than the flavor allows; 0 is no number."""
    text = guest.spec('serial_port_count')
    try:
        most = int(text) if text else 0
    except ValueError:
        raise refusals.ImageSerialPortNumberInvalid(given=text) from None
    number = _image_number(guest, 'serial_port_count') if most else 0
    if number and number > most:
        raise refusals.ImageSerialPortNumberExceedFlavorValue()


def check_switches(guest: asked.Asked) -> None:
    """Raise FlavorImageConflict where flavor and image want different things."""
    for name in SWITCHES:
        flavor, image = guest.truths(name)
        if flavor is not None and image is not None and flavor != image:
            raise refusals.conflict(guest, name, flavor, image)

"""Memory of a guest: its pages, whether it is locked, whether it is encrypted."""

from oslo_utils import strutils

from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import images
from nova_lite.lifecycle.guests import refusals

SMALL, LARGE, ANY = SIZES = ('small', 'large', 'any')
SEV, SEV_ES, SNP, TDX = MODELS = ('amd-sev', 'amd-sev-es', 'amd-sev-snp', 'intel-tdx')


def page_size(guest: asked.Asked) -> str | int | None:
    """Return the size of the pages: in KiB, or a word of SIZES."""
    flavor, image = guest.spec('mem_page_size'), guest.prop('mem_page_size')
    size = _size(flavor) if flavor else None
    if not image:
        return size
    if size not in (LARGE, ANY):
        raise refusals.MemoryPageSizeForbidden(size=image, against=flavor or '<empty>')
    return _size(image)


def _size(text: str) -> str | int:
    if text in SIZES:
        return text
    try:
        return size_kb(text)
    except ValueError:
        raise refusals.MemoryPageSizeInvalid(size=text) from None


def size_kb(text: str) -> int:
    """Return a size in KiB. It may have a unit, such as 2048 or 2MB. Raise ValueError."""
    if text.isascii() and text.isdigit():
        return int(text)
    if not text[-1:].isalpha():
        raise ValueError(text)
    return int(strutils.string_to_bytes(text, return_int=True)) // 1024


def is_locked(guest: asked.Asked, pages: str | int | None) -> bool:
    """Return whether the memory is locked. pages: their size, which it needs"""
    flavor, image = guest.truths('locked_memory')
    if flavor is not None and image is not None and flavor != image:
        raise refusals.FlavorImageLockedMemoryConflict(flavor=flavor, image=image)
    locked = bool(flavor or image)
    if locked and pages is None:
        raise refusals.LockMemoryForbidden()
    return locked


def encryption(guest: asked.Asked) -> str | None:
    """Return the model of the encryption, or None."""
    flavor, image = guest.truths('mem_encryption')
    if flavor is not None and image is not None and flavor != image:
        raise refusals.conflict(guest, 'mem_encryption', guest.spec('mem_encryption'), image)
    if not (flavor or image):
        return None
    model = model_of(guest)
    if guest.prop('firmware_type') != 'uefi':
        raise refusals.FlavorImageConflict(_without_firmware(guest, bool(flavor), bool(image)))
    machine = guest.prop('machine_type')
    if machine is not None and 'q35' not in machine:
        raise refusals.InvalidMachineType(
            machine=machine,
            image_name=guest.image_name,
            image_id=guest.image_id,
            reason=f'q35 type is required for {model} to work',
        )
    if model in (SNP, TDX) and not guest.truths('firmware_stateless')[1]:
        raise refusals.StatelessFirmwareRequired(model=model)
    if model == TDX and guest.prop('video_model') != 'none':
        raise refusals.InvalidVideoMode(model=model)
    return model


def model_of(guest: asked.Asked) -> str:
    """Return the model of the encryption, if there is one. Raise Invalid."""
    found = agreement.word(guest, 'mem_encryption_model', 'memory encryption model', MODELS)
    return found or SEV


def _without_firmware(guest: asked.Asked, by_flavor: bool, by_image: bool) -> str:
    requesters = [
        text
        for is_it, text in (
            (by_flavor, f'hw:mem_encryption extra spec in {guest.flavor_name} flavor'),
            (by_image, f'hw_mem_encryption property of image {guest.image_id}'),
        )
        if is_it
    ]
    return (
        f'Memory encryption is requested by {" and ".join(requesters)} but the image metadata '
        "doesn't have the 'hw_firmware_type' property set to 'uefi'"
    )


def node_sizes(guest: asked.Asked) -> list[int]:
    """Return the MiB that the flavor gives to NUMA nodes 0, 1 and so on."""
    try:
        return [int(text) for text in images.indexed(guest.specs, 'hw:numa_mem')]
    except ValueError as error:
        raise refusals.InvalidFlavorExtraSpec(reason=error) from None

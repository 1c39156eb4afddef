"""Flavor and image of new servers, and checks that they fit together.

Source: reference/nova/create-server 1.1 and 1.2.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from oslo_utils import strutils

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api.policies import servers as rules
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import flavors
from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import tpm

GIB = 1 << 30
# A flavor in the format of records and sagas; see `as_dict`.
Flavor: typing.TypeAlias = dict[str, typing.Any]

DEVICE_PROFILE = 'accel:device_profile'


def flavor_of(req: request.Request, reference: str | int) -> rows.Row:
    """Return the flavor that the caller may use. Raise FlavorNotUsable."""
    flavorid = str(reference).rstrip('/').rsplit('/', 1)[-1]
    project_id = None if req.ctxt.is_admin else req.ctxt.project_id
    try:
        row = req.app.api_db.read(flavors.get, flavorid, project_id)
    except exception.FlavorNotFound:
        raise exception.FlavorNotUsable(flavor_id=flavorid) from None
    if row.disabled:
        raise exception.FlavorNotUsable(flavor_id=flavorid)
    return row


def image_of(req: request.Request, image_id: str) -> session.Json:
    """Return the image, which must be active. Raise ImageNotUsable."""
    try:
        image = req.app.image.get(req.ctxt, image_id)
    except exception.ImageNotFound:
        raise exception.ImageNotUsable(image_id=image_id, reason='not found') from None
    except exception.Forbidden:
        raise exception.ImageNotUsable(image_id=image_id, reason='not allowed') from None
    if image['status'] != 'active':
        raise exception.ImageNotUsable(image_id=image_id, reason='it is not active')
    return image


def check(
    req: request.Request,
    flavor: Flavor,
    boot_image: session.Json | None,
    *,
    boots_from_volume: bool,
) -> constraints.Constraints:
    """Return the guest's constraints. Raise Invalid or Forbidden if flavor and image do not fit.

    boot_image: the image of the root disk, or the image from which its volume was made
    """
    if not boots_from_volume and not flavor['root_gb']:
        _require_zero_disk(req)
    if boot_image is not None:
        _check_sizes(flavor, boot_image, boots_from_volume)
    return constraints_of(flavor, boot_image or {})


def require_accelerators(flavor: Flavor) -> None:
    """Raise Invalid if a flavor names a device profile: there is no accelerator service."""
    name = (flavor.get('extra_specs') or {}).get(DEVICE_PROFILE)
    if name:
        raise exception.Invalid(
            f'Device profile name {name}: Could not communicate with Cyborg: there is no '
            'accelerator service.'
        )


def require_encryption(flavor: Flavor, boot_image: session.Json | None) -> None:
    """Raise Invalid if the encryption of ephemeral disks is contradictory or unknown.

    Nova checks this for new servers only; the scheduler checks it for the others.
    """
    agreement.ephemeral_encryption(_asked(flavor, boot_image or {}))


def require_sound(flavor: Flavor, boot_image: session.Json | None) -> None:
    """Raise Invalid if the sound device is contradictory or unknown.

    Nova checks this at create and rebuild; the scheduler checks it at a resize.
    """
    agreement.sound_model(_asked(flavor, boot_image or {}))


def require_kept_tpm(former: Flavor, flavor: Flavor, boot_image: session.Json | None) -> None:
    """Raise Invalid if a resize has a wrong virtual TPM. former: the flavor of the server"""
    tpm.check_resize(*(_asked(each, boot_image or {}) for each in (former, flavor)))


def constraints_of(flavor: Flavor, image: session.Json) -> constraints.Constraints:
    """Return the constraints of a guest. Raise Invalid if flavor and image contradict."""
    return constraints.of(_asked(flavor, image))


def _asked(flavor: Flavor, image: session.Json) -> constraints.Asked:
    return constraints.Asked.of(
        flavor,
        image.get('properties') or {},
        image_name=image.get('name') or '',
        image_id=image.get('id') or '',
    )


def require_memory(flavor: Flavor, image: session.Json) -> None:
    """Raise Invalid if an image needs more memory than a flavor has."""
    if flavor['memory_mb'] < image['min_ram']:
        raise exception.Invalid("Flavor's memory is too small for requested image.")


def _check_sizes(flavor: Flavor, boot_image: session.Json, boots_from_volume: bool) -> None:
    root_gb = flavor['root_gb']
    require_memory(flavor, boot_image)
    if boots_from_volume or not root_gb:
        return
    if (boot_image['size'] or 0) > root_gb * GIB:
        raise exception.Invalid(
            "Flavor's disk is too small for requested image. Flavor disk is "
            f'{root_gb} GiB, image is {boot_image["size"]} bytes.'
        )
    if boot_image['min_disk'] > root_gb:
        raise exception.Invalid(
            "Flavor's disk is smaller than the minimum size specified in image metadata. Flavor "
            f'disk is {root_gb} GiB, minimum size is {boot_image["min_disk"]} GiB.'
        )


def _require_zero_disk(req: request.Request) -> None:
    if not req.allows(rules.ZERO_DISK_FLAVOR):
        raise exception.Forbidden(
            'Only volume-backed servers are allowed for flavors with zero disk.'
        )


def disk_config(wanted: str | None, properties: Mapping[str, typing.Any]) -> bool:
    """Return whether the guest's partition grows with the disk. Raise Invalid."""
    allowed = properties.get('auto_disk_config')
    if wanted is None:
        return strutils.bool_from_string(allowed)
    if wanted == 'AUTO' and str(allowed).lower() == 'disabled':
        raise exception.Invalid('Requested image has automatic disk resize disabled.')
    return wanted == 'AUTO'


def columns(
    flavor: Flavor, image: session.Json | None, properties: session.Json
) -> dict[str, typing.Any]:
    """Return the columns of a record that depend on flavor and image."""
    values = {
        **{name: flavor[name] for name in ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb')},
        'flavor': flavor,
        'flavor_id': flavor['id'],
        'image_ref': image['id'] if image else None,
        'kernel_id': properties.get('kernel_id') or '',
        'ramdisk_id': properties.get('ramdisk_id') or '',
        'os_type': properties.get('os_type'),
        'architecture': properties.get('hw_architecture') or properties.get('architecture'),
        'root_device_name': properties.get('root_device_name') or '/dev/vda',
    }
    return {name: value for name, value in values.items() if value is not None}


FLAVOR_FIELDS = (
    'id', 'flavorid', 'name', 'vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap',
    'rxtx_factor', 'disabled', 'is_public', 'description', 'extra_specs',
)  # fmt: skip


def as_dict(flavor: rows.Row) -> Flavor:
    """Return the row of a flavor in the format of records of servers."""
    return {name: getattr(flavor, name) for name in FLAVOR_FIELDS}


def with_devices(req: request.Request, flavor: rows.Row, former: Flavor | None = None) -> Flavor:
    """Return a flavor for the record of a server that gets it, with its requests for devices.

    former: the flavor of a server that is resized
    Raise Invalid for an alias that [pci]alias does not have.
    """
    return resolved(flavor, req.conf.pci.alias, former)


def resolved(flavor: rows.Row, aliases: Iterable[str], former: Flavor | None = None) -> Flavor:
    """Return a flavor as `with_devices`. aliases: the lines of [pci]alias"""
    found = as_dict(flavor)
    specs = flavor.extra_specs or {}
    if not any(key == pci.ALIAS or key.startswith(pci.RESOURCES) for key in specs):
        return found
    held = (former or {}).get('devices') or ()
    known = pci.aliases(aliases) if pci.ALIAS in specs else {}
    devices = pci.resolve(specs, known, held)
    return {**found, 'devices': devices} if devices else found

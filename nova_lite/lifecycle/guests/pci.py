"""PCI devices that a guest requests by aliases, and virtual GPUs by their resource classes.

An alias is a line of [pci]alias. The API writes its definition into the flavor of a server when the
server gets the flavor, so a later change of the option does not change the server.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import json
import re
import typing

import os_resource_classes as orc
from oslo_utils import strutils

from nova_lite import exception
from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import refusals
from nova_lite.virt import pci

ALIAS = 'pci_passthrough:alias'
# Kinds of devices that only requests get that name them.
TO_BE_NAMED = pci.PF, pci.VDPA, pci.MDEV
# Extra specs that may ask for virtual GPUs. Hosts may give them a resource class of their own.
RESOURCES = 'resources'
_VIRTUAL = re.compile('resources[a-zA-Z0-9_-]{0,64}:(VGPU|CUSTOM_[A-Z0-9_]+)')
POLICIES = REQUIRED, LEGACY, PREFERRED, SOCKET = 'required', 'legacy', 'preferred', 'socket'
_AFFINITY = 'pci_numa_affinity_policy'
_ID = re.compile('[0-9a-fA-F]{4}')
_KEYS = (
    'name', 'vendor_id', 'product_id', 'capability_type', 'device_type', 'numa_policy',
    'resource_class', 'traits', 'live_migratable',
)  # fmt: skip
# Keys of an alias that name a property of a device.
_PROPERTIES = {'vendor_id': 'vendor_id', 'product_id': 'product_id', 'device_type': 'kind'}

# A request in the format of records: name, count, numa_policy, specs.
Plain: typing.TypeAlias = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Spec:
    """Properties that a device must have. kind, live_migratable: None if any will do"""

    vendor_id: str | None
    product_id: str | None
    kind: str | None = None
    live_migratable: bool | None = None
    resource_class: str | None = None
    traits: tuple[str, ...] = ()

    @classmethod
    def of(cls, plain: Plain) -> typing.Self:
        """Return the spec of a record."""
        ids = {'vendor_id': None, 'product_id': None}
        return cls(**{**ids, **plain, 'traits': tuple(plain.get('traits', ()))})

    @property
    def kept(self) -> tuple[object, ...]:
        """Return the properties. Those for placement are left out if there are none."""
        found = dataclasses.astuple(self)
        return found if self.resource_class or self.traits else found[:4]

    @property
    def placed_class(self) -> str:
        """Return the resource class of the devices in placement."""
        return self.resource_class or pci.class_of(self.vendor_id or '', self.product_id or '')

    def fits(self, device: pci.Device) -> bool:
        """Return whether a device has the properties.

        Physical functions and vDPA devices must be named. Remotely managed devices are for ports.
        """
        return (
            self.vendor_id in (None, device.vendor_id)
            and self.product_id in (None, device.product_id)
            and self.resource_class in (None, device.resource_class)
            and set(self.traits) <= {*device.traits}
            and is_of(self.kind, device)
            and not device.remote_managed
            and self.live_migratable in (None, device.live_migratable)
        )


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for `count` devices that each fit one of `specs`.

    policy: the NUMA affinity
    kept_policy: the one that flavor and alias ask for without the image; a rebuild keeps it
    change: number of the resize by which the server got its flavor, see `resolve`
    """

    name: str
    count: int
    specs: tuple[Spec, ...]
    policy: str = LEGACY
    kept_policy: str = LEGACY
    change: int = 0

    def fits(self, device: pci.Device) -> bool:
        return any(spec.fits(device) for spec in self.specs)

    @property
    def of(self) -> str:
        """Return a text that names the reason of the request."""
        return f'of {"class" if self.is_virtual else "alias"} {self.name}'

    @property
    def is_virtual(self) -> bool:
        """Return whether it asks for virtual GPUs. Its name is their resource class."""
        return any(spec.kind == pci.MDEV for spec in self.specs)

    def concerns(self, classes: Collection[str]) -> bool:
        """Return whether it asks a host for devices. classes: those of virtual GPUs of the host

        Custom classes may be those of other resources.
        """
        return not self.is_virtual or self.name == orc.VGPU or self.name in classes

    @property
    def kept(self) -> tuple[object, ...]:
        """Return the values that a rebuild keeps and only a resize changes."""
        specs = [spec.kept for spec in self.specs]
        changes = (self.change,) if self.change else ()
        return self.name, self.count, self.kept_policy, specs, *changes


def is_of(kind: str | None, device: pci.Device) -> bool:
    """Return whether a request for a kind of devices gets a device. kind: None if it names none"""
    return kind == device.kind if kind else device.kind not in TO_BE_NAMED


class PciInvalidAlias(exception.Invalid):
    msg = 'Invalid PCI alias definition: %(reason)s'


def aliases(lines: Iterable[str]) -> dict[str, Plain]:
    """Return {name: definition} of the lines of [pci]alias. Raise PciInvalidAlias.

    Lines of the same name are alternatives.
    """
    found: dict[str, Plain] = {}
    for values in (values for line in lines for values in _parsed(line)):
        name = values['name']
        spec = {ours: values[key] for key, ours in _PROPERTIES.items() if key in values}
        spec |= {key: spec[key].lower() for key in ('vendor_id', 'product_id') if key in spec}
        if 'resource_class' in values:
            spec['resource_class'] = pci.class_named(values['resource_class'])
        if 'traits' in values:
            spec['traits'] = list(pci.traits_of(values['traits']))
        if 'live_migratable' in values:
            spec['live_migratable'] = values['live_migratable']
        policy = values.get('numa_policy') or LEGACY
        alias = found.setdefault(name, {'name': name, 'numa_policy': policy, 'specs': []})
        if alias['numa_policy'] != policy:
            raise PciInvalidAlias(reason=f"NUMA policy mismatch for alias '{name}'")
        if alias['specs'] and alias['specs'][0].get('kind') != spec.get('kind'):
            raise PciInvalidAlias(reason=f"device type mismatch for alias '{name}'")
        alias['specs'].append(spec)
    return found


def _parsed(line: str) -> list[Plain]:
    """Return the definitions in a line of [pci]alias: one, or a list."""
    try:
        found = json.loads(line)
    except ValueError as error:
        raise PciInvalidAlias(reason=error) from None
    return [_checked(values) for values in (found if isinstance(found, list) else [found])]


def _checked(values: Plain) -> Plain:
    """Return a definition, with truth values for words."""
    if not isinstance(values, dict):
        raise PciInvalidAlias(reason=f"{values!r} is not of type 'object'")
    _require_known(values)
    if 'name' not in values:
        raise PciInvalidAlias(reason="'name' is a required property")
    for key in ('vendor_id', 'product_id'):
        if key not in values:
            if 'resource_class' not in values:
                raise PciInvalidAlias(reason=f"alias '{values['name']}' lacks {key}")
        elif not _ID.fullmatch(values[key]):
            raise PciInvalidAlias(reason=f'{values[key]!r} is not a number of 4 hex digits')
    if 'live_migratable' in values:
        try:
            values['live_migratable'] = strutils.bool_from_string(
                values['live_migratable'], strict=True
            )
        except ValueError as error:
            raise PciInvalidAlias(reason=error) from None
    return values


def _require_known(values: Plain) -> None:
    for key, value in values.items():
        if key not in _KEYS:
            raise PciInvalidAlias(
                reason=f"Additional properties are not allowed ('{key}' was unexpected)"
            )
        if not isinstance(value, str):
            raise PciInvalidAlias(reason=f"{value!r} is not of type 'string'")
        if not 1 <= len(value) <= 256:
            raise PciInvalidAlias(reason=f'{key} must have 1 to 256 characters')
    for key, allowed in (
        ('device_type', pci.KINDS),
        ('numa_policy', POLICIES),
        ('capability_type', ('pci',)),
    ):
        if key in values and values[key] not in allowed:
            raise PciInvalidAlias(reason=f'{values[key]!r} is not one of {list(allowed)}')


def resolve(
    specs: asked.Values, known: Mapping[str, Plain], former: Iterable[Plain] = ()
) -> list[Plain]:
    """Return the requests of a flavor's extra specs, for records.

    known: see `aliases`
    former: requests of the flavor before a resize. The new ones have another number, so that the
        server holds the devices of both flavors until the resize ends, on the same host as well
    Raise PciRequestAliasNotDefined or PciAliasCountInvalid.
    """
    change = max((each.get('change', 0) + 1 for each in former), default=0)
    more = {'change': change} if change else {}
    found = [{**plain, **more} for plain in _virtual(specs)]
    text = specs.get(ALIAS)
    for request in str(text).split(',') if text is not None else ():
        name, *counts = (part.strip() for part in request.split(':'))
        if len(counts) == 1 and name not in known:
            raise refusals.PciRequestAliasNotDefined(alias=name)
        if len(counts) != 1 or not re.fullmatch('[0-9]{1,9}', counts[0]):
            raise refusals.PciAliasCountInvalid(alias=request)
        if int(counts[0]):
            found.append({**known[name], 'count': int(counts[0]), **more})
    return found


def _virtual(specs: asked.Values) -> Iterator[Plain]:
    """Yield requests for virtual GPUs, one for each resource class. They have no NUMA affinity."""
    amounts: collections.Counter[str] = collections.Counter()
    for key, value in specs.items():
        named = _VIRTUAL.fullmatch(key)
        amount = asked.amount(value) if named else None
        if named and amount:
            amounts[named[1]] += amount
    for name, count in sorted(amounts.items()):
        if count:
            spec = {'kind': pci.MDEV, 'resource_class': name}
            yield {'name': name, 'numa_policy': PREFERRED, 'specs': [spec], 'count': count}


def is_virtual(plain: asked.Values) -> bool:
    """Return whether a request, as records have it, is for virtual GPUs."""
    return any(spec.get('kind') == pci.MDEV for spec in plain['specs'])


def are_live_migratable(devices: Iterable[Plain]) -> bool:
    """Return whether a guest with these requests, as records have them, may migrate live."""
    return all(
        spec.get('live_migratable')
        for request in devices
        if not is_virtual(request)
        for spec in request['specs']
    )


def requests(guest: asked.Asked, asked_policy: str | None) -> tuple[Request, ...]:
    """Return the requests of a guest. asked_policy: result of `policy`; goes before the aliases'"""
    return tuple(
        Request(
            name=plain['name'],
            count=plain['count'],
            specs=tuple(map(Spec.of, plain['specs'])),
            policy=_policy_of(plain, asked_policy),
            kept_policy=_policy_of(plain, guest.spec(_AFFINITY)),
            change=plain.get('change', 0),
        )
        for plain in guest.devices
    )


def _policy_of(plain: asked.Values, asked_policy: str | None) -> str:
    found: str = plain['numa_policy']
    return found if is_virtual(plain) else asked_policy or found


def policy(guest: asked.Asked) -> str | None:
    """Return the NUMA affinity of the flavor or the image, or None.

    Raise InvalidPCINUMAAffinity or ImagePCINUMAPolicyForbidden.
    """
    flavor, image = guest.spec(_AFFINITY) or None, guest.prop(_AFFINITY) or None
    if flavor and image and flavor != image:
        raise refusals.ImagePCINUMAPolicyForbidden()
    found = flavor or image
    if found is not None and found not in POLICIES:
        raise refusals.InvalidPCINUMAAffinity(policy=found)
    return found

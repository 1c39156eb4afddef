"""Convert a request spec to a query of GET /allocation_candidates.

Source: reference/nova/scheduling 3.1 (sources) and 3.2 (query string).
"""

import collections
import collections.abc
from collections.abc import Sequence
import re

import os_resource_classes
from oslo_log import log

from nova_lite.clients import offers
from nova_lite.clients import request_groups
from nova_lite.lifecycle.guests import asked
from nova_lite.objects import base as objects
from nova_lite.objects import flavor as flavors
from nova_lite.objects import image as images
from nova_lite.objects import request_spec
from nova_lite.scheduler import features
from nova_lite.scheduler import hosts

LOG = log.getLogger(__name__)

KEY = re.compile(r'(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.+)')
POLICIES = ('none', 'isolate')
# With these hints a suitable host may not be among the first candidates.
UNLIMITED_HINTS = ('group', 'same_host', 'different_host')


class ResourceRequest:
    """Resources and conditions, by group.

    groups: {suffix: RequestGroup}; '' is the group that may spread over a tree
    limit: maximum number of candidates; None: all
    """

    def __init__(self, limit: int | None = None) -> None:
        self.groups = {'': request_spec.RequestGroup()}
        self.group_policy: str | None = None
        self.root_required: set[str] = set()
        self.root_forbidden: set[str] = set()
        self.same_subtree: list[list[str]] = []
        self.limit = limit

    def group(self, suffix: str = '') -> request_spec.RequestGroup:
        """Return the group with a suffix. Create it if it does not exist."""
        if suffix not in self.groups:
            self.groups[suffix] = request_spec.RequestGroup(suffix=suffix)
        return self.groups[suffix]

    @property
    def required_traits(self) -> set[str]:
        """Return the traits that groups require, without those required of the root provider."""
        return {trait for group in self.groups.values() for trait in group.required_traits}

    @property
    def forbidden_traits(self) -> set[str]:
        """Return the traits that any group forbids."""
        return {trait for group in self.groups.values() for trait in group.forbidden_traits}

    def pairs(self) -> offers.Pairs:
        """Return the query as (key, value) pairs sorted by key."""
        pairs: list[tuple[str, str]] = []
        for suffix, group in self.groups.items():
            pairs.extend(request_groups.pairs(suffix, group))
        pairs.extend(('same_subtree', ','.join(sorted(one))) for one in self.same_subtree)
        root = request_groups.traits(self.root_required, self.root_forbidden)
        if root:
            pairs.append(('root_required', root))
        if self.group_policy is not None:
            pairs.append(('group_policy', self.group_policy))
        if self.limit is not None:
            pairs.append(('limit', str(self.limit)))
        return tuple(sorted(pairs))


# ---- from a request spec ----------------------------------------------------


def build(
    spec: request_spec.RequestSpec,
    *,
    limit: int | None = None,
    in_tree: str | None = None,
    pinned: bool = True,
    devices: Sequence[request_spec.RequestGroup] = (),
) -> ResourceRequest:
    """Return the ResourceRequest of a spec.

    in_tree: uuid of the only provider tree that is allowed
    pinned: request dedicated CPUs as PCPU; False: as VCPU, for old hosts
    devices: groups of PCI devices, see `device_groups`
    """
    wanted = ResourceRequest(limit=_limit(spec, limit))
    unsuffixed = wanted.group()
    required, forbidden = features.traits(features.asked(spec), pinned=pinned)
    unsuffixed.required_traits.extend(required)
    unsuffixed.forbidden_traits.extend(forbidden)
    _read_extra_specs(wanted, spec.flavor.extra_specs)
    _add_sizes(wanted, spec, pinned=pinned)
    _read_image_traits(unsuffixed, spec.image)
    _read_groups(wanted, spec, (*spec.requested_resources, *devices))
    wanted.root_required.update(spec.root_required)
    wanted.root_forbidden.update(spec.root_forbidden)
    wanted.same_subtree.extend(names.split(',') for names in spec.same_subtree)
    destination = spec.requested_destination
    if destination is not None:
        unsuffixed.member_of = [*unsuffixed.member_of, *destination.aggregates]
        unsuffixed.forbidden_aggregates = [
            *unsuffixed.forbidden_aggregates,
            *destination.forbidden_aggregates,
        ]
    unsuffixed.in_tree = in_tree
    return wanted


def flavor_resources(flavor: flavors.Flavor, *, volume_backed: bool = False) -> dict[str, int]:
    """Return {resource class: amount} of a flavor's sizes, without amounts of zero."""
    size = hosts.Size.of(flavor, volume_backed=volume_backed)
    amounts = {'VCPU': size.vcpus, 'MEMORY_MB': size.memory_mb, 'DISK_GB': size.disk_gb}
    return {name: amount for name, amount in amounts.items() if amount}


def held(flavor: objects.Data, stored: objects.Data, *, pinned: bool = True) -> dict[str, int]:
    """Return {resource class: amount} that a server holds in all of its groups together.

    For audits, which only have records. flavor: plain values; stored: the stored fields of the
    request spec, empty if there are none; pinned: see `build`
    """
    spec = request_spec.RequestSpec.restore({**stored, 'flavor': flavor})
    wanted = ResourceRequest()
    _read_extra_specs(wanted, spec.flavor.extra_specs)
    _add_sizes(wanted, spec, pinned=pinned)
    _read_groups(wanted, spec, spec.requested_resources)
    total: collections.Counter[str] = collections.Counter()
    for group in wanted.groups.values():
        total.update(group.resources)
    return {name: amount for name, amount in total.items() if amount}


def _add_sizes(
    wanted: ResourceRequest, spec: request_spec.RequestSpec, *, pinned: bool = True
) -> None:
    """Add the flavor's sizes and the resources of features to the group without a suffix.

    A class that an extra spec names, in any group, replaces the flavor's amount; CPUs are of one of
    two classes. Amounts of features replace those of extra specs.
    """
    named = {name for group in wanted.groups.values() for name in group.resources}
    if 'PCPU' in named:
        named.add('VCPU')
    sizes = flavor_resources(spec.flavor, volume_backed=spec.is_bfv)
    group = wanted.group()
    group.resources = {
        **{name: amount for name, amount in sizes.items() if name not in named},
        **group.resources,
        **features.resources(features.asked(spec), pinned=pinned),
    }


def _limit(spec: request_spec.RequestSpec, limit: int | None) -> int | None:
    if spec.group_uuid or any(spec.scheduler_hints.get(name) for name in UNLIMITED_HINTS):
        return None
    return limit


def _read_extra_specs(wanted: ResourceRequest, extra_specs: dict[str, str | None]) -> None:
    for key, value in extra_specs.items():
        if key == 'group_policy':
            if value in POLICIES:
                wanted.group_policy = value
            else:
                LOG.warning(
                    'Ignoring flavor extra spec group_policy=%s: it must be none or isolate', value
                )
            continue
        found = KEY.fullmatch(key)
        if found is None:
            continue
        kind, suffix, name = found.groups()
        if kind == 'resources':
            _read_amount(wanted.group(suffix or ''), key, name, value)
        else:
            _read_trait(wanted.group(suffix or ''), key, name, value)


def _read_amount(group: request_spec.RequestGroup, key: str, name: str, value: str | None) -> None:
    if not (name in os_resource_classes.STANDARDS or os_resource_classes.is_custom(name)):
        LOG.warning('Ignoring flavor extra spec %s: it does not name a resource class', key)
        return
    amount = asked.amount(value)
    if amount is None:
        LOG.warning(
            'Ignoring flavor extra spec %s=%s: the value must be a number that is not negative',
            key,
            value,
        )
        return
    group.resources[name] = amount


def _read_trait(group: request_spec.RequestGroup, key: str, name: str, value: str | None) -> None:
    if value == 'required':
        group.required_traits.append(name)
    elif value == 'forbidden':
        group.forbidden_traits.append(name)
    else:
        LOG.warning(
            'Ignoring flavor extra spec %s=%s: the value must be required or forbidden', key, value
        )


def _read_image_traits(group: request_spec.RequestGroup, image: images.ImageMeta | None) -> None:
    """Add the traits that an image requires by `trait:NAME=required`."""
    if image is None:
        return
    for key, value in image.properties.items():
        if key.startswith('trait:') and value == 'required':
            group.required_traits.append(key.removeprefix('trait:'))


def _read_groups(
    wanted: ResourceRequest,
    spec: request_spec.RequestSpec,
    groups: Sequence[request_spec.RequestGroup],
) -> None:
    """Add the groups of ports and devices. Two groups need a group policy."""
    for group in groups:
        wanted.groups[group.suffix] = group
    if groups and wanted.group_policy is None and len(wanted.groups) > 2:
        LOG.debug('Flavor %s has no group_policy; using none', spec.flavor.name)
        wanted.group_policy = 'none'

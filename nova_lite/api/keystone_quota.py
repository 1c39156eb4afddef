"""Rules of quotas by the unified limits of Keystone ([quota]driver).

Only servers and resource classes have limits of projects. The limits are read before a transaction
begins, once for a request. Servers, vCPUs and memory are counted with the server that is added,
without the pinned CPUs, which the stored requests of the servers tell;
other resource classes, such as PCPU, are counted by placement, which knows them some moments later.
"""

import collections
from collections.abc import Mapping
from collections.abc import Sequence
import math
import re

from oslo_config import cfg
from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.clients import resource_requests
from nova_lite.conf import quota as options
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci

LOG = log.getLogger(__name__)
CLASS = 'class:'
VCPU, PCPU, MEMORY_MB = 'VCPU', 'PCPU', 'MEMORY_MB'
# {our name: that in Keystone}; limits of projects count for the first three.
NAMES = {
    'instances': 'servers',
    'cores': f'{CLASS}{VCPU}',
    'ram': f'{CLASS}{MEMORY_MB}',
    'metadata_items': 'server_metadata_items',
    'injected_files': 'server_injected_files',
    'injected_file_content_bytes': 'server_injected_file_content_bytes',
    'injected_file_path_length': 'server_injected_file_path_bytes',
    'key_pairs': 'server_key_pairs',
    'server_groups': 'server_groups',
    'server_group_members': 'server_group_members',
}
OF_PROJECTS = ('servers', CLASS)
Size = quota_rules.Size
AMOUNT = re.compile(r'resources([^:]*):([A-Z0-9_]+)')


class SetInKeystone(exception.Forbidden):
    msg = (
        'Quota limits are in the identity service: [quota]driver is '
        'nova.quota.UnifiedLimitsDriver. Use its registered limits and limits.'
    )


class KeystoneRules(quota_rules.Rules):
    """The limits of a project in Keystone.

    registered: {resource: default limit}; own: {resource: limit} of the project
    used: {resource class: amount that the project uses}
    """

    asks_placement = True

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        project_id: str,
        *,
        registered: Mapping[str, int],
        own: Mapping[str, int],
        used: Mapping[str, int],
    ) -> None:
        super().__init__(conf)
        self._registered, self._own, self._used = registered, own, used
        self._project_id = project_id
        self._places_devices = conf.filter_scheduler.pci_in_placement
        self._strategy = conf.quota.unified_limits_resource_strategy
        self._listed = frozenset(conf.quota.unified_limits_resource_list)

    def defaults(self, connection: sa.Connection) -> quota_rules.Limits:
        return {name: self._default(known) for name, known in NAMES.items()}

    def limits(
        self, connection: sa.Connection, project_id: str, user_id: str | None = None
    ) -> quota_rules.Limits:
        return {name: self._limit(known) for name, known in NAMES.items()}

    def scopes(
        self, connection: sa.Connection, project_id: str, user_id: str
    ) -> list[quota_rules.Scope]:
        return [(self.limits(connection, project_id), None)]

    def refusal(self, excesses: Sequence[quota_rules.Excess]) -> exception.OverQuota:
        """Return the error in the words of oslo.limit."""
        each = [self._words(excess) for excess in excesses]
        return exception.OverQuota(
            f'Project {self._project_id} is over a limit for [{", ".join(each)}]'
        )

    def admit(
        self,
        flavor: quota_rules.Flavor,
        guest: quota_rules.Guest,
        *,
        wanted: int,
        least: int = 1,
        boots_from_volume: bool = False,
        networks: object = (),
    ) -> int:
        amounts = collections.Counter(
            _amounts_of(flavor, guest, boots_from_volume=boots_from_volume)
        )
        if self._places_devices:
            amounts.update(_devices_of(flavor))
        for port in resource_requests.of_requested(networks):
            for group in resource_requests.groups(port):
                amounts.update(group.resources)
        allowed, excesses = wanted, []
        for name, amount in amounts.items():
            limit = self._limit(CLASS + name)
            if name in (VCPU, MEMORY_MB) or limit < 0 or not amount:
                continue
            used = self._used.get(name, 0)
            fits = max(limit - used, 0) // amount
            allowed = min(allowed, fits)
            if fits < least:
                excesses.append(quota_rules.Excess(CLASS + name, amount * least, used, limit))
        if excesses:
            raise self.refusal(excesses)
        return allowed

    def size_of(self, flavor: quota_rules.Flavor, properties: quota_rules.Flavor) -> Size:
        return {'vcpus': _vcpus_of(flavor, properties), 'memory_mb': flavor['memory_mb']}

    def uncounted(self, connection: sa.Connection, project_id: str) -> int:
        if self._limit(CLASS + VCPU) < 0:
            return 0
        found = instance_mappings.with_special_cpus(connection, project_id)
        return sum(_uncounted(row)[1] for row in found)

    def uncounted_of(self, connection: sa.Connection, uuid: str) -> tuple[int, int]:
        found = instance_mappings.special_cpus(connection, uuid)
        return (0, 0) if found is None else _uncounted(found)

    def require_settable(self) -> None:
        raise SetInKeystone()

    def _words(self, excess: quota_rules.Excess) -> str:
        name = NAMES.get(excess.resource, excess.resource)
        return (
            f'Resource {name} is over limit of {excess.limit} due to current usage {excess.used} '
            f'and delta {excess.requested}'
        )

    def _default(self, name: str) -> int:
        """Return the registered limit of a resource, or that of unregistered resources."""
        if name in self._registered:
            return self._registered[name]
        is_zero = (name in self._listed) == (self._strategy == options.REQUIRE)
        return 0 if is_zero else -1

    def _limit(self, name: str) -> int:
        if name.startswith(OF_PROJECTS) and name in self._own:
            return self._own[name]
        return self._default(name)


def of(req: request.Request, project_id: str) -> KeystoneRules:
    """Return the rules of a project. Raise Unavailable if Keystone or placement do not answer."""
    client = req.app.keystone_limits
    if client is None:
        raise exception.Unavailable(service='identity', reason='there is no client for its limits')
    return KeystoneRules(
        req.conf,
        project_id,
        registered=client.registered(req.ctxt),
        own=client.of_project(req.ctxt, project_id) if project_id else {},
        used=req.app.placement.project_usages(req.ctxt, project_id) if project_id else {},
    )


def _uncounted(row: rows.Row) -> tuple[int, int]:
    """Return how many vCPUs of a server do not count, see Rules.uncounted_of."""
    properties = (row.spec.get('image') or {}).get('properties') or {}
    own = _vcpus_of(row.spec['flavor'], properties)
    if row.saga_vcpus is None:
        return row.vcpus - own, row.vcpus - own
    # A revert does not know the flavor here: its vCPUs count until it ends.
    flavor = row.arguments.get('flavor')
    of_saga = _vcpus_of(flavor, properties) if flavor else row.saga_vcpus
    return row.vcpus - own, max(row.vcpus, row.saga_vcpus) - max(own, of_saga)


def _vcpus_of(flavor: quota_rules.Flavor, properties: quota_rules.Flavor) -> int:
    """Return how many vCPUs of a server are no CPUs of its own.

    Those of a contradictory request all count; the check of the flavor refuses it.
    """
    try:
        guest = constraints.of(constraints.Asked.of(flavor, properties))
    except exception.NovaLiteError as error:
        LOG.debug('All vCPUs of flavor %s count: %s', flavor['name'], error)
        return int(flavor['vcpus'])
    return _amounts_of(flavor, guest, boots_from_volume=False)[VCPU]


def _devices_of(flavor: quota_rules.Flavor) -> collections.Counter[str]:
    """Return {resource class: number} of the PCI devices that placement gives to a server.

    The extra specs of the flavor have its virtual GPUs.
    """
    found: collections.Counter[str] = collections.Counter()
    for plain in flavor.get('devices') or ():
        if not pci.is_virtual(plain):
            found[pci.Spec.of(plain['specs'][0]).placed_class] += plain['count']
    return found


def _amounts_of(
    flavor: quota_rules.Flavor, guest: quota_rules.Guest, *, boots_from_volume: bool
) -> dict[str, int]:
    """Return {resource class: amount} that a server of a flavor uses."""
    pinned = len(guest.dedicated)
    disk = flavor.get('ephemeral_gb', 0) + math.ceil(flavor.get('swap', 0) / 1024)
    found = {
        VCPU: flavor['vcpus'] - pinned,
        PCPU: pinned + (guest.emulator_threads_policy == 'isolate'),
        MEMORY_MB: flavor['memory_mb'],
        'DISK_GB': disk if boots_from_volume else disk + flavor.get('root_gb', 0),
    }
    groups: dict[str, int] = {}
    for key, value in (flavor.get('extra_specs') or {}).items():
        match = AMOUNT.fullmatch(key)
        if match is None or value is None or not str(value).isdecimal():
            continue
        group, name = match.groups()
        if group:
            groups[name] = groups.get(name, 0) + int(value)
        else:
            found[name] = int(value)
    return {name: found.get(name, 0) + groups.get(name, 0) for name in {**found, **groups}}

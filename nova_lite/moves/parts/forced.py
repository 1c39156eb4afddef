"""The destination of a move to another host of the cell, which an operator may force.

A forced destination skips the scheduler: the allocation of the source is copied.
Source: reference/nova/moves 4.1 and 5.
"""

from collections.abc import Callable
from collections.abc import Collection
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite.clients import offers
from nova_lite.clients import placement as placement_client
from nova_lite.clients import port_allocations
from nova_lite.db import rows
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation as allocations
from nova_lite.moves.parts import choice
from nova_lite.objects import selection as selection_objects

LOG = log.getLogger(__name__)

# A function of (scope, server's row, compute node) that raises if a forced node is not suitable.
RequireFit: typing.TypeAlias = Callable[[scopes.Scope, rows.Row, rows.Row], None]


class Force:
    """A destination that the scheduler does not choose.

    source: the end that the server leaves
    """

    def __init__(
        self,
        scope: scopes.Scope,
        allocation: allocations.Allocation,
        source: scopes.End,
        *,
        require_fit: RequireFit = lambda scope, row, node: None,
    ) -> None:
        self.scope, self.source, self.allocation = scope, source, allocation
        self._require_fit = require_fit

    def claim(self, host: str, name: str | None) -> selection_objects.Selection:
        """Claim on a host. Return the Selection. name: that of the node, or None"""
        scope = self.scope
        row = scope.row()
        scope.here.require_up_or_fail(host)
        node = scope.here.node(host, name)
        self._require_fit(scope, row, node)
        self._copy_allocation(row, node)
        LOG.warning(
            'Moving server %s to forced host %s without asking the scheduler', row.uuid, host
        )
        return selection_objects.Selection(
            service_host=host,
            nodename=node.hypervisor_hostname,
            compute_node_uuid=node.uuid,
            cell_uuid=scope.cell.uuid,
            availability_zone=scope.here.zone(host),
        )

    def _copy_allocation(self, row: rows.Row, node: rows.Row) -> None:
        """Claim the resources of the source on the destination. Raise NoValidHost.

        Allocations on providers below the source's cannot be copied, because those of the
        destination differ.
        """
        source = self.scope.here.node(self.source.host, self.source.node)
        held = self.allocation.held(source.uuid)
        resources = held.get(source.uuid)
        if not resources:
            LOG.warning('Server %s has no allocation on %s', row.uuid, row.host)
        elif port_allocations.are_of_ports(held):
            raise exception.NoValidHost(
                reason='The server has ports with a resource request. Only the scheduler can '
                f'choose a host for it; it cannot be forced to host {node.host}.'
            )
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        wanted: offers.AllocationRequest = {
            'allocations': {node.uuid: {'resources': resources}} if resources else {}
        }
        beside = self.allocation.held_beside()
        if not self.allocation.claim(consumer, wanted, beside):
            raise exception.NoValidHost(
                reason=f'Host {node.host} does not have enough free resources for the server.'
            )


class ForcedChoice(choice.Choice):
    """The destination of a saga that an operator may force.

    force: claims a destination; forced: whether the argument `host` skips the scheduler
    """

    def __init__(
        self,
        force: Force,
        wanted: scopes.Arguments,
        *,
        forced: bool,
        may_retry: bool = False,
        refusable: Collection[str] = (),
    ) -> None:
        super().__init__(
            force.scope, force.allocation, wanted, may_retry=may_retry, refusable=refusable
        )
        self._force, self._forced = force, forced

    def choose(self) -> selection_objects.Selection:
        """Return the Selection of a claimed destination: the scheduler's, or the forced one."""
        scope, host = self.scope, self._wanted.host
        if scope.repeated:
            self.allocation.drop_claim()
        if self._forced and host:
            return self._force.claim(host, self._wanted.node)
        refused = scope.results.get(steps.REFUSED) or ()
        if refused and host:
            raise exception.NoValidHost(reason=f'{refused[0]["host"]}: {refused[0]["error"]}')
        if 0 <= scope.world.conf.migrate_max_retries < len(refused):
            raise exception.MaxRetriesExceeded(instance_uuid=scope.instance_uuid)
        beside = self.allocation.held_beside()
        spec = self.spec(beside)
        spec.ignore_hosts = [self._force.source.host, *(each['host'] for each in refused)]
        return self.select(spec, beside=beside)[0]

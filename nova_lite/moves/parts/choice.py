"""The destination of a move: the scheduler's choice, or an alternate after a refusal."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Sequence
import json
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.clients import placement as placement_client
from nova_lite.db import rows
from nova_lite.db.api import host_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lifecycle import group_policies
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation as allocations
from nova_lite.objects import instance_group
from nova_lite.objects import request_spec
from nova_lite.objects import selection

LOG = log.getLogger(__name__)

# A note: the alternates of the destination, as plain values of Selections.
ALTERNATES = saga.Result('alternates', list[saga.Data])
# A note: {why hosts are waited for: since when, in seconds since 1970}.
WAITS_SINCE = saga.Result('waits_since', dict[str, float])


# How often the scheduler is asked if placement refuses the claims on the hosts that it chooses.
TRIES = 10
# A function of (request, providers with other allocations of the server) that changes the request.
Adapt: typing.TypeAlias = Callable[[request_spec.RequestSpec, Collection[str]], None]


def begin_move(
    spec: request_spec.RequestSpec, row: rows.Row, cell_uuid: str, *, ignored: Collection[str]
) -> None:
    """Change the stored request of a server into that of a move within its cell.

    row: of the server; ignored: names of hosts to which the server must not go
    """
    spec.force_hosts, spec.force_nodes, spec.num_instances = [], [], 1
    spec.ignore_hosts = list(ignored)
    spec.current_host, spec.current_cell = row.host, cell_uuid
    spec.requested_networks = neighbours.requested_networks(row.network_info)
    spec.destination().cell = cell_uuid


class Choice:
    """The destination of a saga.

    wanted: the saga's arguments
    adapt: function that changes the server's request for this saga
    may_retry: whether another host may be tried
    refusable: ids of steps whose refusal leads to another destination
    """

    def __init__(
        self,
        scope: scopes.Scope,
        allocation: allocations.Allocation,
        wanted: scopes.Arguments,
        *,
        adapt: Adapt = lambda spec, beside: None,
        may_retry: bool = False,
        refusable: Collection[str] = (),
    ) -> None:
        self.scope, self.allocation = scope, allocation
        self._wanted, self._adapt = wanted, adapt
        self._may_retry, self._refusable = may_retry, refusable

    @property
    def is_requested(self) -> bool:
        """Return whether the user has requested the host."""
        return bool(self._wanted.host)

    @property
    def found(self) -> selection.Selection:
        """Return the Selection of the destination."""
        return self.scope.results[steps.CHOOSE]

    def end(self, cell: Callable[[], server_cell.ServerCell] | None = None) -> scopes.End:
        """Return the destination as an End. cell: see End"""
        return scopes.End(self.scope, lambda: (self.found.service_host, self.found.nodename), cell)

    def choosing(self, **options: typing.Any) -> saga.Step:
        """Return the step that chooses a destination and claims its resources.

        If the saga claims them itself, the undo gives the source's allocation back to the server.

        options: see saga.Step. With `later`, another owner chooses again after the destination was
        recorded: its claim and its record replace the former ones
        """
        drop, harmless = self.allocation.drop_claim, self.allocation.claims
        return places.SCHEDULER.step(steps.CHOOSE, self.choose, drop, harmless=harmless, **options)

    def recording(
        self,
        step: str,
        record: Callable[[], None],
        forget: saga.Effect | None = None,
        *,
        dest: scopes.End,
        at: places.Place = places.SOURCE_RECORDS,
        **options: typing.Any,
    ) -> saga.Step:
        """Return the step that records the destination, and refuses a host that is not mapped.

        A program that deletes the mapping of a host or cell locks it and looks for records of moves
        in the cell. Either it finds the record of this step, or this step finds no mapping.
        The journal records the end of the step in the transaction that holds the mapping.

        step: its id; record: writes the migration to the cell of the destination
        at: that cell; options: see saga.Step
        """

        def hold_mapping(connection: sa.Connection) -> None:
            host_mappings.hold(connection, [dest.host], dest.cell.cell.id)

        return at.step(step, record, forget, transaction=hold_mapping, **options)

    def choose(self) -> selection.Selection:
        """Return the Selection of a claimed destination: the scheduler's, then alternates."""
        scope, refused = self.scope, steps.REFUSED in self.scope.results
        if scope.repeated or (refused and self.allocation.claims):
            # A claim whose reply or record was lost may be on another host than the one that is
            # chosen now, and may be what fills the only one.
            self.allocation.drop_claim()
        if refused:
            return self._alternate()
        beside = self.allocation.held_beside()
        found = self.select(self.spec(beside), beside=beside, alternates=self._may_retry)
        scope.results[ALTERNATES] = [alternate.as_dict() for alternate in found[1:]]
        return found[0]

    def spec(self, beside: Collection[str]) -> request_spec.RequestSpec:
        """Return the server's stored request, changed for a move, for the scheduler.

        beside: as of `held_beside` of the allocation
        """
        scope, row, wanted = self.scope, self.scope.latest(), self._wanted
        spec = scope.world.api_db.read(request_specs.get, scope.instance_uuid)
        begin_move(spec, row, scope.cell.uuid, ignored=wanted.ignore_hosts or ())
        neighbours.put_resource_requests_in(scope, spec, row)
        destination = spec.destination()
        destination.host, destination.node = wanted.host, wanted.node
        scope.results[steps.GROUP] = spec.group_uuid
        self._adapt(spec, beside)
        return spec

    def select(
        self,
        spec: request_spec.RequestSpec,
        *,
        beside: Collection[str],
        alternates: bool = False,
    ) -> list[selection.Selection]:
        """Choose and claim. Return Selections, the chosen one first.

        If the saga claims itself, and placement refuses that, the scheduler is asked again, for a
        choice by new data.
        beside: as of `held_beside` of the allocation
        """
        consumer = placement_client.Consumer(
            self.scope.instance_uuid, spec.project_id, spec.user_id
        )
        for attempt in range(TRIES):
            found = self._ask(spec, beside, alternates, fresh=attempt > 0)
            if self.allocation.claims or self._claim(consumer, found[0], beside):
                return found
        raise exception.NoValidHost(reason='placement has refused the claims on the chosen hosts')

    def _ask(
        self,
        spec: request_spec.RequestSpec,
        beside: Collection[str],
        alternates: bool,
        *,
        fresh: bool,
    ) -> list[selection.Selection]:
        scope = self.scope
        try:
            found = scope.world.scheduler.select_destinations(
                scope.ctxt,
                spec=spec,
                instance_uuids=[scope.instance_uuid],
                alternates=alternates,
                beside=sorted(beside),
                claims=self.allocation.claims,
                fresh=fresh,
            )
        except exception.NoValidHost as error:
            self._wait_for_hosts(error)
            raise
        return found[0]

    def _claim(
        self,
        consumer: placement_client.Consumer,
        chosen: selection.Selection,
        beside: Collection[str],
    ) -> bool:
        request = json.loads(chosen.allocation_request or '{}')
        return self.allocation.claim(consumer, request, beside)

    def _wait_for_hosts(self, error: exception.NoValidHost) -> None:
        """Raise HostsSilent, which repeats the step, while a host may be usable again soon."""
        silence = services.silence_of(error)
        if silence is None:
            return
        silent = services.HostsSilent(reason=error.message)
        silent.outage = silence != services.SILENT
        results, now = self.scope.results, runtime.timestamp()
        since = results.get(WAITS_SINCE) or {}
        results[WAITS_SINCE] = since = {silence: now, **since}
        if now - since[silence] <= services.wait_s(silence, self.scope.world.conf):
            raise silent from error

    def _alternate(self) -> selection.Selection:
        scope, results, row = self.scope, self.scope.results, self.scope.row()
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        while results[ALTERNATES]:
            first, *results[ALTERNATES] = results[ALTERNATES]
            alternate = selection.Selection.from_dict(first)
            if self._claim(consumer, alternate, self.allocation.held_beside()):
                host = alternate.service_host
                LOG.info('Retrying the move of server %s with alternate host %s', row.uuid, host)
                return alternate
        raise exception.MaxRetriesExceeded(instance_uuid=scope.instance_uuid)

    def group(self) -> instance_group.Group | None:
        """Return the server's group at the scheduler's decision, for group_places.check."""
        return group_policies.find(self.scope.world.api_db, self.scope.results.get(steps.GROUP))

    def admit(
        self,
        connection: sa.Connection,
        group: instance_group.Group | None,
        *,
        changes: rows.Values | None = None,
        columns: rows.Values | None = None,
        tasks: Sequence[str] | None = None,
    ) -> None:
        """Record the destination, unless the group of the server forbids it by now.

        group: result of `group`, read outside of this transaction
        changes: columns of the server; columns: further columns of the migration
        tasks: allowed task states of the server; None: those of the saga
        """
        scope = self.scope
        group_places.check(connection, scope.instance_uuid, self.found.service_host, group)
        expected = tasks or scope.tasks
        instances.update(connection, scope.instance_uuid, changes or {}, expect_task=expected)
        migrations.update(connection, scope.uuid, {**self.columns(connection), **(columns or {})})

    def columns(self, connection: sa.Connection) -> dict[str, typing.Any]:
        """Return the columns of the migration that name the destination."""
        host, node = self.found.service_host, self.found.nodename
        found = compute_nodes.find(connection, host, node)
        address = None if found is None else found.host_ip
        return {'dest_compute': host, 'dest_node': node, 'dest_host': address}

    def columns_of_failure(self, arrival: str) -> dict[str, typing.Any]:
        """Return the columns of a failed migration that name a host that may have the guest.

        arrival: the step that created the guest there
        """
        if arrival not in self.scope.not_undone:
            return {}
        return {'data': {migrations.LEFT: self.end().columns}}

    def go_back(self, step: saga.Step, error: Exception) -> str | None:
        """Return the step `choose` if a destination refuses or does not answer. Note the refusal.

        Return None if the step may not be refused or no other destination may be tried.
        """
        results = self.scope.results
        if step.id not in self._refusable or not self._may_retry:
            return None
        if not (getattr(error, 'reschedule', False) or getattr(error, 'transient', False)):
            return None
        refusal = steps.Refusal(host=self.found.service_host, error=str(error))
        results[steps.REFUSED] = [*(results.get(steps.REFUSED) or ()), refusal]
        return steps.CHOOSE

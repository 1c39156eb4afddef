"""The destination of a move: the scheduler's choice, or an alternate after a refusal."""

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
from nova_lite.db.api import request_specs
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lifecycle import group_policies
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.objects import instance_group
from nova_lite.objects import request_spec
from nova_lite.objects import selection

LOG = log.getLogger(__name__)

# A note: alternates of the destination, Selections as plain values.
ALTERNATES = saga.Result('alternates', list[saga.Data])
# A note: {why hosts are waited for: since when, in seconds since 1970}.
WAITS_SINCE = saga.Result('waits_since', dict[str, float])


class Choice(part.Part):
    """The destination of a saga."""

    def choose(self) -> selection.Selection:
        """Return the Selection of a claimed destination: the scheduler's, then alternates."""
        move, refused = self.move, steps.REFUSED in self.results
        if move.repeated or refused:
            # A claim whose reply was lost may be for another host than the one chosen now.
            move.drop_claim()
        if refused:
            return self._alternate()
        beside = move.held_beside()
        found = self.select(move.spec(beside), beside=beside, alternates=move.may_retry)
        self.results[ALTERNATES] = [alternate.as_dict() for alternate in found[1:]]
        return found[0]

    def stored_spec(self) -> request_spec.RequestSpec:
        """Return the server's stored request, changed for a move, for the scheduler."""
        move, row = self.move, self.move.row()
        spec = move.world.api_db.read(request_specs.get, move.instance_uuid)
        spec.force_hosts, spec.force_nodes, spec.num_instances = [], [], 1
        spec.ignore_hosts = list(move.arguments.ignore_hosts or ())
        spec.current_host, spec.current_cell = row.host, move.cell.uuid
        spec.requested_networks = neighbours.requested_networks(row.network_info)
        neighbours.put_resource_requests_in(move, spec, row)
        destination = spec.destination()
        destination.cell, destination.host = move.cell.uuid, move.arguments.host
        destination.node = move.arguments.node
        self.results[steps.GROUP] = spec.group_uuid
        return spec

    def select(
        self,
        spec: request_spec.RequestSpec,
        *,
        beside: Collection[str],
        alternates: bool = False,
    ) -> list[selection.Selection]:
        """Ask the scheduler to choose and claim. Return Selections, the chosen one first.

        beside: as of `held_beside` of the saga
        """
        move = self.move
        try:
            found = move.world.scheduler.select_destinations(
                move.ctxt,
                spec=spec,
                instance_uuids=[move.instance_uuid],
                alternates=alternates,
                beside=sorted(beside),
            )
        except exception.NoValidHost as error:
            self._wait_for_hosts(error)
            raise
        return found[0]

    def _wait_for_hosts(self, error: exception.NoValidHost) -> None:
        """Raise HostsSilent, which repeats the step, while a host may be usable again soon."""
        silence = services.silence_of(error)
        if silence is None:
            return
        silent = services.HostsSilent(reason=error.message)
        silent.outage = silence != services.SILENT
        now = runtime.timestamp()
        since = self.results.get(WAITS_SINCE) or {}
        self.results[WAITS_SINCE] = since = {silence: now, **since}
        if now - since[silence] <= services.wait_s(silence, self.move.world.conf):
            raise silent from error

    def _alternate(self) -> selection.Selection:
        move, row, placement = self.move, self.move.row(), self.move.world.placement
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        while self.results[ALTERNATES]:
            first, *self.results[ALTERNATES] = self.results[ALTERNATES]
            alternate = selection.Selection.from_dict(first)
            request = json.loads(alternate.allocation_request or '{}')
            if placement.claim(move.ctxt, consumer, request, beside=move.held_beside()):
                host = alternate.service_host
                LOG.info('Retrying the move of server %s with alternate host %s', row.uuid, host)
                return alternate
        raise exception.MaxRetriesExceeded(instance_uuid=move.instance_uuid)

    def group(self) -> instance_group.Group | None:
        """Return the server's group when the scheduler was asked, for group_places.check."""
        return group_policies.find(self.move.world.api_db, self.results.get(steps.GROUP))

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

        group: of `group`, read outside of this transaction
        changes: columns of the server; columns: further ones of the migration
        tasks: that the server may have; None: those of the saga
        """
        move = self.move
        group_places.check(connection, move.instance_uuid, move.dest_host, group)
        expected = tasks or move.tasks
        instances.update(connection, move.instance_uuid, changes or {}, expect_task=expected)
        migrations.update(connection, move.uuid, {**self.columns(connection), **(columns or {})})

    def columns(self, connection: sa.Connection) -> dict[str, typing.Any]:
        """Return the columns of the migration that name the destination."""
        dest = self.move.dest
        found = compute_nodes.find(connection, dest['host'], dest['node'])
        address = None if found is None else found.host_ip
        return {'dest_compute': dest['host'], 'dest_node': dest['node'], 'dest_host': address}

    def columns_of_failure(self, arrival: str) -> dict[str, typing.Any]:
        """Return the columns of a failed migration that name a host which may have the guest.

        arrival: the step that created the guest there
        """
        move = self.move
        return {'data': {migrations.LEFT: move.dest}} if arrival in move.not_undone else {}

    def go_back(self, step: saga.Step, error: Exception) -> str | None:
        """Return the step `choose` if a destination refuses or does not answer. Note the refusal.

        Return None if the step may not be refused or no other destination may be tried.
        """
        move = self.move
        if step.id not in move.refusable or not move.may_retry:
            return None
        if not (getattr(error, 'reschedule', False) or getattr(error, 'transient', False)):
            return None
        refusal = steps.Refusal(host=move.dest_host, error=str(error))
        self.results[steps.REFUSED] = [*(self.results.get(steps.REFUSED) or ()), refusal]
        return steps.CHOOSE

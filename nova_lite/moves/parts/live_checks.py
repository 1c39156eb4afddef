"""Checks whether a server can migrate live from its host to the destination.

Nothing is changed on either host before both have agreed (reference/nova/moves 4.1).
"""

import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_turns
from nova_lite.moves import asking
from nova_lite.moves import part
from nova_lite.moves import places

if typing.TYPE_CHECKING:
    from nova_lite.moves import live_migrate
    from nova_lite.moves import move as moves


class Facts(saga.Answer):
    """The destination's reply. block_migration: disks must be copied"""

    facts: saga.Data
    block_migration: bool


class Limit(saga.Answer):
    """The source's reply.

    max_concurrent: how many live migrations may leave it at once, 0 for any number; None of a
        host that does not say it
    """

    max_concurrent: int | None = None


CHECK_DEST = saga.Result('check-destination', Facts)
CHECK_SOURCE = saga.Result('check-source', Limit)
# A note: the hosts have agreed.
CHECKED = saga.Result('checked', bool)
# A note: the migration may leave its host.
TURN = saga.Result('turn', bool)
DEST_EVENT = 'compute_check_can_live_migrate_destination'
SOURCE_EVENT = 'compute_check_can_live_migrate_source'
MOVABLE = (states.PowerState.RUNNING, states.PowerState.PAUSED)


class LiveChecks(part.Part):
    """The checks of a LiveMigration."""

    move: 'live_migrate.LiveMigration'

    def of_server(self) -> saga.Step:
        """Return the step that checks that the guest runs and its host is up."""
        return places.SOURCE_RECORDS.step('check-server', self._check_server, skips=True)

    def _check_server(self) -> saga.Skipped:
        move = self.move
        row, known = asking.read(move, instances.get, move.instance_uuid, hosts=[move.source_host])
        if row.power_state not in MOVABLE:
            raise exception.InstanceInvalidState(
                action='os-migrateLive',
                instance_id=row.uuid,
                attr='power_state',
                state=row.power_state,
            )
        asking.require_up_or_fail(move, move.source_host, known)
        # Nothing was changed, so the check may be repeated.
        return saga.Skipped()

    def of_hosts(self) -> saga.Steps:
        """Return the steps that ask both hosts."""
        return (
            places.DEST_HOST.step(
                CHECK_DEST,
                self._check_dest,
                lambda: self._end_refused(DEST_EVENT, self.move.dest_host),
                later=True,
                calls=('check_can_live_migrate_destination',),
            ),
            places.SOURCE_HOST.step(
                CHECK_SOURCE,
                self._check_source,
                lambda: self._end_refused(SOURCE_EVENT, self.move.source_host),
                later=True,
                calls=('check_can_live_migrate_source',),
            ),
        )

    def _check_dest(self) -> asking.Reply:
        move = self.move
        (row, node), known = move.write(self._begin_dest)
        return move.relocation.ask(
            move.compute.check_can_live_migrate_destination,
            **move.dest,
            instance=move.instance(row),
            source=self._source_facts(node),
            key=move.key(CHECK_DEST),
            known=known,
        )

    def _begin_dest(
        self, connection: sa.Connection
    ) -> tuple[tuple[rows.Row, rows.Row | None], asking.Known]:
        """Return the server and the source's node, and the destination's service."""
        host = self.move.dest_host
        self.move.note_progress(connection, started=(DEST_EVENT, host))
        return asking.with_services(connection, self._server_and_node, hosts=[host])

    def _server_and_node(self, connection: sa.Connection) -> tuple[rows.Row, rows.Row | None]:
        move = self.move
        row = instances.get(connection, move.instance_uuid)
        return row, compute_nodes.find(connection, move.source_host, move.began.node)

    def _source_facts(self, node: rows.Row | None) -> saga.Data:
        """Return the facts of the source's hypervisor from the records, in a driver's form."""
        if node is None:
            raise exception.ComputeNodeNotFound(node=self.move.began.node)
        return {
            'hypervisor_hostname': node.hypervisor_hostname,
            'hypervisor_type': node.hypervisor_type,
            'hypervisor_version': node.hypervisor_version,
            'architecture': node.cpu_info.get('arch'),
            'host_ip': node.host_ip,
            'booted_at': 0.0,
            'cpu_info': node.cpu_info,
            'supported_instances': node.supported_instances,
            'traits': [],
        }

    def _check_source(self) -> asking.Reply:
        move = self.move
        row, known = move.write(self._begin_source)
        return move.relocation.ask(
            move.compute.check_can_live_migrate_source,
            host=move.source_host,
            instance=move.instance(row),
            dest=self.results[CHECK_DEST].facts,
            key=move.key(CHECK_SOURCE),
            known=known,
        )

    def _begin_source(self, connection: sa.Connection) -> tuple[rows.Row, asking.Known]:
        """Return the server, and the source's service."""
        move, host = self.move, self.move.source_host
        ended, started = (DEST_EVENT, move.dest_host), (SOURCE_EVENT, host)
        move.note_progress(connection, ended=ended, started=started)
        return asking.with_services(connection, instances.get, move.instance_uuid, hosts=[host])

    def _end_refused(self, event: str, host: str) -> None:
        self.move.write(self.move.events.end_refused, event, host)

    def accepting(self) -> saga.Step:
        """Return the step that ends the checks: from here on the hosts work."""
        return places.SOURCE_RECORDS.step('accept-destination', self._accept, later=True)

    def _accept(self) -> None:
        has_turn = self._accept_in()
        self.results[CHECKED] = True
        if has_turn:
            self.results[TURN] = True

    @part.transaction
    def _accept_in(self, connection: sa.Connection) -> bool:
        """Return whether it is the turn of the migration, if the source has said its limit."""
        move, agreed = self.move, self.results.get(CHECK_SOURCE)
        move.note_progress(connection, ended=(SOURCE_EVENT, move.source_host))
        move.events.end(connection, move.conductor_event, None)
        if agreed is None or agreed.max_concurrent is None:
            return False
        found = live_turns.take(
            connection,
            move.ctxt,
            move.source_host,
            move.migration_uuid,
            limit=agreed.max_concurrent,
        )
        return bool(found['turn'])


def require_fit(move: 'moves.AnyMove', row: rows.Row, node: rows.Row) -> None:
    """Raise MigrationPreCheckError for the server's own host and for too little memory."""
    if node.host == row.host:
        raise exception.MigrationPreCheckError(reason=f'the server is already on host {row.host}')
    used = move.read(host_usage.by_node).get((node.host, node.hypervisor_hostname))
    free_mb = node.memory_mb - node.reserved_memory_mb - (used[2] if used else 0)
    if free_mb < row.memory_mb:
        raise exception.MigrationPreCheckError(
            reason=f'host {node.host} does not have enough free memory for the server'
        )

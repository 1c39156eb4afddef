"""Checks whether a server can migrate live from its host to the destination.

Nothing is changed on either host before both have agreed (reference/nova/moves 4.1).
"""

from collections.abc import Iterator
import contextlib
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import live_turns
from nova_lite.db.cell import migrations
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.moves import asking
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import progress_records
from nova_lite.objects import instance as instance_objects
from nova_lite.virt import pci


class Facts(saga.Answer):
    """The destination's reply. block_migration: disks must be copied"""

    facts: saga.Data
    block_migration: bool


class Limit(saga.Answer):
    """The source's reply.

    max_concurrent: number of live migrations that may leave the source at the same time; 0: no
        limit; None: the host has not replied it
    """

    max_concurrent: int | None = None


CHECK_DEST = saga.Result('check-destination', Facts)
CHECK_SOURCE = saga.Result('check-source', Limit)
# A note: the hosts have agreed.
CHECKED = saga.Result('checked', bool)
# A note: the migration may leave its host now.
TURN = saga.Result('turn', bool)
DEST_EVENT = 'compute_check_can_live_migrate_destination'
SOURCE_EVENT = 'compute_check_can_live_migrate_source'
MOVABLE = (states.PowerState.RUNNING, states.PowerState.PAUSED)


class LiveChecks:
    """The checks of a live migration.

    conductor_event: the event that represents the super-conductor's work, which then ends
    """

    def __init__(
        self,
        scope: scopes.Scope,
        route: scopes.Route,
        progress: progress_records.Progress,
        conductor_event: str,
    ) -> None:
        self.scope, self._source, self._dest = scope, route.source, route.dest
        self._progress, self._conductor_event = progress, conductor_event

    def of_server(self) -> saga.Step:
        """Return the step that checks that the guest runs and its host is up."""
        return places.SOURCE_RECORDS.step('check-server', self._check_server, skips=True)

    def _check_server(self) -> saga.Skipped:
        scope, host = self.scope, self._source.host
        row, known = asking.read(scope, instances.get, scope.instance_uuid, hosts=[host])
        require_running_guest(row)
        asking.require_up_or_fail(scope, host, known)
        require_movable_devices(row)
        # The check has changed nothing, so it may be repeated.
        return saga.Skipped()

    def of_hosts(self) -> saga.Steps:
        """Return the steps that check with both hosts."""
        return (
            places.DEST_HOST.step(
                CHECK_DEST,
                self._check_dest,
                lambda: self._end_refused(DEST_EVENT, self._dest.host),
                later=True,
                calls=('check_can_live_migrate_destination',),
            ),
            places.SOURCE_HOST.step(
                CHECK_SOURCE,
                self._check_source,
                lambda: self._end_refused(SOURCE_EVENT, self._source.host),
                later=True,
                calls=('check_can_live_migrate_source',),
            ),
        )

    def _check_dest(self) -> asking.Reply:
        (row, node), known = self.scope.write(self._begin_dest)
        return self.ask(
            self.scope.compute.check_can_live_migrate_destination,
            **self._dest.columns,
            instance=instance_objects.Instance.from_row(row),
            source=self._source_facts(node) | _of_mdevs(row, node),
            key=self.scope.key(CHECK_DEST),
            known=known,
        )

    def _begin_dest(
        self, connection: sa.Connection
    ) -> tuple[tuple[rows.Row, rows.Row | None], asking.Known]:
        """Return the server and the source's node, and the destination's service."""
        host = self._dest.host
        self._progress.note(connection, started=(DEST_EVENT, host))
        return asking.with_services(connection, self._server_and_node, hosts=[host])

    def _server_and_node(self, connection: sa.Connection) -> tuple[rows.Row, rows.Row | None]:
        row = instances.get(connection, self.scope.instance_uuid)
        return row, compute_nodes.find(connection, self._source.host, self._source.node)

    def _source_facts(self, node: rows.Row | None) -> saga.Data:
        """Return the facts of the source's hypervisor from the records, in a driver's form."""
        if node is None:
            raise exception.ComputeNodeNotFound(node=self._source.node)
        return facts_of(node)

    def _check_source(self) -> asking.Reply:
        row, known = self.scope.write(self._begin_source)
        return self.ask(
            self.scope.compute.check_can_live_migrate_source,
            host=self._source.host,
            instance=instance_objects.Instance.from_row(row),
            dest=self.scope.results[CHECK_DEST].facts,
            key=self.scope.key(CHECK_SOURCE),
            known=known,
        )

    def ask(self, method: asking.Method, **arguments: typing.Any) -> asking.Reply:
        """Call a method of a host that is up. Return its reply, see `unless_evacuated`."""
        with self.unless_evacuated(arguments['host']):
            return asking.ask_one_that_is_up(self.scope, method, **arguments)

    @contextlib.contextmanager
    def unless_evacuated(self, host: str) -> Iterator[None]:
        """Raise ServiceIsDown in place of Unavailable if an evacuation of the server was requested.

        Unavailable repeats the step, for which the evacuation would wait. A host that may be well,
        because its cell receives no heartbeats, is awaited.
        """
        scope = self.scope
        try:
            yield
        except exception.Unavailable:
            found = migrations.find, scope.migration_uuid
            migration, known = asking.read(scope, *found, hosts=[host])
            if migration is not None and live_migrations.EVACUATED in migration.data:
                asking.require_up_or_fail(scope, host, known)
            raise

    def _begin_source(self, connection: sa.Connection) -> tuple[rows.Row, asking.Known]:
        """Return the server, and the source's service."""
        host, uuid = self._source.host, self.scope.instance_uuid
        ended, started = (DEST_EVENT, self._dest.host), (SOURCE_EVENT, host)
        self._progress.note(connection, ended=ended, started=started)
        return asking.with_services(connection, instances.get, uuid, hosts=[host])

    def _end_refused(self, event: str, host: str) -> None:
        self.scope.write(self._progress.events.end_refused, event, host)

    def accepting(self) -> saga.Step:
        """Return the step that ends the checks, after which the hosts begin to work."""
        return places.SOURCE_RECORDS.step('accept-destination', self._accept, later=True)

    def _accept(self) -> None:
        has_turn = self._accept_in()
        self.scope.results[CHECKED] = True
        if has_turn:
            self.scope.results[TURN] = True

    @scopes.transaction
    def _accept_in(self, connection: sa.Connection) -> bool:
        """Return whether the migration may leave now, if the source has replied its limit."""
        scope, host = self.scope, self._source.host
        agreed = scope.results.get(CHECK_SOURCE)
        self._progress.note(connection, ended=(SOURCE_EVENT, host))
        self._progress.events.end(connection, self._conductor_event, None)
        if agreed is None or agreed.max_concurrent is None:
            return False
        found = live_turns.take(
            connection,
            scope.ctxt,
            host,
            scope.migration_uuid,
            limit=agreed.max_concurrent,
        )
        return bool(found['turn'])


def facts_of(node: rows.Row) -> saga.Data:
    """Return the facts of a node's hypervisor from its record, in a driver's form."""
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


def _of_mdevs(row: rows.Row, node: rows.Row | None) -> saga.Data:
    """Return the types of the virtual GPUs that the server holds, for the destination."""
    found = mdev_types(row.uuid, node.numa if node else None)
    return {'mdev_types': found} if found else {}


def mdev_types(instance_uuid: str, numa: saga.Data | None) -> list[str]:
    """Return the types of the virtual GPUs that a server holds. numa: as its node reports it"""
    parts = (numa or {}).get('guests', {}).get(instance_uuid, ())
    held = (address for part in parts for _name, address in part.get('devices', ()))
    return sorted({kind for kind in map(pci.mdev_type, held) if kind})


def require_running_guest(row: rows.Row) -> None:
    """Raise InstanceInvalidState for a server whose guest neither runs nor is paused."""
    if row.power_state not in MOVABLE:
        raise exception.InstanceInvalidState(
            action='os-migrateLive',
            instance_id=row.uuid,
            attr='power_state',
            state=row.power_state,
        )


def require_movable_devices(row: rows.Row) -> None:
    """Raise MigrationPreCheckError for a server with PCI devices that cannot migrate live."""
    if not guest_pci.are_live_migratable(row.flavor.get('devices') or ()):
        raise exception.MigrationPreCheckError(
            reason='non-VIF related PCI requests for instance are not allowed for live migration.'
        )


def require_fit(scope: scopes.Scope, row: rows.Row, node: rows.Row) -> None:
    """Raise MigrationPreCheckError for the server's own host and for too little memory."""
    if node.host == row.host:
        raise exception.MigrationPreCheckError(reason=f'the server is already on host {row.host}')
    used = scope.read(host_usage.by_node).get((node.host, node.hypervisor_hostname))
    free_mb = node.memory_mb - node.reserved_memory_mb - (used[2] if used else 0)
    if free_mb < row.memory_mb:
        raise exception.MigrationPreCheckError(
            reason=f'host {node.host} does not have enough free memory for the server'
        )

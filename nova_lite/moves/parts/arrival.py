"""The guest of a resized server is created on its destination, with another flavor.

Moves within a cell and between cells share these effects.
"""

import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move_records
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import ports as port_parts
from nova_lite.moves.parts import progress_records
from nova_lite.moves.parts import volumes as volume_parts
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import instance as instance_objects

Task = states.TaskState
Status = states.MigrationStatus


class New(typing.NamedTuple):
    """A guest that a step creates: the id of the step, and the new flavor as plain values.

    is_elsewhere: whether it is in another cell, whose record of the server is a copy
    """

    step: saga.Result[answers.Guest]
    flavor: saga.Data
    is_elsewhere: bool = False


class Arrival:
    """The destination of a route. guest: the guest to create there"""

    def __init__(
        self,
        scope: scopes.Scope,
        route: scopes.Route,
        progress: progress_records.Progress,
        guest: New,
        *,
        ports: port_parts.Ports,
        volumes: volume_parts.Volumes,
    ) -> None:
        self.scope, self.guest = scope, guest
        self._source, self._dest, self._progress = route.source, route.dest, progress
        self._ports, self._volumes = ports, volumes

    def _instance(self, row: rows.Row) -> instance_objects.Instance:
        """Return the Instance as it will be on the destination."""
        flavor = flavor_objects.Flavor(**self.guest.flavor)
        return instance_objects.Instance.from_row(row, flavor=flavor)

    def claiming(self) -> saga.Step:
        """Return the step that claims resources on the destination."""
        return places.DEST_HOST.step(
            steps.CLAIM,
            self.claim,
            self._drop_claim,
            later=True,
            calls=('drop_move_claim_at_destination', 'prep_resize'),
        )

    def claim(self) -> None:
        """Claim resources on the destination, and connect the volumes there."""
        scope, dest = self.scope, self._dest
        devices, known = dest.cell.read(
            asking.with_services, server_cell.devices, scope.instance_uuid, hosts=[dest.host]
        )
        row = scope.require_row(dest.cell.latest())
        asking.require_up_or_retry(scope, dest.host, known=known)
        self._volumes.call(
            lambda arriving: dest.compute.prep_resize(
                scope.ctxt, instance=self._instance(row), block_devices=arriving, **dest.columns
            ),
            # The copied records in that cell may be older than the new attachments.
            None if self.guest.is_elsewhere else devices,
        )

    def _drop_claim(self) -> None:
        """Undo `claim`. A host that is down has lost the claim in any case."""
        scope, dest = self.scope, self._dest
        if dest.cell.is_up(dest.host):
            drop = dest.compute.drop_move_claim_at_destination
            drop(scope.ctxt, instance_uuid=scope.instance_uuid, **dest.columns)

    def make(
        self, method: asking.Method, events: tuple[str, str], **arrival: typing.Any
    ) -> asking.Reply:
        """Create the guest on the destination. events: the event that ends, and the next event"""
        scope, dest = self.scope, self._dest
        (row, devices), known = self._begin(events)
        vm_state = row.vm_state
        if self.guest.is_elsewhere:
            vm_state = scope.results[steps.MIGRATION].vm_state
            row, known = dest.cell.read(
                asking.with_services,
                instances.get,
                scope.instance_uuid,
                hidden=True,
                hosts=[dest.host],
            )
        asking.require_up_or_retry(scope, dest.host, known=known)
        arrival |= {
            'node': dest.node,
            'power_on': vm_state == states.VmState.ACTIVE,
            'key': scope.key(self.guest.step),
        }
        reply = self._volumes.call(
            lambda arriving: method(
                scope.ctxt,
                host=dest.host,
                instance=self._instance(row),
                block_devices=arriving,
                arrival=arrival,
            ),
            devices,
        )
        return asking.answer(reply, dest.host)

    @scopes.transaction
    def _begin(
        self, connection: sa.Connection, events: tuple[str, str]
    ) -> tuple[tuple[rows.Row, server_cell.Devices], asking.Known]:
        """Record that the destination works.

        Return the server and its block devices in the saga's cell, and the destination's service if
        the destination is in this cell.
        """
        self._progress.note(
            connection,
            status=Status.POST_MIGRATING,
            changes={'task_state': str(Task.RESIZE_FINISH)},
            ended=(events[0], self._source.host),
            started=(events[1], self._dest.host),
            expect=(Task.RESIZE_MIGRATING, Task.RESIZE_FINISH),
        )
        hosts = () if self.guest.is_elsewhere else (self._dest.host,)
        found, uuid = server_cell.server_and_devices, self.scope.instance_uuid
        return asking.with_services(connection, found, uuid, hosts=hosts)

    def destroy(self) -> asking.Reply:
        """Undo `make`."""
        asked, uuid = self._dest.asked(self.guest.step), self.scope.uuid
        return asking.ask(self.scope, self._dest.compute.revert_resize, **asked, move=uuid)

    def columns(self, former: saga.Data, recorded: session.Jsons | None) -> saga.Data:
        """Return the columns of a server on its destination.

        former: its flavor before; recorded: network information of its row, locked or sealed
        """
        return {
            **self._ports.columns(steps.ACTIVATE, recorded),
            **self._dest.columns,
            'old_flavor': former,
            'power_state': self.scope.results[self.guest.step].power_state,
            'vm_state': str(states.VmState.RESIZED),
            'task_state': None,
            'launched_at': runtime.naive_now(),
            **move_records.flavor_columns(self.guest.flavor),
        }

    def record(self, connection: sa.Connection) -> None:
        """Record, in the destination's cell, the attachments and the end of the migration."""
        connected = self.scope.results[self.guest.step].block_devices
        move_records.change_devices(connection, self._volumes.reserved, connected)
        migrations.update(connection, self.scope.uuid, {'status': str(Status.FINISHED)})

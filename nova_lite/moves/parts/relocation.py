"""A server moves to another host of its cell and keeps its flavor: its ports, volumes and record.

Source: reference/nova/moves 4.1 and 5.
"""

from collections.abc import Callable
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import move_records
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import choice as choices
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import progress_records
from nova_lite.moves.parts import volumes

BEGIN = saga.Result('record-move', steps.Began)
# A note: the destination is recorded.
RECORDED = saga.Result('recorded', bool)
SWITCH = 'switch-host-in-record'


class Relocation:
    """The steps that move a server from the source of a route to its chosen destination."""

    def __init__(
        self,
        scope: scopes.Scope,
        route: scopes.Route,
        choice: choices.Choice,
        progress: progress_records.Progress,
    ) -> None:
        self.scope, self.route = scope, route
        self._choice, self._progress = choice, progress
        self.ports = ports.Ports(scope, route, lambda: scope.results[BEGIN].vm_state)
        self.volumes = volumes.Volumes(
            scope, steps.RESERVE, dest=route.dest, needless=lambda: route.stays
        )

    def recording(self, columns: rows.Values | None = None, **options: typing.Any) -> saga.Step:
        """Return the step that records the destination.

        columns: columns of the migration that change with it; options: see saga.Step
        """

        def record() -> None:
            scope, choice = self.scope, self._choice
            scope.write(choice.admit, choice.group(), columns=columns or {})
            scope.results[RECORDED] = True

        return self._choice.recording(
            steps.RECORD, record, self._forget, dest=self.route.dest, harmless=True, **options
        )

    def _forget(self) -> None:
        """Keep the recorded destination, unless another destination may follow."""
        if self.scope.going_back and not self._choice.is_requested:
            self.scope.write(migrations.update, self.scope.uuid, migrations.NOWHERE)

    def switching(
        self,
        made: saga.Result[typing.Any],
        *,
        columns: Callable[[], rows.Values] = dict,
        then: Callable[[sa.Connection], None] = lambda connection: None,
        **options: typing.Any,
    ) -> saga.Step:
        """Return the pivot: it moves the server's record to the destination.

        made: the step whose result has the connections of the volumes to the destination
        columns: function that returns further columns of the server
        then: function of the connection that records more in the transaction
        options: see saga.Step
        """

        def switch(connection: sa.Connection) -> None:
            scope, route = self.scope, self.route
            row = scope.require_row(instances.find(connection, scope.instance_uuid))
            if row.host == route.dest.host:
                # The switch is repeated. The server may have been deleted since.
                return
            if row.deleted or row.hidden:
                raise exception.InstanceNotFound(instance_id=row.uuid)
            zone = self._choice.found.availability_zone
            values = {**route.dest.columns, 'availability_zone': zone, **columns()}
            instances.update(
                connection,
                row.uuid,
                values,
                expect_task=scope.tasks,
                expect_host=(route.source.host,),
            )
            connected = scope.results[made].block_devices
            move_records.change_devices(connection, self.volumes.reserved, connected)
            then(connection)

        return places.SOURCE_RECORDS.step(
            SWITCH, lambda: self.scope.write(switch), pivot=True, **options
        )

    def settle(self, connection: sa.Connection, columns: rows.Values) -> None:
        """Set the last columns of a server that has arrived, and clear its task."""
        row = instances.held(connection, self.scope.instance_uuid)
        if row is None or instances.is_gone(row):
            return
        info = self.ports.columns(steps.ACTIVATE, row.network_info)
        values = {'progress': 0, **info, **columns}
        move_records.change_reset(connection, row.uuid, values)
        self._progress.clear_task(connection, values)

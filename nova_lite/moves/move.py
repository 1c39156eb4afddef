"""Base of all moves: their records, allocations, destination and failure.

A move reads the server's row again in each step, because the user may delete the server at
any time. The step that notices a deletion undoes the move. An undo that restored something of
a deleted server removes it again, and the host deletes the rest.
Source: contributor/architecture, Sagas; reference/nova/moves 3 and 6.
"""

import functools
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.moves import asking
from nova_lite.moves import former_ids
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves import world as worlds
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import events
from nova_lite.objects import instance as instance_objects

LOG = log.getLogger(__name__)


class Arguments(saga.Value):
    """Arguments of all moves.

    cell: uuid of the server's cell; order: see db.cell.moves
    migration_uuid: default: the saga's uuid
    host, node: the requested destination
    """

    cell: str
    order: saga.Data
    migration_uuid: str | None = None
    host: str | None = None
    node: str | None = None
    ignore_hosts: list[str] | None = None


class Move(saga.Saga, typing.Generic[steps.Found]):
    """Base class of moves.

    tasks: the task states that this saga sets, and may clear
    refusable: ids of steps whose refusal leads to another destination
    harmless: ids of steps whose undo may fail without breaking the server
    first: id of the first step
    named: arguments that notifications of this saga contain
    faults: whether a failure is a fault of the server, which has a task meanwhile
    """

    world: worlds.World
    arguments: Arguments
    former_ids = former_ids.IDS
    tasks = ()
    refusable = ()
    harmless = ()
    first: saga.Result[steps.Found]
    named = ()
    faults = True
    events = part.Of(events.Events)
    choice = part.Of(choice.Choice)

    # ---- records ----

    @functools.cached_property
    def cell(self):
        """Return the server's cell at the begin of the move."""
        return self.world.cells.get(self.arguments.cell)

    @property
    def migration_uuid(self):
        """Return the uuid of the migration record."""
        return self.arguments.migration_uuid or self.uuid

    @property
    def here(self):
        """Return the cell of the server as steps use it."""
        return server_cell.ServerCell(self, self.cell)

    @property
    def there(self):
        """Return the same of the destination's cell."""
        return self.here

    @property
    def compute(self):
        return self.here.compute

    def read(self, function, *args, **kwargs):
        return self.here.read(function, *args, **kwargs)

    def write(self, function, *args, **kwargs):
        """Run a transaction of the cell, which is refused if the epoch of the saga is old."""
        return self.here.write(function, *args, **kwargs)

    def write_api(self, function, *args, **kwargs):
        """Run a transaction of the API database, which is refused if the epoch is old."""
        return self.world.api_db.write(self._held, function, args, kwargs)

    def _held(self, connection, function, args, kwargs):
        sagas.hold(connection, self.ctxt)
        return function(connection, *args, **kwargs)

    def change_spec(self, **values):
        """Change the server's stored request, if there is one."""
        self.write_api(move_records.change_spec, self.instance_uuid, **values)

    def row(self):
        """Return the server's row. Raise InstanceNotFound."""
        return self.read(instances.get, self.instance_uuid)

    def find(self):
        """Return the server's row in any state, or None."""
        return self.read(instances.find, self.instance_uuid)

    def is_gone(self):
        """Return whether the server is deleted or is being deleted."""
        return instances.is_gone(self.find())

    def require_task(self, row):
        """Raise StateChanged if a server has left this move. row: may be None"""
        task = row.task_state if row is not None and not row.deleted else 'deleted'
        if task not in self.tasks:
            detail = f'found task {task}'
            raise exception.StateChanged(what='Instance', key=self.instance_uuid, detail=detail)

    def require_there(self, row):
        """Return the row of a server. Raise InstanceNotFound if it is gone, see `is_gone`."""
        if instances.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def devices(self):
        """Return the server's block devices as objects."""
        return self.here.devices()

    def ask(self, method, **arguments):
        """Call a method of a compute, see `asking`. Return a Pending, or the reply."""
        return asking.ask(self, method, arguments)

    def asked(self, host, node, step):
        """Return the arguments that name a host, its node, the server and a step's key."""
        own = {'instance_uuid': self.instance_uuid, 'key': self.key(step)}
        return {'host': host, 'node': node, **own}

    def at_source(self: 'Move[steps.Began]', step):
        """Return them for the host that the server was on."""
        return self.asked(self.began.host, self.began.node, step)

    def at_dest(self, step):
        """Return them for the destination."""
        return self.asked(**self.dest, step=step)

    @staticmethod
    def instance(row, **changes):
        """Return the Instance of a row. changes: fields with other values"""
        made = instance_objects.Instance.from_row(row)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    # ---- step: begin ----

    @part.transaction
    def begin(self, connection):
        """Repeat the API's transaction, which may not have happened, and add our records."""
        moves.begin(connection, self.ctxt, self.instance_uuid, self.arguments.order)
        self.events.name_subject(connection)
        return self.record_begin(connection, instances.find(connection, self.instance_uuid))

    @property
    def began(self) -> steps.Found:
        """Return the result of `record_begin`."""
        return self.results[self.first]

    @property
    def has_begun(self):
        """Return whether the first step is done."""
        return self.first in self.results

    def record_begin(self, connection, row):
        """Record the begin of a kind of move. Return the result of the first step.

        row: the server's, which may be gone already (`instances.is_gone`)
        """

    @part.transaction
    def give_up(self, connection):
        """Undo `begin`: record the failure and clear the server's task."""
        if not moves.has_begun(connection, self.ctxt, self.instance_uuid, self.arguments.order):
            return
        row = instances.find(connection, self.instance_uuid)
        gone = instances.is_gone(row)
        self.record_undo(connection, None if gone else row)
        if self.faults and not gone:
            self._free(connection, row)
        self.events.end_all(connection, self.error)

    def record_undo(self, connection, row):
        """Record the undo of a kind of move. row: None if the server is gone

        A migration that the user's request claimed gets its former status.
        """
        claims = self.arguments.order.get('claims')
        if claims:
            migrations.update(connection, claims['uuid'], {'status': claims['from'][0]})

    def _free(self, connection, row):
        """Clear the task and add a fault. Set a server that could not be restored to ERROR."""
        changes = self.changes_of_failure(row)
        if set(self.not_undone) - set(self.harmless):
            changes = {**changes, 'vm_state': states.VmState.ERROR}
        first = self.arguments.order['changes'].get('task_state')
        self.clear_task(connection, changes, tasks=(*self.tasks, first))
        self.add_fault(connection, self.error)

    def clear_task(self, connection, changes, *, tasks=None):
        """Clear the task and change columns, unless another request has set the task.

        tasks: the task states to clear; default: this saga's
        """
        uuid, changes = self.instance_uuid, {'task_state': None, **changes}
        try:
            self.change(connection, changes, tasks=tasks)
        except exception.TransitionRefused:
            # A defect: without this the server would keep its task forever.
            LOG.exception('Cannot restore server %s. Its status is ERROR.', uuid)
            lost = {**changes, 'vm_state': states.VmState.ERROR}
            instances.force(connection, uuid, lost, expect_task=tasks or self.tasks)

    @part.transaction
    def give_back(self, connection):
        """Clear the task and end the action."""
        self.clear_task(connection, {})
        self.events.end_all(connection)

    def change(self, connection, changes, *, tasks=None):
        """Change columns of the server. Return False if another request has set its task.

        tasks: as of `clear_task`
        """
        uuid = self.instance_uuid
        try:
            instances.update(connection, uuid, changes, expect_task=tasks or self.tasks)
        except exception.StateChanged as error:
            LOG.info(
                'Server %s was changed by another request; not updating its state: %s', uuid, error
            )
            return False
        return True

    def changes_of_failure(self, row):
        """Return the columns of the server that an undo restores."""
        return {}

    def shown(self, error):
        """Return the error that the user is shown for an error, or None."""
        return error

    def add_fault(self, connection, error):
        """Add a fault to the server. error: as Saga.error"""
        if self.shown(error):
            texts = {'message': error['message'], 'details': error['traceback']}
            instances.add_fault(connection, self.instance_uuid, code=500, **texts)

    # ---- telling how far it is ----

    def note_progress(
        self, connection, *, status=None, changes=None, started=None, ended=None, expect=None
    ):
        """Record the progress of the move.

        status: of the migration; changes: columns of the server, whose task must be in `expect`
        (default: this saga's tasks); started, ended: (event, host)
        Raise StateChanged if the server is no longer in this move.
        """
        expect = expect or self.tasks
        instances.update(connection, self.instance_uuid, changes or {}, expect_task=expect)
        if status is not None:
            migrations.update(connection, self.migration_uuid, {'status': str(status)})
        if ended:
            self.events.end(connection, *ended)
        if started:
            self.events.start(connection, *started)

    # The same in a transaction of its own.
    progress = part.transaction(note_progress)

    # ---- step: hold source allocation ----

    def hold(self):
        """Move the server's allocation to the migration."""
        self._give(self.instance_uuid, self.migration_uuid, new=not self.repeated, once=True)

    def release(self):
        """Undo `hold`. The server also keeps its part on the providers `kept_on`."""
        self.return_held()
        if self.is_gone():
            for consumer in (self.migration_uuid, self.instance_uuid):
                self.world.placement.delete_allocations(self.ctxt, consumer, force=True)

    def return_held(self):
        """Move the migration's allocation to the server. Return it."""
        return self._give(self.migration_uuid, self.instance_uuid)

    def free_source(self):
        """Delete the migration's allocation."""
        self.world.placement.delete_allocations(self.ctxt, self.migration_uuid, force=True)

    def _give(self, source, target, **options):
        keep = self.kept_on()
        placement = self.world.placement
        return placement.move_allocations(self.ctxt, source, target, keep=keep, **options)

    def kept_on(self):
        """Return the providers that the server was evacuated from and that have not returned."""
        return self.read(evacuations.providers_held, self.instance_uuid)

    # ---- step: choose destination ----

    @property
    def may_retry(self):
        """Return whether another host may be tried: not if the user requested one."""
        return not self.arguments.host

    def spec(self):
        """Return the server's stored request, changed for this move, for the scheduler."""
        row = self.row()
        spec = self.world.api_db.read(request_specs.get, self.instance_uuid)
        spec.force_hosts, spec.force_nodes, spec.num_instances = [], [], 1
        spec.ignore_hosts = list(self.arguments.ignore_hosts or ())
        spec.current_host, spec.current_cell = row.host, self.cell.uuid
        spec.requested_networks = neighbours.requested_networks(row.network_info)
        neighbours.put_resource_requests_in(self, spec, row)
        destination = spec.destination()
        destination.cell, destination.host = self.cell.uuid, self.arguments.host
        destination.node = self.arguments.node
        self.results[steps.GROUP] = spec.group_uuid
        return spec

    def held_beside(self):
        """Return the providers that the server may hold besides the destination.

        A scheduler whose reply was lost may still claim. Of two claims both would stay. So a claim
        that finds another one is refused, and the next try begins with `drop_claim`.
        """
        return self.kept_on()

    def drop_claim(self):
        """Undo `choose`: only the migration keeps an allocation."""
        self.world.placement.delete_allocations(self.ctxt, self.instance_uuid, keep=self.kept_on())

    def go_back(self, step, error):
        """Return to `choose` if a destination refuses or does not answer, see `Choice.go_back`."""
        return self.choice.go_back(step, error)

    @property
    def destination(self):
        """Return the Selection of the destination."""
        return self.results[steps.CHOOSE]

    @property
    def source_host(self):
        """Return the host that the server leaves."""
        began: typing.Any = self.began
        return began.host

    @property
    def dest_host(self):
        """Return the destination's host."""
        return self.destination.service_host

    @property
    def dest(self):
        """Return the destination as arguments of calls and columns of the server name it."""
        return {'host': self.dest_host, 'node': self.destination.nodename}

    @property
    def stays(self):
        """Return whether source and destination are the same host."""
        return self.dest_host == self.source_host

    def devices_to_reserve(self):
        """Return the block devices that the destination needs, if they are volumes."""
        return self.devices()

"""What all moves share: their records, allocations, destination and failure.

A move reads the server's row anew in each step and keeps none: the user may delete
the server at any moment. Whoever notices undoes the move; an undo that gave something
back to a server that is gone takes that away again, and the host deletes the rest.
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
from nova_lite.moves import crossing
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.moves import world as worlds
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import events
from nova_lite.objects import instance as instance_objects

LOG = log.getLogger(__name__)


class Arguments(saga.Value):
    """What all moves are given.

    cell: uuid of the server's; order: see db.cell.moves
    migration_uuid: where the saga is not the migration itself
    host, node: a destination that was asked for
    """

    cell: str
    order: saga.Data
    migration_uuid: str | None = None
    host: str | None = None
    node: str | None = None
    ignore_hosts: list[str] | None = None


class Move(saga.Saga, typing.Generic[steps.Found]):
    """Base of the moves.

    tasks: the task states that this saga sets, which it may clear as well
    refusable: names of steps whose refusal leads to another destination
    harmless: names of steps whose undo may fail without breaking the server
    first: name of the first step
    named: arguments that notifications of what this saga records name
    faults: whether a failure shows at the server, which has a task meanwhile
    """

    world: worlds.World
    arguments: Arguments
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
        """The server's cell, when the move began."""
        return self.world.cells.get(self.arguments.cell)

    @property
    def migration_uuid(self):
        """The migration this is about."""
        return self.arguments.migration_uuid or self.uuid

    @property
    def here(self):
        """That cell, as steps work with it."""
        return crossing.Side(self.world, self.cell, self.ctxt)

    @property
    def there(self):
        """The cell of the destination."""
        return self.here

    @property
    def compute(self):
        """A client of the cell's computes."""
        return self.here.compute

    def read(self, function, *args, **kwargs):
        """Read from the cell."""
        return self.here.read(function, *args, **kwargs)

    def write(self, function, *args, **kwargs):
        """One transaction of the cell, refused as a whole when this epoch is old."""
        return self.here.write(function, *args, **kwargs)

    def write_api(self, function, *args, **kwargs):
        """One transaction of the API database, refused when this epoch is old."""
        return self.world.api_db.write(self._held, function, args, kwargs)

    def _held(self, connection, function, args, kwargs):
        sagas.hold(connection, self.ctxt)
        return function(connection, *args, **kwargs)

    def change_spec(self, **values):
        """Change what the server's stored request says, if there is one."""
        self.write_api(move_records.change_spec, self.instance_uuid, **values)

    def row(self):
        """The server's row as it is now; raises InstanceNotFound."""
        return self.read(instances.get, self.instance_uuid)

    def find(self):
        """The server's row as it is now, in whatever state; None when there is none."""
        return self.read(instances.find, self.instance_uuid)

    def is_gone(self):
        """Return whether the server is deleted or is being deleted."""
        return instances.is_gone(self.find())

    def require_task(self, row):
        """Raise StateChanged when a server (a row or None) has left this move."""
        task = row.task_state if row is not None and not row.deleted else 'deleted'
        if task not in self.tasks:
            detail = f'found task {task}'
            raise exception.StateChanged(what='Instance', key=self.instance_uuid, detail=detail)

    def require_there(self, row):
        """Return a server's row; raise InstanceNotFound when it is deleted or about to be."""
        if instances.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def devices(self):
        """The server's block devices, as messages carry them."""
        return self.here.devices(self.instance_uuid)

    def ask(self, method, **arguments):
        """Call a method of a compute, see `asking`; a Pending, or what it answers."""
        return asking.ask(self, method, arguments)

    def asked(self, host, node, step):
        """Return the arguments of a call to a host, for a step."""
        own = {'instance_uuid': self.instance_uuid, 'key': self.key(step)}
        return {'host': host, 'node': node, **own}

    def at_source(self: 'Move[steps.Began]', step):
        """The same, of the host that the server was on."""
        return self.asked(self.began.host, self.began.node, step)

    def at_dest(self, step):
        """The same, of the host that was chosen."""
        return self.asked(self.dest_host, self.destination.nodename, step)

    @staticmethod
    def instance(row, **changes):
        """The Instance that messages carry."""
        made = instance_objects.Instance.from_row(row)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    # ---- step: begin ----

    @part.transaction
    def begin(self, connection):
        """The API's transaction once more, in case it never came to it, and our records."""
        moves.begin(connection, self.ctxt, self.instance_uuid, self.arguments.order)
        self.events.name_subject(connection)
        return self.begun(connection, instances.find(connection, self.instance_uuid))

    @property
    def began(self) -> steps.Found:
        """Return the result of `begun`."""
        return self.results[self.first]

    @property
    def has_begun(self):
        """Return whether the first step is done."""
        return self.first in self.results

    def begun(self, connection, row):
        """Record the begin of a kind of move; return what the saga is to remember.

        row: the server's, which may be gone already (`instances.is_gone`)
        """

    @part.transaction
    def give_up(self, connection):
        """Undo of `begin`: tell what went wrong and leave the server to its user."""
        if not moves.has_begun(connection, self.ctxt, self.instance_uuid, self.arguments.order):
            return
        row = instances.find(connection, self.instance_uuid)
        gone = instances.is_gone(row)
        self.undone(connection, None if gone else row)
        if self.faults and not gone:
            self._free(connection, row)
        self.events.end_all(connection, self.error)

    def undone(self, connection, row):
        """Record the undo of a kind of move. row: None if the server is gone

        A migration that the user's request claimed is as it was before.
        """
        claims = self.arguments.order.get('claims')
        if claims:
            migrations.update(connection, claims['uuid'], {'status': claims['from'][0]})

    def _free(self, connection, row):
        """Clear the task and add a fault; a server that could not be given back is broken."""
        changes = self.changes_of_failure(row)
        if set(self.not_undone) - set(self.harmless):
            changes = {**changes, 'vm_state': states.VmState.ERROR}
        first = self.arguments.order['changes'].get('task_state')
        self.clear_task(connection, changes, tasks=(*self.tasks, first))
        self.add_fault(connection, self.error)

    def clear_task(self, connection, changes, *, tasks=None):
        """Clear the task and change columns, unless the task is another's by now.

        tasks: from which it is cleared; None: this saga's
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
        """Give the server back to its user, and end the action."""
        self.clear_task(connection, {})
        self.events.end_all(connection)

    def change(self, connection, changes, *, tasks=None):
        """Change columns of the server; False if its task is another's by now. tasks: as above"""
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
        """Columns that a kind of move gives their former values when it is undone."""
        return {}

    def shown(self, error):
        """The error of an action or a server as its user is shown it, or None for none."""
        return error

    def add_fault(self, connection, error):
        """Note why the server's move failed. error: as Saga.error"""
        if self.shown(error):
            texts = {'message': error['message'], 'details': error['traceback']}
            instances.add_fault(connection, self.instance_uuid, code=500, **texts)

    # ---- telling how far it is ----

    @part.transaction
    def progress(self, connection, **told):
        """One transaction between two steps. told: see `note_progress`"""
        self.note_progress(connection, **told)

    def note_progress(
        self, connection, *, status=None, changes=None, started=None, ended=None, expect=None
    ):
        """Record how far the move is.

        status: of the migration; changes: columns of the server, whose task must be one
        of `expect` (default: of this saga's); started, ended: (event, host)
        Raises StateChanged when the server is no longer in this move.
        """
        expect = expect or self.tasks
        instances.update(connection, self.instance_uuid, changes or {}, expect_task=expect)
        if status is not None:
            migrations.update(connection, self.migration_uuid, {'status': str(status)})
        if ended:
            self.events.end(connection, *ended)
        if started:
            self.events.start(connection, *started)

    # ---- step: hold source allocation ----

    def hold(self):
        """Move the allocation of the server at its source to the migration."""
        self._give(self.instance_uuid, self.migration_uuid, new=not self.repeated, once=True)

    def release(self):
        """Undo of `hold`: the server holds it again, and nothing else but `kept_on`."""
        self._give(self.migration_uuid, self.instance_uuid)
        if self.is_gone():
            for consumer in (self.migration_uuid, self.instance_uuid):
                self.world.placement.delete_allocations(self.ctxt, consumer, force=True)

    def free_source(self):
        """Give back what the migration holds."""
        self.world.placement.delete_allocations(self.ctxt, self.migration_uuid, force=True)

    def _give(self, source, target, **options):
        keep = self.kept_on()
        self.world.placement.move_allocations(self.ctxt, source, target, keep=keep, **options)

    def kept_on(self):
        """Providers that the server was evacuated from: it keeps its part until they return."""
        return self.read(evacuations.providers_held, self.instance_uuid)

    # ---- step: choose destination ----

    @property
    def may_retry(self):
        """Return whether another host may be tried: not when one was asked for."""
        return not self.arguments.host

    def spec(self):
        """Return the server's own request, changed for this move, for the scheduler."""
        row = self.row()
        spec = self.world.api_db.read(request_specs.get, self.instance_uuid)
        spec.force_hosts, spec.force_nodes, spec.num_instances = [], [], 1
        spec.ignore_hosts = list(self.arguments.ignore_hosts or ())
        spec.current_host, spec.current_cell = row.host, self.cell.uuid
        spec.requested_networks = neighbours.requested_networks(row.network_info)
        destination = spec.destination()
        destination.cell = self.cell.uuid
        destination.host = self.arguments.host
        destination.node = self.arguments.node
        self.results[steps.GROUP] = spec.group_uuid
        return spec

    def held_beside(self):
        """Providers of which the server may hold something besides the destination.

        A scheduler that this saga gave up waiting for may still claim. Two claims would
        both stay, so what finds another one is refused and begins with `drop_claim`.
        """
        return self.kept_on()

    def drop_claim(self):
        """Undo of `choose`: only the migration holds what the server held."""
        self.world.placement.delete_allocations(self.ctxt, self.instance_uuid, keep=self.kept_on())

    def turn(self, step, error):
        """Try another destination when one refuses, or does not answer."""
        if step.name not in self.refusable or not self.may_retry:
            return None
        if not (getattr(error, 'reschedule', False) or getattr(error, 'transient', False)):
            return None
        self.choice.refuse(error)
        return steps.CHOOSE

    def columns_of_failure(self, arrival):
        """Columns of an undone migration: where the guest may be, if `arrival` was not undone."""
        if arrival not in self.not_undone:
            return {}
        chosen = self.destination
        return {'data': {migrations.LEFT: {'host': chosen.service_host, 'node': chosen.nodename}}}

    @property
    def destination(self):
        """The Selection that was chosen."""
        return self.results[steps.CHOOSE]

    @property
    def source_host(self):
        """The host that the server leaves."""
        began: typing.Any = self.began
        return began.host

    @property
    def dest_host(self):
        """The host that it goes to."""
        return self.destination.service_host

    @property
    def stays(self):
        """Return whether both are one."""
        return self.dest_host == self.source_host

    def devices_to_reserve(self):
        """The server's block devices, of which the other end needs those with a volume."""
        return self.devices()

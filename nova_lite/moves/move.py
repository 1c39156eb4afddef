"""What all moves share: their records, allocations, destination and failure.

A move reads the server's row anew in each step and keeps none: the user may delete
the server at any moment. Whoever notices undoes the move; an undo that gave something
back to a server that is gone takes that away again, and the host deletes the rest.
Source: contributor/architecture, Sagas; reference/nova/moves 3 and 6.
"""

import functools

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.moves import asking
from nova_lite.moves import crossing
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.moves import world as worlds
from nova_lite.moves.parts import choice
from nova_lite.objects import instance as instance_objects
from nova_lite.objects import selection as selection_objects

LOG = log.getLogger(__name__)


class Move(saga.Saga):
    """Base of the moves.

    tasks: the task states that this saga sets, which it may clear as well
    refusable: names of steps whose refusal leads to another destination
    harmless: names of steps whose undo may fail without breaking the server
    first: name of the first step
    named: arguments that notifications of what this saga records name
    faults: whether a failure shows at the server, which has a task meanwhile
    arguments: 'cell', 'order' (see db.cell.moves), and of its kind; 'migration_uuid'
        where the saga is not the migration itself; 'host', 'node' of a requested
        destination; 'ignore_hosts'
    """

    world: worlds.World
    tasks = ()
    refusable = ()
    harmless = ()
    first = 'record the request'
    named = ()
    faults = True

    # ---- records ----

    @functools.cached_property
    def cell(self):
        """The server's cell, when the move began."""
        return self.world.cells.get(self.arguments['cell'])

    @property
    def migration_uuid(self):
        """The migration this is about."""
        return self.arguments.get('migration_uuid', self.uuid)

    @property
    def here(self):
        """That cell, as steps work with it."""
        return crossing.Side(self.world, self.cell, self.ctxt)

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

    def write_api(self, function, *args):
        """One transaction of the API database, refused when this epoch is old."""
        return self.world.api_db.write(self._held, function, args)

    def _held(self, connection, function, args):
        sagas.hold(connection, self.ctxt)
        return function(connection, *args)

    def row(self):
        """The server's row as it is now; raises InstanceNotFound."""
        return self.read(instances.get, self.instance_uuid)

    def migration(self):
        """The migration as it is now; raises MigrationNotFound."""
        return self.read(migrations.get, self.migration_uuid)

    def find(self):
        """The server's row as it is now, in whatever state; None when there is none."""
        return self.read(instances.find, self.instance_uuid)

    def is_gone(self):
        """Whether the server is deleted or is being deleted."""
        return instances.is_gone(self.find())

    def require_there(self, row):
        """Return a server's row; raise InstanceNotFound when it is deleted or about to be."""
        if instances.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def is_up(self, host):
        """Whether the compute service of a host of the cell is up."""
        return self.here.is_up(host)

    def devices(self):
        """The server's block devices, as messages carry them."""
        return self.here.devices(self.instance_uuid)

    def ask(self, method, arguments, **more):
        """Call a method of a compute, see `asking`; a Pending, or what it answers."""
        return asking.ask(self, method, arguments, more)

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
        moves.begin(connection, self.ctxt, self.instance_uuid, self.arguments['order'])
        self._tell_subject(connection)
        return self.begun(connection, instances.find(connection, self.instance_uuid))

    def _tell_subject(self, connection):
        if self.named:
            facts = {name: self.arguments.get(name) for name in self.named}
            actions.tell_of(connection, self.instance_uuid, **facts)

    @property
    def began(self):
        """What `begun` returned."""
        return self.data[self.first]

    def begun(self, connection, row):
        """What a kind of move records when it begins; returns what it wants to remember.

        row: the server's, which may be gone already (`instances.is_gone`)
        """

    @part.transaction
    def give_up(self, connection):
        """Undo of `begin`: tell what went wrong and leave the server to its user."""
        if not moves.has_begun(connection, self.ctxt, self.instance_uuid, self.arguments['order']):
            return
        row = instances.find(connection, self.instance_uuid)
        gone = instances.is_gone(row)
        self.undone(connection, None if gone else row)
        if self.faults and not gone:
            self._free(connection, row)
        self.end_events(connection, error=self.error)

    def undone(self, connection, row):
        """What a kind of move records when it is undone; row: None if the server is gone.

        A migration that the user's request claimed is as it was before.
        """
        claims = self.arguments['order'].get('claims')
        if claims:
            migrations.update(connection, claims['uuid'], {'status': claims['from'][0]})

    def _free(self, connection, row):
        """Clear the task and add a fault; a server that could not be given back is broken."""
        changes = self.changes_of_failure(row)
        if set(self.not_undone) - set(self.harmless):
            changes = {**changes, 'vm_state': states.VmState.ERROR}
        first = self.arguments['order']['changes'].get('task_state')
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

    def add_fault(self, connection, error):
        """Note why the server's move failed. error: as Saga.error"""
        instances.add_fault(
            connection,
            self.instance_uuid,
            code=500,
            message=error['message'],
            details=error['traceback'],
        )

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
            self.end_event(connection, *ended)
        if started:
            self.start_event(connection, *started)

    def start_event(self, connection, event, host=None):
        """Begin one event of the request's action."""
        actions.start_event(connection, self.instance_uuid, self.ctxt.request_id, event, host)

    def record_event(self, connection, event, host):
        """Record an event of the request's action that has begun and ended at once."""
        actions.record_event(connection, self.instance_uuid, self.ctxt.request_id, event, host=host)

    def end_event(self, connection, event, host, *, error=None):
        """End one event of the request's action, if it has not ended. error: as Saga.error"""
        actions.finish_event(
            connection,
            self.instance_uuid,
            self.ctxt.request_id,
            event,
            host=host,
            error=error and error['message'],
            traceback=error and error['traceback'],
        )

    def end_refused(self, connection, event, host):
        """End the event of a destination that refused, if the move turns to another one.

        The action goes on, so it does not fail with the event.
        """
        if not self.turning:
            return
        error = {'message': self.data['refused'][-1]['error'], 'traceback': None}
        self.end_event(connection, event, host, error=error)
        actions.clear_failure(connection, self.instance_uuid, self.ctxt.request_id)

    def end_events(self, connection, *, error=None):
        """End all open events of the request's action. error: as Saga.error"""
        self._tell_subject(connection)
        actions.end_open(
            connection,
            self.instance_uuid,
            self.ctxt.request_id,
            error=error and error['message'],
            traceback=error and error['traceback'],
        )

    # ---- step: hold source allocation ----

    def hold(self):
        """Let the migration hold what the server holds where it is."""
        self._give(self.instance_uuid, self.migration_uuid, new=not self.repeated, once=True)

    def release(self):
        """Undo of `hold`: the server holds it again, and nothing else but `kept_on`."""
        self._give(self.migration_uuid, self.instance_uuid)
        if self.is_gone():
            for consumer in (self.migration_uuid, self.instance_uuid):
                self.world.placement.delete_allocations(self.ctxt, consumer, force=True)

    def _give(self, source, target, **options):
        keep = self.kept_on()
        self.world.placement.move_allocations(self.ctxt, source, target, keep=keep, **options)

    def kept_on(self):
        """Providers that the server was evacuated from: it keeps its part until they return."""
        return self.read(evacuations.providers_held, self.instance_uuid)

    # ---- step: choose destination ----

    @property
    def may_retry(self):
        """Whether another host may be tried: not when one was asked for."""
        return not self.arguments.get('host')

    def spec(self):
        """What the scheduler is asked: the server's own request, for this move."""
        row = self.row()
        spec = self.world.api_db.read(request_specs.get, self.instance_uuid)
        spec.force_hosts, spec.force_nodes, spec.num_instances = [], [], 1
        spec.ignore_hosts = list(self.arguments.get('ignore_hosts') or ())
        spec.current_host, spec.current_cell = row.host, self.cell.uuid
        spec.requested_networks = neighbours.requested_networks(row.network_info)
        destination = spec.destination()
        destination.cell = self.cell.uuid
        destination.host = self.arguments.get('host')
        destination.node = self.arguments.get('node')
        return spec

    def choose(self):
        """Choose and claim; returns the Selection as plain values."""
        return choice.Choice(self).choose()

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
        choice.Choice(self).refuse(error)
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
        return selection_objects.Selection(**self.data[steps.CHOOSE])

    def destination_columns(self, connection):
        """The columns of the migration that name the destination."""
        chosen = self.destination
        nodes = compute_nodes.every(
            connection, host=chosen.service_host, hypervisor_hostname=chosen.nodename
        )
        return {
            'dest_compute': chosen.service_host,
            'dest_node': chosen.nodename,
            'dest_host': nodes[0].host_ip if nodes else None,
        }

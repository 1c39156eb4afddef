"""Steps of cold moves one by one, over a real cell and its hosts, without a bus.

Every step is done twice and undone twice: both must be safe to repeat, and an undo
must be safe when nothing was done. Steps come from the code.
"""

import datetime
import types

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import intents
from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.conductor import confirm
from nova_lite.conductor import live_checks
from nova_lite.conductor import live_migrate
from nova_lite.conductor import resize
from nova_lite.conductor import revert
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.db.cell import services
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import request_spec
from tests.fixtures import cell as cell_fixture
from tests.fixtures import database
from tests.fixtures import neighbours

SMALL = {**cell_fixture.FLAVOR, 'id': 2, 'flavorid': '2', 'name': 'small', 'memory_mb': 2048}
SOURCE, DEST, OTHER = 'host-1', 'host-2', 'host-3'
REFUSED = exception.MoveRefused(host=DEST, instance_uuid='i', reason='a test says so')


class Placement(neighbours.Placement):
    """Also gives what one consumer holds to another, and claims in addition to that."""

    def claim(self, ctxt, consumer, request, **options):
        held = self.allocations.get(consumer.uuid, {})
        claimed = super().claim(ctxt, consumer, request, **options)
        self.allocations[consumer.uuid] = {**held, **self.allocations.get(consumer.uuid, {})}
        return claimed

    @neighbours.faulty
    def move_allocations(self, ctxt, source, target, *, new=False, once=False, keep=()):
        if source not in self.allocations or (once and target in self.allocations):
            return target in self.allocations
        self.allocations[target] = self.allocations.pop(source)
        return True


class World:
    """What steps work with; the scheduler always chooses DEST, then OTHER."""

    def __init__(self, cell, api_db, placement):
        self._cell = cell
        self.conf, self.api_db, self.placement = cell.conf, api_db, placement
        self.network, self.volume = cell.network, cell.volume
        self.cells = types.SimpleNamespace(get=lambda uuid: cell, of_host=lambda host: cell)
        self.scheduler = types.SimpleNamespace(select_destinations=self._select)

    def compute(self, cell):
        return self._cell.compute

    def _select(self, ctxt, *, spec, instance_uuids, alternates, beside):
        chosen = [self._cell.selection(host) for host in (DEST, OTHER)]
        provider = chosen[0].compute_node_uuid
        self.placement.allocations[instance_uuids[0]] = {provider: {'VCPU': 1}}
        return [chosen]


class MovesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.cell.uuid = cell_fixture.CELL_UUID
        self.cell.placement = Placement()
        self.api_db = self.useFixture(database.ApiDatabase()).database
        self.world = World(self.cell, self.api_db, self.cell.placement)
        self.cell.db.write(services.beat, self.cell.hosts, services.COMPUTE, 'compute')
        self.server = self.cell.boot()
        provider = self.cell.provider(SOURCE)
        self.cell.placement.allocations[self.server] = {provider: {'VCPU': 1}}
        self.api_db.write(self._record)

    def _record(self, connection):
        spec = request_spec.RequestSpec(
            instance_uuid=self.server,
            project_id='project',
            user_id='user',
            flavor=flavor_objects.Flavor(**cell_fixture.FLAVOR),
        )
        request_specs.create(connection, [spec])
        mapping = {'instance_uuid': self.server, 'project_id': 'project', 'user_id': 'user'}
        instance_mappings.create(connection, {**mapping, 'vcpus': 1, 'memory_mb': 512})

    def make(self, kind, guard, action, *, migration=None, status=None, **arguments):
        """A saga whose first transaction the API has made."""
        claims = None
        if migration:
            claims = {'uuid': migration, 'from': ['finished'], 'to': status}
            arguments['migration_uuid'] = migration
        order = intents.order(guard, action, claims=claims)
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        record = types.SimpleNamespace(
            uuid=runtime.new_uuid(),
            instance_uuid=self.server,
            epoch=1,
            arguments={'cell': self.cell.uuid, 'order': order, **arguments},
            data={},
            error=None,
        )
        self.api_db.write(self._own, record, ctxt)
        made = kind(self.world, record, ctxt)
        self.cell.db.write(moves.begin, made.ctxt, self.server, order)
        return made

    def _own(self, connection, record, ctxt):
        """The saga is ours; it does not keep the server from being in the next one."""
        sagas.create(
            connection,
            ctxt,
            uuid=record.uuid,
            kind='any',
            instance_uuid=record.instance_uuid,
            arguments={},
        )
        values = {'epoch': record.epoch, 'active_for': None}
        rows.change(connection, sagas.TABLE, values, uuid=record.uuid)

    def resize(self):
        return self.make(
            resize.Resize, states.RESIZE, 'resize', flavor=SMALL, ignore_hosts=[SOURCE]
        )

    def test_an_action_goes_on_when_a_destination_refused(self):
        made = self.resize()
        undos = [step.undo for step in made.steps()]
        self.do(made, made.steps()[: undos.index(made.forget) + 1])
        made.data.update(refused=[{'host': DEST, 'error': 'no'}], _turn='choose')
        made.forget()
        self.assertIn(('compute_prep_resize', DEST, 'Error'), self.cell.events(self.server))
        self.assertIsNone(self.cell.db.read(actions.find_newest, self.server).message)

    def test_one_alternate_is_claimed_whoever_was_killed_meanwhile(self):
        """The successor may find another one free than the one that was claimed unheard."""
        made = self.resize()
        first, second = (self.cell.selection(host).as_dict() for host in (DEST, OTHER))
        made.data.update(refused=[{'host': 'h', 'error': 'no'}], alternates=[first, second])
        made.choose()
        successor = self.resize_again(made)
        successor.data['alternates'] = [second]
        self.assertEqual(OTHER, successor.choose()['service_host'])
        self.assertEqual(
            {second['compute_node_uuid']}, set(self.world.placement.allocations[self.server])
        )

    def resize_again(self, made):
        """The same saga as who takes it over makes it, from what the journal has."""
        record = types.SimpleNamespace(
            uuid=made.uuid,
            instance_uuid=self.server,
            epoch=2,
            arguments=made.arguments,
            data=made.data,
            error=None,
        )
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        return resize.Resize(self.world, record, ctxt)

    def resized(self):
        """The uuid of a migration that waits for its end."""
        made = self.resize()
        self.do(made, made.steps())
        return made.uuid

    def revert(self):
        return self.make(
            revert.RevertResize,
            states.REVERT_RESIZE,
            'revertResize',
            migration=self.resized(),
            status='reverting',
        )

    def do(self, made, steps, *, times=1):
        for step in steps:
            for _time in range(times):
                made.repeated = times > 1
                result = step.do()
                if result is not None and not isinstance(result, saga.Skipped):
                    made.data[step.name] = result

    def undo(self, made, steps):
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        for step in reversed(steps):
            for _time in range(2):
                if step.undo is not None:
                    step.undo()

    def before_pivot(self, steps):
        return steps[: next(i for i, step in enumerate(steps) if step.pivot)]

    def status(self, uuid):
        return self.cell.db.read(migrations.get, uuid).status

    # ---- resize ----

    def test_each_step_of_a_resize_is_undone(self):
        start = self.cell.leftovers()
        for last in range(len(self.before_pivot(self.resize_steps()))):
            made = self.resize()
            steps = made.steps()[: last + 1]
            self.do(made, steps)
            self.undo(made, steps)
            self.assertEqual(start, self.cell.leftovers(), steps[-1].name)
            self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
            self.assertEqual('error', self.status(made.uuid))
            self.assertEqual('because', self.cell.fault(self.server))
            self.assertIsNone(self.cell.row(self.server).new_flavor)

    def test_a_destination_that_was_not_taken_back_is_forgotten_in_the_end(self):
        made = self.resize()
        steps = self.before_pivot(made.steps())[:4]
        self.do(made, steps)
        self.cell.db.write(instances.update, self.server, {'availability_zone': 'there'})
        made.data['_not_undone'] = {resize.RECORD: {'message': 'the database did not answer'}}
        self.undo(made, steps[:3])
        row = self.cell.row(self.server)
        self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
        self.assertEqual((None, None), (row.new_flavor, row.availability_zone))
        self.events_have_ended()

    def test_checks_that_were_not_taken_back_end_in_the_end(self):
        made = self.make(
            live_migrate.LiveMigration,
            states.LIVE_MIGRATE,
            'live-migration',
            synchronous=False,
            forced=False,
            block_migration=None,
        )
        values = {'migration_type': 'live-migration', 'status': 'accepted', 'data': {}}
        values |= {'uuid': made.uuid, 'instance_uuid': self.server}
        self.cell.db.write(migrations.create, values)
        begin = made.steps()[:1]
        self.do(made, begin)
        checks = {(live_checks.DEST_EVENT, DEST), (live_checks.SOURCE_EVENT, SOURCE)}
        for event in checks:
            made.progress(started=event)
        self.assertEqual(checks, checks & {each[:2] for each in self.open_events()})
        self.undo(made, begin)
        self.events_have_ended()

    def open_events(self):
        return [each for each in self.cell.events(self.server) if each[-1] is None]

    def events_have_ended(self):
        self.assertEqual([], self.open_events())

    def test_an_undo_does_not_wait_for_a_dead_host(self):
        """Asked in vain it is given up once it is down; one that was fenced is not asked."""
        made = self.resize()
        steps = {step.name: step for step in made.steps()}
        self.do(made, self.before_pivot(made.steps()))
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        asked = []

        def silent(*_args, host, **_kwargs):
            asked.append(host)
            raise exception.MessagingTimeout(service='x', reason='no reply', method='m', topic='x')

        self.cell.compute.revert_resize = silent
        undo = steps[resize.FINISH].undo
        self.assertRaises(exception.MessagingTimeout, undo)
        service = self.cell.db.read(services.find, DEST)
        long_ago = runtime.naive_now() - datetime.timedelta(hours=1)
        self.cell.db.write(services.update, service.uuid, {'last_seen_up': long_ago})
        self.assertRaises(exception.ServiceIsDown, undo)
        self.cell.db.write(services.update, service.uuid, {'forced_down': True})
        self.assertRaises(exception.ServiceIsDown, undo)
        self.assertEqual([DEST, DEST], asked)

    def test_a_guest_that_may_run_elsewhere_is_not_started(self):
        made = self.resize()
        steps = {step.name: step for step in made.steps()}
        self.do(made, self.before_pivot(made.steps()))
        made.data['_not_undone'] = {resize.FINISH: 'its host is down'}
        steps[resize.LEAVE].undo()
        guests = self.cell.guests()[self.server]
        self.assertIn((SOURCE, 'resident', 4), guests)

    def resize_steps(self):
        made = self.resize()
        self.cell.db.write(instances.update, self.server, {'task_state': None})
        return made.steps()

    def test_steps_of_a_resize_may_be_repeated(self):
        made = self.resize()
        self.do(made, made.steps(), times=2)
        row = self.cell.row(self.server)
        self.assertEqual(('resized', None, DEST), self.cell.state(self.server))
        self.assertEqual(('small', 2048), (row.flavor['name'], row.memory_mb))
        self.assertEqual('m1.tiny', row.old_flavor['name'])
        self.assertEqual('finished', self.status(made.uuid))
        held = self.cell.placement.allocations
        self.assertEqual([self.cell.provider(SOURCE)], list(held[made.uuid]))
        self.assertEqual([self.cell.provider(DEST)], list(held[self.server]))
        spec = self.api_db.read(request_specs.get, self.server)
        mapping = self.api_db.read(instance_mappings.get, self.server)
        self.assertEqual(('small', 2048), (spec.flavor.name, mapping.memory_mb))

    def test_who_was_taken_over_stores_no_flavor(self):
        made = self.resize()
        self.do(made, made.steps()[:-2])
        self.api_db.write(rows.change, sagas.TABLE, {'epoch': 2}, uuid=made.uuid)
        step = next(step for step in made.steps() if step.name == 'save request spec')
        self.assertRaises(exception.StaleEpoch, step.do)
        spec = self.api_db.read(request_specs.get, self.server)
        self.assertEqual('m1.tiny', spec.flavor.name)

    def test_refusal_leads_to_an_alternate(self):
        made = self.resize()
        steps = {step.name: step for step in made.steps()}
        self.do(made, made.steps()[:3])
        self.assertEqual('choose destination', made.turn(steps[resize.CLAIM], REFUSED))
        steps['choose destination'].undo()
        self.assertEqual(OTHER, steps['choose destination'].do()['service_host'])
        again = self.assertRaises(exception.MaxRetriesExceeded, steps['choose destination'].do)
        self.assertIn(self.server, again.message)

    def test_host_that_was_asked_for_has_no_alternate(self):
        made = self.resize()
        made.arguments['host'] = DEST
        self.do(made, made.steps()[:3])
        step = next(step for step in made.steps() if step.name == resize.CLAIM)
        self.assertIsNone(made.turn(step, REFUSED))

    def test_guest_that_left_stays_off_if_the_server_was_reset(self):
        made = self.resize()
        steps = made.steps()[:8]
        self.do(made, steps)
        self.cell.db.write(instances.update, self.server, {'task_state': None})
        steps[-1].undo()
        self.assertEqual([(SOURCE, 'resident', 4)], self.cell.guests()[self.server])

    # ---- confirm and revert ----

    def test_confirm(self):
        migration = self.resized()
        made = self.make(
            confirm.ConfirmResize,
            states.CONFIRM_RESIZE,
            'confirmResize',
            migration=migration,
            status='confirming',
        )
        self.do(made, made.steps(), times=2)
        self.assertEqual(('active', None, DEST), self.cell.state(self.server))
        self.assertEqual('confirmed', self.status(migration))
        self.assertEqual([(DEST, 'resident', 1)], self.cell.guests()[self.server])
        self.assertNotIn(migration, self.cell.placement.allocations)

    def test_revert(self):
        start = self.cell.leftovers()
        made = self.revert()
        self.do(made, made.steps(), times=2)
        self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
        self.assertEqual('m1.tiny', self.cell.row(self.server).flavor['name'])
        self.assertEqual('reverted', self.status(made.migration_uuid))
        self.assertEqual(start, self.cell.leftovers())

    def test_revert_is_undone_while_the_destination_has_the_guest(self):
        made = self.revert()
        waiting = self.cell.leftovers()
        steps = made.steps()[:3]
        self.do(made, steps)
        self.undo(made, steps)
        self.assertEqual(('resized', None, DEST), self.cell.state(self.server))
        self.assertEqual('finished', self.status(made.migration_uuid))
        self.assertEqual(waiting, self.cell.leftovers())

    def test_source_that_fails_a_revert_leaves_an_error(self):
        made = self.revert()
        steps = made.steps()
        self.do(made, [step for step in steps if step.name != revert.FINISH][:-1])
        made.data['_left'] = {revert.FINISH: {'message': 'broken', 'traceback': 't'}}
        steps[-1].do()
        self.assertEqual(('error', None, SOURCE), self.cell.state(self.server))
        self.assertEqual('error', self.status(made.migration_uuid))
        self.assertEqual('broken', self.cell.fault(self.server))

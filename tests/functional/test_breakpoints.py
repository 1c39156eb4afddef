"""Moves that a debugger stops, while clients look at both cells."""

import os

from openstack import exceptions as sdk_exceptions

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import saga_counts
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.lab.control import stopping
from nova_lite.lab.timeline import story
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from nova_lite.verify import settling
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import moving
from tests.functional import base
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

MOVE, HERE, THERE = 'cross-cell-migrate', 'cell1-host1', 'cell2-host1'
SMALL = {'cells': 2, 'hosts': 1}
# Where the records of both cells are visible.
BOTH = 'switch-mapping-to-destination-cell'


class Stage:
    """A server that is moved to another cell."""

    def __init__(self, cloud):
        self.cloud, self.moving = cloud, moving.Moving(cloud)

    @property
    def debugger(self):
        return self.cloud.cloud.debugger

    def boot(self):
        self.server = self.moving.boot_full(availability_zone=f'nova:{HERE}')
        return self.server.id

    def migrate(self):
        self.moving.act(self.server, 'migrate', {'host': THERE})

    def wait(self, *states):
        """Wait for the newest saga to be in one of these states. Return where it is stopped."""

        def look():
            found = self.debugger.show_saga(self.server.id)
            return found if found['state'] in (states or ('stopped',)) else None

        found = self.cloud.wait_for(look, f'the saga to be {states}')
        return f'undo of {found["before"]}' if found['undo'] else found['before']

    def step(self):
        """As `wait`, after a step."""
        self.debugger.go_on(self.server.id, breakpoints.STEP)
        return self.wait('stopped', 'done')

    def go(self):
        self.debugger.go_on(self.server.id, breakpoints.GO)

    def records(self):
        """{cell: whether it hides its record of the server}"""
        cells = self.cloud.cloud.daemons['super-conductor'].manager.world.cells.every(cell0=False)
        found = {cell.name: cell.db.read(instances.find, self.server.id) for cell in cells}
        return {name: row.hidden for name, row in found.items() if row is not None}

    def database(self):
        return self.cloud.cloud.daemons['super-conductor'].manager.world.api_db


class BreakpointsTest(base.CloudTest):
    settings = base.ROOMY

    def setUp(self):
        super().setUp()
        self.stage = Stage(self.cloud)
        self.debugger = self.stage.debugger
        self.addCleanup(self.debugger.remove)

    def test_both_cells(self):
        """Clients are answered in between. Test_saga_stops.py verifies each state."""
        uuid = self.stage.boot()
        places = ('choose-destination', 'bind-ports-to-destination', BOTH, 'save-request-spec')
        for place in places:
            self.debugger.add(place, server=uuid)
        self.stage.migrate()
        seen = []
        for place in places:
            self.assertEqual(place, self.stage.wait())
            seen.append(self.stage.records())
            if place == BOTH:
                found = self.explained(place)
            self.assertIn(self.status(self.stage.server), ('RESIZE', 'VERIFY_RESIZE'), place)
            if place != places[-1]:
                self.stage.go()
        # It is at its destination.
        self.assertRaises(sdk_exceptions.ConflictException, self.delete, self.stage.server)
        self.assertEqual('delete-snapshot-image', self.stage.step())
        self.stage.go()
        self.cloud.wait(self.stage.server, 'VERIFY_RESIZE')
        self.assertEqual({'I2', 'I6'}, found)
        self.assertEqual(
            [
                {'cell1': False},
                {'cell1': False, 'cell2': True},
                {'cell1': False, 'cell2': False},
                {'cell1': True, 'cell2': False},
            ],
            seen,
        )

    def explained(self, place):
        """The invariants that seem to be violated while the saga is stopped."""
        verdict = self.cloud._verdict(0, cloud_fixture.AT_REST)
        self.assertEqual(settling.Result.CONSISTENT, verdict.result, (place, verdict))
        uuid = self.stage.server.id
        told = (
            f'of server {uuid} is stopped before {place}; `nova-lite saga go {uuid}` continues it'
        )
        self.assertIn(told, [each.detail for each in verdict.explained])
        return {each.invariant for each in verdict.explained}

    def test_where_it_is_shown(self):
        uuid = self.stage.boot()
        self.refused(uuid)
        self.debugger.add('claim-on-destination', kind=MOVE)
        self.stage.migrate()
        self.stage.wait()
        shown = self.debugger.show()
        self.assertEqual(
            [{'server': None, 'kind': MOVE, 'step': 'claim-on-destination'}],
            [
                {key: each[key] for key in ('server', 'kind', 'step')}
                for each in shown['breakpoints']
            ],
        )
        (saga,) = shown['stopped']
        self.assertEqual((uuid, 'stopped'), (saga['server'], saga['state']))
        database = self.stage.database()
        self.assertEqual(
            [(MOVE, 'claim-on-destination', 'forward', 'stopped', 1)],
            database.read(saga_counts.standing),
        )
        self.assertEqual(0, database.read(sagas.lag_s))
        told = database.read(story.read, saga['uuid'])
        self.assertEqual('stopped before claim-on-destination', told.state)
        # The step fails then, and is undone.
        self.delete(self.stage.server)
        self.stage.go()
        self.assertEqual('undo of claim-on-destination', self.stage.wait())
        self.stage.go()
        self.stage.wait('undone')
        told = database.read(story.read, saga['uuid'])
        idle = [(bar.step, bar.outcome) for bar in told.bars if bar.is_idle]
        self.assertEqual([('claim-on-destination', 'stopped')] * 2, idle)
        error = self.assertRaises(stopping.NotStopped, self.debugger.kill_here, uuid)
        self.assertIn(f'its last saga, {MOVE}, is undone', str(error))

    def refused(self, uuid):
        """Check the requests that are refused for a server that has had no saga."""
        unknown = '2d7e9c0e-6d2e-4f2e-9a27-000000000000'
        for error, call, said in (
            (exception.Invalid, lambda: self.debugger.add('copy'), 'name a server or a kind'),
            (exception.NotFound, lambda: self.debugger.add('copy', unknown), unknown),
            (exception.NotFound, lambda: self.debugger.add('copy', 'nobody'), 'nobody'),
            (exception.NotFound, lambda: self.debugger.add('copy', kind='x'), 'live-migration,'),
            (
                stopping.NoSuchStep,
                lambda: self.debugger.add('x', kind='live-migration'),
                "Saga live-migration has no step 'x'. Use one of: record-move, check-server,",
            ),
            (
                stopping.NoSuchStep,
                lambda: self.debugger.add('x', uuid),
                "Sagas have no step 'x'. `nova-lite saga steps KIND` lists those of",
            ),
            (exception.NotFound, lambda: self.debugger.remove(7), 'saga break --list` shows: none'),
            (
                stopping.NotStopped,
                lambda: self.debugger.go_on(uuid, breakpoints.GO),
                f'Server {uuid} is not stopped: it has had no saga',
            ),
            (stopping.NotStopped, lambda: self.debugger.kill_here(uuid), 'no saga'),
        ):
            self.assertIn(said, str(self.assertRaises(error, call)))
        self.assertEqual({'breakpoints': [], 'stopped': []}, self.debugger.show())


class OwnTest(own_cloud.OwnCloudTest):
    """Stopped sagas when a cloud ends, and when other sagas continue."""

    settings = {**SMALL, 'options': {'DEFAULT': {'resize_confirm_window': 20}}}

    def test_all(self):
        self.stage = Stage(self.cloud)
        self.kept()
        self.confirmed()
        self.lost_host()

    def kept(self):
        """Breakpoints and stopped sagas are part of the state of a cloud."""
        uuid = self.stage.boot()
        self.cloud.save('before')
        self.stage.debugger.add('claim-on-destination', server=uuid)
        self.stage.migrate()
        place = self.stage.wait()
        self.cloud.save('within')
        path = os.path.join(self.cloud.state_dir, 'a.snapshot')
        self.cloud.cloud.snapshot(path)
        self.cloud.cloud.reset('before')
        self.is_kept(False)
        self.cloud.cloud.reset('within')
        self.is_kept()
        # One that is lost is as well, and who was to take it over does not come back.
        self.stage.debugger.add('activate-destination-bindings', server=uuid)
        saga = self.stage.debugger.kill_here(uuid)
        self.assertEqual('top', saga['lost_by'])
        self.assertIn('top-2', self.conductors())
        self.cloud.restart()
        self.assertNotIn('top-2', self.conductors())
        self.assertEqual('activate-destination-bindings', self.stage.wait())
        self.is_kept()
        self.cloud.continue_from(path)
        self.is_kept()
        self.assertEqual(place, self.stage.wait())

    def is_kept(self, kept=True):
        shown = self.stage.debugger.show()
        self.assertEqual((kept, kept), (bool(shown['breakpoints']), bool(shown['stopped'])))

    def conductors(self):
        """The hosts of all conductors."""
        found = self.cloud.admin.compute.services(binary='nova-conductor')
        return [service.host for service in found]

    def confirmed(self):
        """The automatic confirmation stops like any other, and is not begun again."""
        debugger, uuid = self.stage.debugger, self.stage.server.id
        debugger.add(kinds.plans('cross-cell-confirm')[0][0].id, kind='cross-cell-confirm')
        self.stage.go()
        self.cloud.wait(self.stage.server, 'VERIFY_RESIZE')
        runtime.sleep(40)
        self.stage.wait()
        found = self.stage.database().read(sagas.every, instance_uuid=uuid)
        self.assertEqual(['cross-cell-confirm', MOVE], [saga.kind for saga in found])
        self.stage.go()
        self.cloud.wait(self.stage.server, 'ACTIVE')

    def lost_host(self):
        """A destination is lost."""
        self.stage.moving.act(self.stage.server, 'migrate', {'host': HERE})
        self.stage.wait()
        self.cloud.cloud.faults.switch_host(HERE, on=False)
        with self.stage.moving.forced_down(THERE):
            self.stage.moving.act(self.stage.server, 'evacuate', {}, status=409)
        # It counts as down then.
        runtime.sleep(70)
        self.stage.go()
        self.assertEqual('undo of claim-on-destination', self.stage.wait())
        self.stage.go()
        self.stage.wait('undone')
        self.cloud.wait(self.stage.server, 'ACTIVE')
        self.cloud.cloud.faults.switch_host(HERE, on=True)

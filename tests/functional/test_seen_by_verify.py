"""Findings of `verify` about leftovers of administrators, owners and faults, in a whole cloud."""

import testtools

from nova_lite import context
from nova_lite.clients import volume
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import compute_nodes
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
SNAPSHOT = {'name': 'copy', 'force': True}


@sample.in_turns(2)
class SeenTest(testtools.TestCase):
    """Each test leaves something in a cloud in which nothing else is found."""

    settings = {'cells': 1, 'hosts': 2}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = live_moving.LiveMoving(self.cloud)
        self.server = self.cloud.boot()
        (self.other,) = self.moving.other_hosts(self.server)
        self.assertEqual([], self.cloud.findings())

    def check_named(self, what, detail):
        found = [(each.what, each.detail) for each in self.cloud.findings()]
        self.assertEqual(1, sum(what in a and detail in b for a, b in found), found)

    def cell(self):
        """Return the database of the server's cell."""
        (cell,) = self.moving.world.cells.every(cell0=False)
        return cell.db

    def undone(self):
        """Return the journal's record of a saga that was undone."""
        with self.moving.disabled(self.other):
            self.moving.act(self.server, 'migrate')
            self.moving.wait_idle(self.server)
        saga = self.moving.saga(self.server)
        self.assertEqual(journal.UNDONE, saga.state)
        return saga

    def test_provider_that_placement_lost(self):
        placement = self.cloud.admin.placement
        for each in placement.get('/resource_providers').json()['resource_providers']:
            if each['name'] == self.other:
                placement.delete(f'/resource_providers/{each["uuid"]}')
        self.check_named(f'({self.other})', 'does not exist in placement')

    def test_service_without_a_node(self):
        self.cell().write(rows.delete, compute_nodes.TABLE, host=self.other)
        self.check_named(f'compute service {self.other}', 'is up and has no compute node')

    def test_action_without_an_event(self):
        ctxt = context.RequestContext(user_id='u', project_id='p', overwrite=False)
        self.cell().write(actions.start, ctxt, self.server.id, 'shelve')
        self.check_named('action shelve', 'has not ended, and nothing carries it out')

    def test_snapshot_for_an_image_that_was_not_made(self):
        saga = self.undone()
        made = self.cloud.admin.block_storage.create_volume(size=1)
        self.cloud.wait_for(
            lambda: self.cloud.admin.block_storage.get_volume(made.id).status == 'available',
            'the volume',
        )
        metadata = {volume.IMAGE: saga.uuid}
        snapshot = self.cloud.admin.block_storage.create_snapshot(
            volume_id=made.id, metadata=metadata, **SNAPSHOT
        )
        self.check_named(f'snapshot {snapshot.id}', 'was taken for image')

    def test_duty_that_repeats_an_error(self):
        saga = self.undone()
        duty = {'step': 'claim', 'alone': False, 'data': {}, 'error': 'it was refused'}
        self.moving.world.api_db.write(
            rows.change,
            sagas.TABLE,
            {'state': journal.CLEANING, 'data': {**saga.data, cleaning.DUTIES: [duty]}},
            uuid=saga.uuid,
        )
        self.check_named(f'saga {saga.uuid}', 'has not finished its cleanup: claim')

"""Moves between cells that fail: the server is given back, and the same may be asked again.

What fails after the pivot, or cannot be given back, ends in ERROR; a hard reboot mends it.
"""

import contextlib
import types

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.lifecycle import intents
from nova_lite.moves import revert
from nova_lite.moves import steps
from nova_lite.moves.parts import cross_cell
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import run
from nova_lite.saga import step
from nova_lite.verify import files
from tests.fixtures import crossing
from tests.fixtures import saga_faults
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
SOURCE, DEST = 'cell1-host1', 'cell2-host1'
KIND = 'cross-cell-migrate'
PREP = 'compute_prep_snapshot_based_resize_at_dest'
AT_SOURCE = 'compute_prep_snapshot_based_resize_at_source'
FINISH = 'compute_finish_snapshot_based_resize_at_dest'
PROMPT = 'extends: instant\n'
# What the hosts fail at, which event tells of it.
HOSTS_FAIL = (
    ('power_off', 'cell1-*', AT_SOURCE),
    ('snapshot', 'cell1-*', AT_SOURCE),
    ('migrate_out', 'cell1-*', AT_SOURCE),
    ('spawn', 'cell2-*', FINISH),
)


def failing(*rules):
    """A profile in which hosts fail at verbs: (verb, host pattern) each."""
    lines = [
        f'  - {{verb: {verb}, match: {{host: "{hosts}"}}, message: it broke}}'
        for verb, hosts in rules
    ]
    return '\n'.join(['extends: instant', 'failures:', *lines, ''])


@sample.in_turns(3)
class FailuresTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        self.crossing = crossing.Crossing(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.addCleanup(self.cloud.behave, PROMPT)

    def boot_here(self, **options):
        return self.stage.boot_full(availability_zone=f'nova:{SOURCE}', **options)

    def migrate(self, server):
        self.stage.act(server, 'migrate', {'host': DEST})

    def given_back(self, server, status='ACTIVE', *, dest=DEST):
        """The server is as it was, and nothing of the move is left."""
        self.crossing.idle(server)
        found = self.cloud.wait(server, status)
        self.assertEqual(SOURCE, found.compute_host)
        migration = self.stage.migration(server)
        self.assertEqual(('error', dest), (migration['status'], migration['dest_compute']))
        self.assertEqual({SOURCE}, self.stage.hosts_held(server, migration))
        self.assertEqual({'cell1': False}, self.crossing.records(server))
        self.assertEqual([], self.crossing.images(server))
        self.assertEqual(1, len(self.crossing.attachments(server)))
        self.assertEqual([SOURCE], self.bound(server))
        self.assertEqual(self.stage.action(server, 'migrate').message, 'Error')
        self.assertEqual([], self.cloud.findings())
        return found

    def bound(self, server):
        """The hosts to which the server's port has a binding."""
        network = self.cloud.admin.network
        (port,) = network.ports(device_id=server.id)
        found = network.get(f'/ports/{port.id}/bindings').json()['bindings']
        return [binding['host'] for binding in found]

    def again(self, server):
        """The same once more, and to its end."""
        self.migrate(server)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.stage.act(server, 'confirmResize', status=204)
        self.assertEqual(DEST, self.cloud.wait(server).compute_host)
        self.crossing.idle(server)

    # ---- hosts ----

    def test_what_hosts_fail_at(self):
        for verb, hosts, event in HOSTS_FAIL:
            server = self.boot_here()
            self.cloud.behave(failing((verb, hosts)))
            self.migrate(server)
            self.given_back(server)
            self.assertIn('it broke', self.stage.details(server, 'migrate', event))
            self.assertIn((event, 'Error'), self.stage.events(server, 'migrate'))
            self.assertEqual([SOURCE], self.cloud.guests()[server.id])
            self.cloud.behave(PROMPT)
            self.again(server)
            self.delete(server)

    def test_a_stopped_server_stays_off(self):
        server = self.boot_here()
        self.stage.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')
        self.cloud.behave(failing(('spawn', 'cell2-*')))
        self.migrate(server)
        self.given_back(server, 'SHUTOFF')
        self.assertNotIn(server.id, self.cloud.guests())

    # ---- neighbours ----

    def test_upload_fails(self):
        """The image is gone before the disk is uploaded."""
        server = self.boot_here()

        def meanwhile():
            (image,) = self.cloud.admin.image.images(instance_uuid=server.id)
            self.cloud.admin.image.delete_image(image)

        self.faults.fault = saga_faults.Fault(
            KIND, cross_cell.SNAPSHOT, saga_faults.Mode.DURING_BEFORE, meanwhile=meanwhile
        )
        self.migrate(server)
        self.assertEqual('undone', self.faults.ended(server).state)
        self.faults.fault = None
        self.given_back(server)
        self.assertIn((AT_SOURCE, 'Error'), self.stage.events(server, 'migrate'))
        self.again(server)

    def test_an_image_that_stays_is_found(self):
        """As after a call that comes too late: no process would look for it."""
        server = self.boot_here()
        self.migrate(server)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        self.assertEqual([], self.cloud.findings())
        record = types.SimpleNamespace(
            uuid=server.id, project_id='p', user_id='u', flavor={'root_gb': 1}
        )
        images, admin = self.crossing.world.image, context.admin()
        made = images.create_snapshot(admin, 'x-resize-temp', record)['id']
        (finding,) = self.cloud.findings(settle_s=0)
        self.assertEqual(('I5', f'upload of image {made}'), (finding.invariant, finding.what))
        images.delete(admin, made)
        self.assertEqual([], self.cloud.findings())

    def test_port_binding_is_refused(self):
        server = self.boot_here()

        def refuse(_ctxt, _server, network_info, host, **_options):
            raise exception.PortBindingFailed(
                port_id=network_info[0]['id'], host=host, reason='a test says so'
            )

        bindings = self.stage.world.network.bindings
        with self.instead(bindings, 'create', refuse):
            self.migrate(server)
            self.given_back(server)
        self.assertNotIn(AT_SOURCE, dict(self.stage.events(server, 'migrate')))
        self.again(server)

    def test_network_service_is_too_old(self):
        """It cannot bind a port to two hosts: the move ends before anything is done."""
        server = self.boot_here()
        network = self.stage.world.network
        with self.instead(network, 'has_extension', lambda _ctxt, _alias: False):
            self.migrate(server)
            self.given_back(server, dest=None)
        self.assertNotIn(AT_SOURCE, dict(self.stage.events(server, 'migrate')))
        self.assertIn('binding-extended', self.stage.details(server, 'migrate', 'cold_migrate'))
        self.again(server)

    @contextlib.contextmanager
    def instead(self, thing, name, function):
        """Another function in place of a method, for a while."""
        setattr(thing, name, function)
        try:
            yield
        finally:
            delattr(thing, name)

    def test_unsealed_while_the_other_cell_is_away(self):
        """Its user can act on the server again, however long that takes."""
        server = self.boot_here()
        here, there = (self.database(name) for name in ('cell1', 'cell2'))
        sealed = []

        def away(*_args, **_options):
            raise exception.Unavailable(service='The database of cell2', reason='a test says so')

        def meanwhile():
            sealed.append(here.read(instances.find, server.id).sealed)
            there.write = away
            raise saga_faults.Injected(step=cross_cell.SHOW, mode='cell2 is away')

        self.faults.fault = saga_faults.Fault(
            KIND, cross_cell.SHOW, saga_faults.Mode.DURING_AFTER, meanwhile=meanwhile
        )
        self.migrate(server)
        self.cloud.wait_for(lambda: sealed, 'the copy to be shown')
        try:
            self.cloud.wait_for(
                lambda: not here.read(instances.find, server.id).sealed, 'the server to be unsealed'
            )
        finally:
            del there.write
        self.assertEqual([True], sealed)
        self.assertEqual('undone', self.faults.ended(server).state)
        self.faults.fault = None
        self.given_back(server)
        self.again(server)

    def test_a_copy_whose_cell_is_silent_for_long_is_purged_in_the_end(self):
        """For longer than its undo is tried: both cells show the server until then."""
        self.patch(run, 'FIRST_PAUSE_S', 0.005)
        self.patch(cleaning, 'FIRST_PAUSE_S', 0.2)
        server, there = self.boot_here(), self.database('cell2')

        def away(*_args, **_options):
            raise exception.Unavailable(service='The database of cell2', reason='a test says so')

        def meanwhile():
            there.write = away
            raise saga_faults.Injected(step=cross_cell.SHOW, mode='cell2 is away')

        self.faults.fault = saga_faults.Fault(
            KIND, cross_cell.SHOW, saga_faults.Mode.DURING_AFTER, meanwhile=meanwhile
        )
        self.migrate(server)
        try:
            self.cloud.wait_for(lambda: 'write' in vars(there), 'the copy to be shown')
            row = self.faults.ended(server)
            self.assertEqual({'cell1': False, 'cell2': False}, self.crossing.records(server))
        finally:
            del there.write
        self.assertEqual(journal.CLEANING, row.state)
        api_db = self.stage.world.api_db
        self.cloud.wait_for(
            lambda: api_db.read(sagas.get, row.uuid).state == journal.UNDONE, 'the copy to go'
        )
        self.faults.fault = None
        self.given_back(server)
        self.again(server)
        self.assertEqual([], self.cloud.findings())

    def database(self, name):
        """The super-conductor's access to a cell's database."""
        cells = self.crossing.world.cells.every()
        return next(cell.db for cell in cells if cell.name == name)

    def test_binding_is_gone_when_it_is_activated(self):
        """It is made again."""
        server = self.boot_here()

        def meanwhile():
            network = self.cloud.admin.network
            (port,) = network.ports(device_id=server.id)
            network.delete(f'/ports/{port.id}/bindings/{DEST}')

        self.faults.fault = saga_faults.Fault(
            KIND, steps.ACTIVATE, saga_faults.Mode.DURING_BEFORE, meanwhile=meanwhile
        )
        self.migrate(server)
        self.assertEqual('done', self.faults.ended(server).state)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        self.assertEqual([], self.cloud.findings())

    def test_attachment_is_refused(self):
        """The volume service takes no attachment for a volume in maintenance."""
        server = self.boot_here()
        volume = self.cloud.admin.compute.get_server(server.id).attached_volumes[0].id
        self.reset(volume, 'error')
        self.migrate(server)
        self.crossing.idle(server)
        self.reset(volume, 'in-use')
        self.given_back(server)
        self.assertNotIn(AT_SOURCE, dict(self.stage.events(server, 'migrate')))
        self.again(server)

    def reset(self, volume, status):
        answer = self.cloud.admin.block_storage.post(
            f'/volumes/{volume}/action', json={'os-reset_status': {'status': status}}
        )
        self.assertEqual(202, answer.status_code, answer.text)

    # ---- what cannot be given back ----

    def test_not_given_back(self):
        """Neither the destination nor the source can start it."""
        server = self.boot_here()
        self.cloud.behave(failing(('spawn', 'cell2-*'), ('revert_migration', 'cell1-*')))
        self.migrate(server)
        self.given_back(server, 'ERROR')
        self.mended(server)
        self.again(server)

    def mended(self, server):
        """A hard reboot brings the server back."""
        self.cloud.behave(PROMPT)
        self.stage.act(server, 'reboot', {'type': 'HARD'})
        self.cloud.wait(server)
        self.assertEqual([SOURCE], self.cloud.guests()[server.id])
        self.assertEqual([], self.cloud.findings())

    def test_source_cannot_start_it_after_a_revert(self):
        server = self.boot_here()
        self.migrate(server)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        self.cloud.behave(failing(('revert_migration', 'cell1-*')))
        self.stage.act(server, 'revertResize')
        self.hurry(server)
        found = self.cloud.wait(server, 'ERROR')
        self.assertEqual(SOURCE, found.compute_host)
        self.assertIn('it broke', found.fault['message'])
        self.assertEqual('error', self.stage.migration(server)['status'])
        self.assertEqual({'cell1': False}, self.crossing.records(server))
        self.mended(server)
        self.again(server)

    def hurry(self, server):
        """Retry the saga at once, as often as it asks."""
        manager = self.cloud.cloud.daemons['super-conductor'].manager

        def over():
            row = manager.world.api_db.read(sagas.find_active, server.id)
            if row is not None and manager.world.api_db.write(sagas.wake, row.uuid):
                manager.engine.submit(row.uuid)
            return row is None

        self.cloud.wait_for(over, f'the saga of server {server.id} to end')

    def test_source_cannot_discard_the_guest_of_a_deleted_server(self):
        """The server is deleted while the source takes it back. Its audit removes the guest."""
        self.patch(intents, 'END_TIMEOUT_S', 0.5)
        server = self.boot_here()
        self.migrate(server)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        source = self.cloud.cloud.daemons['compute-cell1'].manager
        driver = source.site.driver
        restore, refused = driver.revert_migration, runtime.Event()

        def restore_late(*args, **options):
            if not refused.is_set():
                self.delete(server)
            return restore(*args, **options)

        def refuse(*_args, **_options):
            refused.set()
            raise exception.DriverError(reason='a test says so')

        self.patch(driver, 'revert_migration', restore_late)
        self.patch(driver, 'confirm_migration', refuse)
        self.stage.act(server, 'revertResize')
        self.hurry(server)
        self.assertTrue(refused.is_set())
        row = self.stage.world.api_db.read(sagas.every, instance_uuid=server.id)[0]
        self.assertEqual('done', row.state)
        self.assertIn(revert.FINISH, row.data[step.GIVEN_UP])
        self.assertEqual([(SOURCE, server.id)], self.guests_of(server))
        source.conf.set_override('stray_grace', 0, 'compute')
        self.addCleanup(source.conf.clear_override, 'stray_grace', 'compute')
        source.audit()
        self.cloud.wait_for(lambda: not self.guests_of(server), 'the audit to remove the guest')

    def guests_of(self, server):
        """[(node, server)] of the guests that there are of a server, running or not."""
        found = files.guests(files.of_state_directory(self.cloud.state_dir))
        return [(each.node, each.uuid) for each in found if each.uuid == server.id]

    def test_source_is_down(self):
        """No step begins that needs the source."""
        server = self.boot_here()
        with self.stage.forced_down(SOURCE):
            self.stage.act(server, 'migrate', {'host': DEST}, status=409)
        self.migrate(server)
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        with self.stage.forced_down(SOURCE):
            self.stage.act(server, 'confirmResize', status=409)
        self.stage.act(server, 'confirmResize', status=204)
        self.cloud.wait(server)
        self.crossing.idle(server)

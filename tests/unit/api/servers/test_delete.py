"""Deletions without a host whose API is killed on the way, and cells that are away."""

import datetime

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import actions
from nova_lite.db.cell import attempts
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.rpc import interface
from nova_lite.superconductor import manager as super_module
from nova_lite.superconductor import world as super_world
from tests.fixtures import api_neighbours
from tests.fixtures import clock
from tests.unit.api.servers import base
from tests.unit.api.servers import create_base

VIF = {'id': api_neighbours.PORT_ID, 'preserve_on_delete': False}


class Killed(BaseException):
    """The API process ends here."""


class Lethal:
    """A client in whose method, or after which, the caller is killed once."""

    def __init__(self, client, method, *, after):
        self._client, self._method, self._after = client, method, after

    def __getattr__(self, name):
        found = getattr(self._client, name)
        if name != self._method:
            return found

        def kill(*args, **kwargs):
            if self._after:
                found(*args, **kwargs)
            raise Killed()

        return kill


POINTS = [
    (client, method, after)
    for client, method in (
        ('placement', 'delete_allocations'),
        ('network', 'deallocate'),
        ('volume', 'delete_attachment'),
        ('volume', 'delete'),
    )
    for after in (False, True)
]


def _age(connection, past):
    """Set the times of all rows to long ago."""
    table = instances.TABLE
    connection.execute(
        table.update().where(table.c.deleted_at.is_not(None)).values(deleted_at=past)
    )
    connection.execute(table.update().values(updated_at=past))


class Sweeping:
    """Runs the super-conductor's sweep as if all had been idle for long enough."""

    def sweep(self):
        options = conf.make_conf(files=[])
        world = super_world.World(
            options,
            api_db=self.api.api_db,
            cells=self.api.cells,
            scheduler=None,
            clients=self.api.neighbours,
        )
        boss = super_module.SuperConductor(options, world, name='one')
        self.addCleanup(boss.stop)
        past = runtime.naive_now() - datetime.timedelta(seconds=300)
        for cell in self.api.cells.every():
            cell.db.write(_age, past)
        table = api_models.BuildRequest.__table__
        # No scheduler that was asked to claim for it can answer any more.
        values = {
            'lease_until': past,
            'withdrawn_at': past - datetime.timedelta(seconds=interface.LONG),
        }
        self.api.api_db.write(lambda c: c.execute(table.update().values(values)))
        boss.sweep_builds()
        boss.sweep_deletions()

    def kill_in(self, client, method, after, *request):
        setattr(self.api.app, client, Lethal(getattr(self.api.app, client), method, after=after))
        try:
            self.assertRaises(Killed, self.api.call, *request)
        finally:
            setattr(self.api.app, client, getattr(self.api.neighbours, client))


class TestLocalDelete(Sweeping, base.Case):
    def server_in(self, cell):
        uuid = self.api.add_server(cell, host=None, node=None, vm_state='error', network_info=[VIF])
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': api_neighbours.VOLUME_ID,
            'attachment_id': runtime.new_uuid(),
            'delete_on_termination': True,
        }
        self.api.cell(cell).db.write(children.create_block_devices, [device])
        return uuid, device['attachment_id']

    def test_killed_in_cell0(self):
        for number, point in enumerate(POINTS):
            uuid, attachment = self.server_in('cell0')
            self.kill_in(*point, 'DELETE', f'/servers/{uuid}')
            self.sweep()
            where = str(POINTS[number])
            self.assertTrue(self.api.row(uuid, 'cell0').deleted, where)
            self.assertNotIn(('api_local_delete', None), self.events('cell0'), where)
            mapping = self.api.api_db.read(instance_mappings.get, uuid)
            self.assertTrue(mapping.queued_for_delete, where)
            neighbours = self.api.neighbours
            self.assertIn(uuid, neighbours.placement.released, where)
            self.assertIn(uuid, neighbours.network.released, where)
            self.assertIn(attachment, neighbours.volume.deleted, where)
            self.assertIn(api_neighbours.VOLUME_ID, neighbours.volume.volumes_deleted, where)
            neighbours.volume.volumes_deleted.clear()

    def test_a_host_that_its_cell_cannot_hear(self):
        """It may be well, and deletes the server; one that is down does not."""
        virtual = self.useFixture(clock.ManualClock())
        uuid, write = self.api.add_server(), self.api.cell('cell1').db.write
        write(services.beat, ['conductor'], services.CONDUCTOR, 'conductor')
        write(services.beat, ['host1'], services.COMPUTE, 'compute')
        virtual.advance(100)
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        self.assertEqual(['delete_instance'], [name for name, _given in self.sent()])
        self.assertNotIn(uuid, self.api.neighbours.network.released)
        write(services.beat, ['conductor'], services.CONDUCTOR, 'conductor')
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertTrue(self.api.row(uuid).deleted)

    def test_what_was_being_copied(self):
        """Its host, which is lost, will not fill the image."""
        uuid, _attachment = self.server_in('cell1')
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        self.api.cell('cell1').db.write(actions.start, ctxt, uuid, 'createImage')
        images = self.api.neighbours.image
        known = {*images.images}
        images.add(
            'half',
            status='saving',
            properties={'instance_uuid': uuid, 'image_type': 'snapshot'},
        )
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertTrue(self.api.row(uuid).deleted)
        self.assertEqual(known, {*images.images})

    def test_what_an_audit_will_finish_does_not_count(self):
        uuid, _attachment = self.server_in('cell1')
        network = self.api.neighbours.network

        def away(*_args):
            raise exception.Unavailable(service='The network service', reason='test')

        network.deallocate = away
        self.refused('DELETE', f'/servers/{uuid}', code=503)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertTrue(mapping.queued_for_delete)

    def test_the_event_begins_before_anything_is_released(self):
        uuid, _attachment = self.server_in('cell1')
        self.kill_in('network', 'deallocate', False, 'DELETE', f'/servers/{uuid}')
        self.assertEqual([('api_local_delete', None)], self.events())
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        # The first was interrupted, and has been since.
        self.assertEqual(
            [('api_local_delete', 'Error'), ('api_local_delete', 'Success')], self.events()
        )

    def events(self, cell='cell1'):
        """[(event, result), ...], oldest first."""
        found = self.api.cell(cell).db.read(
            rows.every, actions.EVENTS, order_by=actions.EVENTS.c.id
        )
        return [(row.event, row.result) for row in found]


class TestCounted(Sweeping, base.Case):
    """The API is killed at each of its transactions in turn: what counts is what there is."""

    overrides = ((None, 'reclaim_instance_interval', 60),)

    def is_counted(self, uuid):
        servers, _vcpus, _memory_mb = self.api.api_db.read(instance_mappings.usage, 'alpha')
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertEqual(not mapping.queued_for_delete, bool(servers))
        return bool(servers)

    def kill_at(self, database, number, after, *request):
        """Kill the API at its write of that number; False when it makes fewer."""
        write, made = database.write, []

        def kill(*args, **kwargs):
            made.append(args)
            if len(made) < number:
                return write(*args, **kwargs)
            if after:
                write(*args, **kwargs)
            raise Killed()

        database.write = kill
        try:
            self.api.call(*request)
        except Killed:
            return True
        finally:
            database.write = write
        return False

    def every_point(self):
        for database in (self.api.api_db, self.api.cell('cell1').db):
            for number in (1, 2, 3):
                for after in (False, True):
                    yield database, number, after

    def finish(self, uuid):
        """Delete the server, as its host or the host's audit does."""
        row = self.api.row(uuid)
        kept = (row.vm_state, row.task_state) == ('soft-delete', None)
        if kept or row.task_state in ('deleting', 'soft-deleting'):
            self.api.cell('cell1').db.write(instances.mark_deleted, uuid)
        self.sweep()

    def test_deletion(self):
        ends = set()
        for point in self.every_point():
            for launched_at in (None, runtime.naive_now()):  # deleted at once, kept for a while
                uuid = self.api.add_server(launched_at=launched_at)
                killed = self.kill_at(*point, 'DELETE', f'/servers/{uuid}')
                self.finish(uuid)
                deleted = self.api.row(uuid).deleted
                self.assertEqual(not deleted, self.is_counted(uuid), f'{launched_at} {point}')
                ends.add((killed, deleted))
                self.api.api_db.write(instance_mappings.destroy, uuid)
        self.assertEqual({(True, True), (True, False), (False, True)}, ends)

    def test_restoration(self):
        ends = set()
        for point in self.every_point():
            uuid = self.api.add_server(vm_state='soft-delete', deleted_at=runtime.naive_now())
            self.api.api_db.write(instance_mappings.set_queued_for_delete, [uuid])
            body = {'restore': None}
            killed = self.kill_at(*point, 'POST', f'/servers/{uuid}/action', body)
            restored = self.api.row(uuid).task_state == 'restoring'
            self.finish(uuid)
            self.assertEqual(restored, self.is_counted(uuid), str(point))
            ends.add((killed, restored))
            self.api.api_db.write(instance_mappings.destroy, uuid)
        self.assertEqual({(True, True), (True, False), (False, True)}, ends)

    def test_forgets_the_arguments_of_a_build_without_host(self):
        """They have the administrator's password and personality files."""
        build = {'context': {}, 'options': {'admin_pass': 'secret'}}
        values = {'vm_state': 'building', 'task_state': 'scheduling', 'build': build}
        uuid = self.api.add_server(host=None, node=None, **values)
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        row = self.api.row(uuid)
        self.assertEqual((True, None), (row.deleted, row.build))

    def test_what_ceased_to_count_and_stays(self):
        """An API was frozen between its writes, killed after both, and a restore in between."""
        uuid = self.api.add_server()
        self.api.api_db.write(instance_mappings.set_queued_for_delete, [uuid])
        self.sweep()
        self.assertTrue(self.is_counted(uuid))

    def test_killed_while_it_is_kept(self):
        uuid = self.api.add_server(vm_state='soft-delete', deleted_at=runtime.naive_now())
        self.assertTrue(self.is_counted(uuid))
        self.sweep()
        self.assertFalse(self.is_counted(uuid))

    def test_restored_before_it_ceases_to_count(self):
        uuid = self.api.add_server(vm_state='active')
        database, write = self.api.api_db, self.api.api_db.write

        def restored_first(*args, **kwargs):
            database.write = write
            values = {'vm_state': 'active', 'task_state': None, 'deleted_at': None}
            self.api.cell('cell1').db.write(instances.force, uuid, values)
            return write(*args, **kwargs)

        database.write = restored_first
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual([], self.sent())
        self.assertTrue(self.is_counted(uuid))

    def test_restoration_of_what_is_deleted_meanwhile(self):
        uuid = self.api.add_server(vm_state='soft-delete', deleted_at=runtime.naive_now())
        self.api.api_db.write(instance_mappings.set_queued_for_delete, [uuid])
        database = self.api.cell('cell1').db
        write = database.write

        def first(*args, **kwargs):
            database.write = write
            write(instances.mark_deleted, uuid)
            return write(*args, **kwargs)

        database.write = first
        self.refused_act(uuid, 'restore', code=404)
        self.assertFalse(self.is_counted(uuid))


class TestDeleteBeforeBuild(Sweeping, create_base.Case):
    def accepted(self):
        item = {
            'source_type': 'volume',
            'destination_type': 'volume',
            'boot_index': 0,
            'uuid': api_neighbours.VOLUME_ID,
        }
        (request,) = self.create(block_device_mapping_v2=[item], imageRef=create_base.ABSENT)
        return request.instance_uuid

    def stored(self, uuid):
        table = api_models.BuildRequest.__table__
        return self.api.api_db.read(
            lambda c: c.execute(table.select().where(table.c.instance_uuid == uuid)).first()
        )

    def assert_gone(self, uuid):
        self.assertIsNone(self.stored(uuid))
        volume = self.api.neighbours.volume
        self.assertEqual({volume.attached[-1][2]}, set(volume.deleted))
        self.assertIn(uuid, self.api.neighbours.placement.released)

    def test_killed(self):
        for point in POINTS[:2] + POINTS[4:6]:
            uuid = self.accepted()
            self.api.neighbours.volume.deleted.clear()
            self.kill_in(*point, 'DELETE', f'/servers/{uuid}')
            self.refused('GET', f'/servers/{uuid}', code=404)
            self.assertEqual([], self.api.call('GET', '/servers').json['servers'])
            self.sweep()
            self.assert_gone(uuid)

    def test_a_cell_that_is_away(self):
        """A builder that was killed may have left a record there, which its host finds."""
        uuid = self.accepted()
        database = self.api.cell('cell2').db
        values = self.api.record(uuid=uuid, vm_state='building', task_state='scheduling')
        database.write(instances.create, [values])
        database.dispose()
        url, database.url, database._engine = database.url, 'sqlite:////nonexistent/x', None
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.refused('GET', f'/servers/{uuid}', code=404)
        self.assertIsNotNone(self.stored(uuid))
        database.url, database._engine = url, None
        self.sweep()
        self.assertIsNone(self.api.row(uuid, 'cell2'))
        self.assert_gone(uuid)

    def test_its_builder_adds_nothing_any_more(self):
        uuid = self.accepted()
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        for cell in self.api.cells.every():
            self.assertEqual({uuid}, cell.db.read(attempts.overtaken, {uuid: 0}))
        self.assertIsNone(self.api.api_db.read(build_requests.find, uuid))

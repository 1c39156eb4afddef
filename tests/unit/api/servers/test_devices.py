"""Attaching and detaching devices: what is refused, and what is begun."""

import types

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api.servers import devices
from nova_lite.db.api import sagas
from nova_lite.db.cell import children
from nova_lite.db.cell import migrations
from nova_lite.saga import journal
from tests.fixtures import api_neighbours
from tests.fixtures import clock
from tests.fixtures import compute_api
from tests.unit.api.servers import base

VOLUME = api_neighbours.VOLUME_ID


class DevicesTest(base.Case):
    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server()
        self.path = f'/servers/{self.uuid}/os-volume_attachments'

    def add_device(self, uuid=None, *, cell='cell1', **values):
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid or self.uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'delete_on_termination': False,
            'volume_id': runtime.new_uuid(),
            'device_name': '/dev/vda',
            **values,
        }
        self.api.cell(cell).db.write(children.create_block_devices, [device])
        return device

    def devices(self, uuid=None):
        uuid = uuid or self.uuid
        return self.api.cell('cell1').db.read(children.block_devices, [uuid]).get(uuid, [])

    def saga(self, uuid=None):
        return self.api.api_db.read(sagas.find_active, uuid or self.uuid)

    def attach(self, code=202, version='2.101', **options):
        values = {'volumeId': VOLUME, **options.pop('values', {})}
        send = self.ok if code < 400 else self.refused
        body = {'volumeAttachment': values}
        return send('POST', self.path, body, code=code, version=version, **options)

    def waited(self, data):
        """Return what `devices.wait` returns of a saga that was undone after it had told `data`."""
        uuid = runtime.new_uuid()
        options = {'uuid': uuid, 'kind': 'attach-volume', 'instance_uuid': self.uuid}
        self.api.api_db.write(sagas.create, context.admin(), arguments={}, **options)
        error = {'type': 'NovaLiteError', 'kind': 'unavailable', 'message': 'it is off'}
        values = {'state': journal.UNDONE, 'data': data, 'error': error, 'active_for': None}
        undo = sagas.TABLE.update().where(sagas.TABLE.c.uuid == uuid).values(values)
        self.api.api_db.write(lambda connection: connection.execute(undo))
        req = types.SimpleNamespace(app=self.api.app, conf=self.api.conf)
        return devices.wait(req, uuid)

    # ---- what is awaited ----

    def test_what_was_told_counts_although_it_failed_later(self):
        self.assertTrue(self.waited({'accepted': True}))

    def test_what_failed_before(self):
        error = self.assertRaises(exception.Unavailable, self.waited, {})
        self.assertIn('it is off', str(error))

    # ---- volumes ----

    def test_what_an_attachment_begins(self):
        self.add_device(boot_index=0)
        self.add_device(device_name='/dev/vdb')
        self.attach(values={'tag': 'x', 'delete_on_termination': True})
        device = self.devices()[-1]
        self.assertEqual('/dev/vdc', device.device_name)
        self.assertEqual(
            (VOLUME, 'x', True), (device.volume_id, device.tag, device.delete_on_termination)
        )
        saga = self.saga()
        self.assertEqual('attach-volume', saga.kind)
        self.assertEqual(device.uuid, saga.arguments['device'])
        # The server is free again when that saga has ended.
        self.refused('DELETE', f'{self.path}/{VOLUME}', code=400, version='2.101')

    def test_names_follow_the_root_disk(self):
        self.add_device(boot_index=0, device_name='/dev/sda')
        self.attach()
        self.assertEqual('/dev/sdb', self.devices()[-1].device_name)

    def test_nothing_is_begun_that_is_refused(self):
        self.add_device(boot_index=0)
        self.attach(409, values={'device': '/dev/vda'})
        self.attach(400, values={'device': 'nonsense'})
        self.attach(404, values={'volumeId': runtime.new_uuid()})
        self.attach(403, who=compute_api.READER)
        self.api.neighbours.volume.add(VOLUME, status='in-use')
        self.attach(400)
        self.assertIsNone(self.saga())
        self.assertEqual(1, len(self.devices()))

    def test_multiattach(self):
        self.api.neighbours.volume.add(VOLUME, multiattach=True)
        self.attach(400, version='2.59', text='2.60')
        offloaded = self.api.add_server(vm_state='shelved_offloaded', host=None)
        self.path = f'/servers/{offloaded}/os-volume_attachments'
        self.attach(400, text='shelved-offloaded')
        self.attach(409, version='2.19')
        self.api.neighbours.volume.add(VOLUME)
        self.attach(400, values={'tag': 'x'}, text='Tagged')
        self.attach()
        self.assertEqual('attach-volume', self.saga(offloaded).kind)

    def test_volume_of_another_server(self):
        """Its status was reset. A server in the other cell has it."""
        other = self.api.add_server('cell2')
        device = self.add_device(other, cell='cell2', volume_id=VOLUME)
        self.attach(400, text=f'volume {VOLUME} is already attached to instances: {other}')
        swapped = self.add_device(boot_index=0)['volume_id']
        migrating = {'status': 'in-use', 'migration_status': 'migrating'}
        self.api.neighbours.volume.add(swapped, **migrating)
        self.refused(
            'PUT',
            f'{self.path}/{swapped}',
            {'volumeAttachment': {'volumeId': VOLUME}},
            code=400,
            text=f'attached to instances: {other}',
            who=compute_api.ADMIN,
        )
        self.assertIsNone(self.saga())
        write = self.api.cell('cell2').db.write
        self.api.neighbours.volume.add(VOLUME, multiattach=True)
        self.attach()
        write(children.destroy_block_device, device['uuid'])
        self.api.neighbours.volume.add(VOLUME)
        self.attach(400, text='already attached to this server')

    def test_volume_that_a_server_is_about_to_give_back(self):
        """It is available before the record of the other server ends, or stays in ERROR."""
        for columns in (
            {'task_state': 'deleting'},
            {'vm_state': 'error', 'task_state': 'deleting'},
            {'vm_state': 'error', 'host': None, 'node': None},
        ):
            self.add_device(self.api.add_server(**columns), volume_id=VOLUME)
        self.attach()

    def test_volume_that_a_server_in_error_has(self):
        for columns in (
            {'vm_state': 'error'},
            {'vm_state': 'shelved_offloaded', 'host': None, 'node': None},
            {'vm_state': 'soft-delete'},
        ):
            other = self.api.add_server(**columns)
            device = self.add_device(other, volume_id=VOLUME)
            self.attach(400, text=f'attached to instances: {other}')
            self.api.cell('cell1').db.write(children.destroy_block_device, device['uuid'])

    def test_states(self):
        for state in ('suspended', 'rescued', 'error', 'building'):
            uuid = self.api.add_server(vm_state=state)
            self.path = f'/servers/{uuid}/os-volume_attachments'
            self.attach(409, text='attach_volume')
        uuid = self.api.add_server(task_state='rebooting')
        self.path = f'/servers/{uuid}/os-volume_attachments'
        self.attach(409, text='task_state')

    def test_detach(self):
        root = self.add_device(boot_index=0)
        self.api.neighbours.volume.add(root['volume_id'], status='in-use')
        self.refused('DELETE', f'{self.path}/{root["volume_id"]}', code=400, text='root')
        self.refused('DELETE', f'{self.path}/{VOLUME}', code=404)
        other = self.add_device(device_name='/dev/vdb')
        path = f'{self.path}/{other["volume_id"]}'
        self.api.neighbours.volume.add(other['volume_id'], status='reserved')
        self.refused('DELETE', path, code=400, text='in-use')
        self.api.neighbours.volume.add(other['volume_id'], status='in-use')
        # It is begun, and its result is not reported.
        self.refused('DELETE', path, code=503)
        self.assertEqual('detach-volume', self.saga().kind)

    def test_update(self):
        device = self.add_device(tag='x')
        volume = device['volume_id']
        path = f'{self.path}/{volume}'
        wanted = {'volumeId': volume, 'delete_on_termination': True}
        self.refused('PUT', path, {'volumeAttachment': wanted}, code=400, version='2.84')
        self.ok('PUT', path, {'volumeAttachment': wanted}, code=202, version='2.85')
        self.assertTrue(self.devices()[0].delete_on_termination)
        same = {'id': volume, 'serverId': self.uuid, 'device': '/dev/vda', 'tag': 'x'}
        body = {'volumeAttachment': {'volumeId': volume, **same}}
        self.ok('PUT', path, body, code=202, version='2.85')
        for name, value in (('id', VOLUME), ('device', '/dev/vdb'), ('tag', 'y')):
            body = {'volumeAttachment': {'volumeId': volume, name: value}}
            self.refused('PUT', path, body, code=400, version='2.85', text=name)
        body = {'volumeAttachment': {'volumeId': VOLUME}}
        missing = f'{self.path}/{VOLUME}'
        self.refused('PUT', missing, body, code=404, version='2.85')

    def test_swap_is_for_services(self):
        device = self.add_device()
        self.api.neighbours.volume.add(device['volume_id'], status='in-use')
        path = f'{self.path}/{device["volume_id"]}'
        body = {'volumeAttachment': {'volumeId': VOLUME}}
        self.refused('PUT', path, body, code=403, version='2.84')
        self.refused('PUT', path, body, code=403, version='2.85')
        self.refused('PUT', path, body, code=409, version='2.84', who=base.ADMIN)
        values = {'status': 'in-use', 'migration_status': 'migrating'}
        self.api.neighbours.volume.add(device['volume_id'], **values)
        self.refused('PUT', path, body, code=503, version='2.84', who=base.ADMIN)
        self.assertEqual('swap-volume', self.saga().kind)

    def test_most_devices_of_requests_at_once(self):
        """Another device is added after the request has counted them."""
        self.api.conf.set_override('max_disk_devices_to_attach', 2, 'compute')
        self.add_device(boot_index=0)
        cell = self.api.cell('cell1')
        write = cell.db.write

        def late(function, *args, **kwargs):
            cell.db.write = write
            self.add_device(device_name='/dev/vdb')
            return write(function, *args, **kwargs)

        cell.db.write = late
        self.attach(403, text='maximum')
        self.assertEqual(2, len(self.devices()))
        self.assertIsNone(self.saga())

    def test_limit_of_devices(self):
        self.api.conf.set_override('max_disk_devices_to_attach', 2, 'compute')
        self.add_device(boot_index=0)
        self.add_device(device_name='/dev/vdb')
        self.attach(403, text='2')
        self.api.conf.set_override('max_disk_devices_to_attach', 3, 'compute')
        self.attach()

    def test_resized_server_is_not_deleted_meanwhile(self):
        """The deletion would confirm the resize, for which the saga leaves no room."""
        uuid = self.api.add_server(vm_state='resized')
        migration = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'migration_type': 'resize',
            'status': 'finished',
            'source_compute': 'host1',
            'dest_compute': 'host1',
        }
        self.api.cell('cell1').db.write(migrations.create, migration)
        self.path = f'/servers/{uuid}/os-volume_attachments'
        self.attach()
        self.useFixture(clock.Installed(clock.PassingRuntime()))
        self.refused('DELETE', f'/servers/{uuid}', code=409, text='another operation')
        row = self.api.row(uuid)
        self.assertEqual(('resized', None), (row.vm_state, row.task_state))

    # ---- interfaces ----

    def test_interface_that_contradicts_itself(self):
        path = f'/servers/{self.uuid}/os-interface'
        network, port = api_neighbours.NETWORK_ID, api_neighbours.PORT_ID
        address = [{'ip_address': '192.0.2.1'}]
        for wanted in (
            {'net_id': network, 'port_id': port},
            {'fixed_ips': address},
            {'net_id': network, 'fixed_ips': []},
            {'net_id': network, 'fixed_ips': address * 2},
        ):
            self.refused('POST', path, {'interfaceAttachment': wanted}, code=400)
        for wanted in ({'net_id': VOLUME}, {'port_id': VOLUME}):
            self.refused('POST', path, {'interfaceAttachment': wanted}, code=404)
        self.assertIsNone(self.saga())

    def test_network_is_chosen(self):
        path = f'/servers/{self.uuid}/os-interface'
        self.refused('POST', path, {'interfaceAttachment': {}}, code=503)
        self.refused('POST', f'/servers/{self.api.add_server()}/os-interface', {}, code=503)
        saga = self.saga()
        self.assertEqual('attach-interface', saga.kind)
        self.assertEqual(api_neighbours.NETWORK_ID, saga.arguments['request']['network_id'])

    def test_an_interface_waits_for_no_bus(self):
        """Its answer would be the host's; nothing is begun while that cannot come."""
        path = f'/servers/{self.uuid}/os-interface'
        for client in (self.api.super_conductor, self.api.compute['cell1']):
            client.answers['require_answers'] = exception.BusUnavailable(
                service='The message bus', reason='it does not answer'
            )
            self.refused('POST', path, {'interfaceAttachment': {}}, code=503)
            self.assertIsNone(self.saga())
            client.answers.clear()

    def test_a_bus_that_falls_silent_meanwhile(self):
        """The request waits no longer; what it has begun goes on.

        The saga is not taken up, or its step is repeated because its host is not reached.
        """
        silent = exception.BusUnavailable(service='The message bus', reason='it does not answer')
        self.useFixture(clock.Installed(clock.PassingRuntime()))
        self.api.conf.set_override('device_timeout', 600, 'api')
        for client, reached in (
            (self.api.super_conductor, {'epoch': 0}),
            (self.api.compute['cell1'], {'epoch': 1, 'attempts': 1}),
        ):

            def run_saga(_ctxt, saga_uuid, client=client, reached=reached):
                table = sagas.TABLE
                change = table.update().where(table.c.uuid == saga_uuid).values(reached)
                self.api.api_db.write(lambda connection: connection.execute(change))
                client.answers['require_answers'] = silent

            self.api.super_conductor.run_saga = run_saga
            server = self.api.add_server()
            path = f'/servers/{server}/os-interface'
            self.refused('POST', path, {'interfaceAttachment': {}}, code=503)
            self.assertEqual('attach-interface', self.saga(server).kind)
            client.answers.clear()

    def test_a_bus_is_asked_once_a_second(self):
        self.useFixture(clock.Installed(clock.PassingRuntime()))
        self.api.conf.set_override('device_timeout', 10, 'api')
        path = f'/servers/{self.uuid}/os-interface'
        self.refused('POST', path, {'interfaceAttachment': {}}, code=503)
        # Once before anything is begun.
        self.assertIn(self.api.super_conductor.asked, range(9, 12))

    def test_an_unknown_volume_is_not_found_in_any_state(self):
        for state in ('suspended', 'rescued', 'error'):
            uuid = self.api.add_server(vm_state=state)
            path = f'/servers/{uuid}/os-volume_attachments/{runtime.new_uuid()}'
            self.refused('DELETE', path, code=404)

    def test_detaching_an_unknown_interface_is_accepted(self):
        """As in nova, the action has the error."""
        path = f'/servers/{self.uuid}/os-interface/{runtime.new_uuid()}'
        self.ok('DELETE', path, code=202)
        self.assertEqual('detach-interface', self.saga().kind)

    def test_interface_states(self):
        for state in ('suspended', 'resized', 'shelved', 'shelved_offloaded'):
            uuid = self.api.add_server(vm_state=state, network_info=[{'id': VOLUME}])
            path = f'/servers/{uuid}/os-interface'
            self.refused('POST', path, {'interfaceAttachment': {}}, code=409)
            self.refused('DELETE', f'{path}/{VOLUME}', code=409)

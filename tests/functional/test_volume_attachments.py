"""Volumes of servers in a whole cloud: attached, listed, detached, in all states."""

from nova_lite import context
from nova_lite import runtime
from nova_lite.moves.parts import detaching
from tests.fixtures import attaching
from tests.fixtures import moving
from tests.fixtures import saga_faults
from tests.functional import base
from tests.sim.cases import loading

load_tests = loading.load_tests

SUCCESS = 'Success'


class AttachmentsTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.stage = moving.Moving(self.cloud)
        self.server = self.cloud.boot()

    def test_attach_and_detach(self):
        volume = self.hands.volume()
        answer = self.hands.attached(self.server, volume)
        self.assertEqual(
            {
                'id': volume,
                'volumeId': volume,
                'serverId': self.server.id,
                'device': '/dev/vdb',
                'tag': None,
                'delete_on_termination': False,
            },
            answer,
        )
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        self.assertEqual(
            [('compute_reserve_block_device_name', SUCCESS), ('compute_attach_volume', SUCCESS)],
            self.stage.events(self.server, 'attach_volume'),
        )
        self.hands.detached(self.server, volume)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.assertEqual([], self.hands.volumes_of_guest(self.server))
        self.assertEqual([], self.hands.attachments(self.server))
        self.assertEqual(
            [('compute_detach_volume', SUCCESS)], self.stage.events(self.server, 'detach_volume')
        )
        self.hands.detach(self.server, volume, status=404)

    def test_fields_by_microversion(self):
        volume = self.hands.volume()
        self.hands.attached(self.server, volume, tag='data', delete_on_termination=True)
        base_fields = {'id', 'volumeId', 'serverId', 'device'}
        fields = {
            '2.1': base_fields,
            '2.69': base_fields,
            '2.70': base_fields | {'tag'},
            '2.79': base_fields | {'tag', 'delete_on_termination'},
            '2.89': (base_fields - {'id'})
            | {'tag', 'delete_on_termination', 'attachment_id', 'bdm_uuid'},
        }
        path = f'/servers/{self.server.id}/os-volume_attachments/{volume}'
        for version, expected in fields.items():
            (listed,) = self.hands.attachments(self.server, version)
            self.assertEqual(expected, set(listed), version)
            shown = self.api('GET', path, version=version)['volumeAttachment']
            self.assertEqual(listed, shown)
        self.assertEqual(('data', True), (shown['tag'], shown['delete_on_termination']))
        self.delete(self.server)
        self.assertIsNone(self.cloud.admin.block_storage.find_volume(volume))

    def test_pages(self):
        volumes = [self.hands.volume() for _number in range(3)]
        for volume in volumes:
            self.hands.attached(self.server, volume)
        path = f'/servers/{self.server.id}/os-volume_attachments'
        page = self.api('GET', f'{path}?limit=1&offset=1')['volumeAttachments']
        self.assertEqual([volumes[1]], [each['volumeId'] for each in page])
        self.assertEqual('/dev/vdc', page[0]['device'])
        self.refused(400, 'GET', f'{path}?unknown=1')
        self.assertEqual(3, len(self.api('GET', f'{path}?unknown=1', version='2.74').popitem()[1]))

    def test_asynchronous(self):
        volume = self.hands.volume()
        answer = self.cloud.api(
            'POST',
            f'/servers/{self.server.id}/os-volume_attachments',
            version='2.101',
            json={'volumeAttachment': {'volumeId': volume}},
        )
        self.assertEqual((202, b''), (answer.status_code, answer.content))
        self.hands.wait_idle(self.server)
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))

    def test_states(self):
        for action, status, back in (
            ('os-stop', 'SHUTOFF', 'os-start'),
            ('pause', 'PAUSED', 'unpause'),
        ):
            volume = self.hands.volume()
            self.stage.act(self.server, action)
            self.cloud.wait(self.server, status)
            self.hands.attached(self.server, volume)
            self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
            self.stage.act(self.server, back)
            self.cloud.wait(self.server)
            self.hands.detached(self.server, volume)
        self.stage.act(self.server, 'suspend')
        self.cloud.wait(self.server, 'SUSPENDED')
        self.hands.attach(self.server, volume, status=409)
        self.assertEqual('available', self.hands.volume_status(volume))

    def test_refusals(self):
        volume, missing = self.hands.volume(), runtime.new_uuid()
        self.hands.attach(self.server, missing, status=404)
        self.hands.detach(self.server, missing, status=404)
        self.hands.detach(self.server, volume, status=404)
        self.hands.attach(self.server, volume, device='vdb', status=400)
        self.hands.attach(self.server, volume, tag='x', version='2.48', status=400)
        self.hands.attach(self.server, volume, device='/dev/vda', status=409)
        self.hands.attached(self.server, volume, device='/dev/vdx')
        (listed,) = self.hands.attachments(self.server)
        self.assertEqual('/dev/vdx', listed['device'])
        self.hands.attach(self.server, volume, status=400)
        other = self.cloud.boot()
        self.hands.attach(other, volume, status=400)
        self.hands.detach(other, volume, status=404)
        self.assertEqual([], self.hands.attachments(other))

    def test_locked(self):
        volume = self.hands.volume()
        mine = self.stage.boot_as_member()
        self.stage.act(mine, 'lock')
        path = f'/servers/{mine.id}/os-volume_attachments'
        body = {'volumeAttachment': {'volumeId': volume}}
        self.refused(409, 'POST', path, body, cloud='nova-lite-demo')
        self.refused(409, 'DELETE', f'{path}/{volume}', cloud='nova-lite-demo')

    def test_root_disk_stays(self):
        image = self.cloud.admin.image.find_image('cirros')
        root = {
            'boot_index': 0,
            'source_type': 'image',
            'destination_type': 'volume',
            'uuid': image.id,
            'volume_size': 1,
            'delete_on_termination': True,
        }
        server = self.cloud.boot(block_device_mapping=[root])
        (listed,) = self.hands.attachments(server)
        self.hands.detach(server, listed['volumeId'], status=400)

    def test_host_is_down(self):
        volume, other = self.hands.volume(), self.hands.volume()
        self.hands.attached(self.server, volume)
        host = self.cloud.admin.compute.get_server(self.server.id).compute_host
        with self.stage.forced_down(host):
            self.hands.attach(self.server, other, status=409)
            self.hands.detach(self.server, volume, status=409)
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual('available', self.hands.volume_status(other))
        self.hands.detached(self.server, volume)

    def test_shelved(self):
        volume, other = self.hands.volume(), self.hands.volume()
        self.hands.attached(self.server, other)
        self.stage.act(self.server, 'shelve')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        self.hands.wait_idle(self.server)
        self.hands.attach(self.server, volume, version='2.19', status=409)
        self.hands.attach(self.server, volume, tag='x', status=400)
        self.hands.attached(self.server, volume)
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual('reserved', self.hands.volume_status(other))
        self.assertEqual(
            [('api_attach_volume', SUCCESS)], self.stage.events(self.server, 'attach_volume')
        )
        self.assertEqual([], self.cloud.findings())
        for each in (other, volume):
            self.hands.detached(self.server, each)
            self.assertEqual('available', self.hands.volume_status(each))
        self.hands.attached(self.server, volume)
        self.stage.act(self.server, 'unshelve')
        self.cloud.wait(self.server)
        self.hands.wait_idle(self.server)
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))

    def test_host_fails(self):
        volume = self.hands.volume()
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        for when in ('before', 'after'):
            self.cloud.behave(
                f'extends: instant\nfailures: [{{verb: attach_volume, when: {when}, first: 1}}]\n'
            )
            self.hands.attach(self.server, volume)
            self.hands.wait_idle(self.server)
            self.assertEqual([], self.hands.attachments(self.server))
            self.assertEqual([], self.hands.holdings(self.server))
            self.assertEqual('available', self.hands.volume_status(volume))
            self.assertEqual([], self.hands.volumes_of_guest(self.server))
            self.assertIn(
                ('compute_attach_volume', 'Error'),
                self.stage.events(self.server, 'attach_volume'),
            )
        self.hands.attached(self.server, volume)
        self.cloud.behave('extends: instant\nfailures: [{verb: detach_volume, first: 1}]\n')
        self.hands.detached(self.server, volume)
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        self.hands.detached(self.server, volume)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.assertEqual('ACTIVE', self.status(self.server))

    def test_multiattach(self):
        storage = self.cloud.admin.block_storage
        kind = storage.create_type(name='shared', extra_specs={'multiattach': '<is> True'})
        volume = self.hands.volume(volume_type=kind.id)
        other = self.cloud.boot()
        self.hands.attach(self.server, volume, version='2.59', status=400)
        for server in (self.server, other):
            self.hands.attached(server, volume, version='2.60')
            self.assertEqual([volume], self.hands.volumes_of_guest(server))
        self.hands.detached(self.server, volume)
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual([volume], self.hands.volumes_of_guest(other))
        self.hands.detached(other, volume)
        self.assertEqual('available', self.hands.volume_status(volume))

    def test_several_at_once(self):
        volumes = [self.hands.volume() for _number in range(4)]
        answers = self.stage.together(
            *(lambda volume=volume: self.hands.attach(self.server, volume) for volume in volumes)
        )
        self.hands.wait_idle(self.server)
        names = sorted(answer['volumeAttachment']['device'] for answer in answers)
        self.assertEqual([f'/dev/vd{letter}' for letter in 'bcde'], names)
        self.assertEqual(sorted(volumes), sorted(self.hands.volumes_of_guest(self.server)))

    def test_volume_with_a_snapshot_outlives_its_server(self):
        server = self.stage.boot_from_volume()
        (volume_id,) = self.hands.volumes_of_guest(server)
        storage = self.cloud.admin.block_storage
        snapshot = storage.create_snapshot(volume_id=volume_id, is_forced=True)
        self.addCleanup(storage.delete_volume, volume_id)
        self.addCleanup(storage.wait_for_delete, snapshot)
        self.addCleanup(storage.delete_snapshot, snapshot)
        self.delete(server)
        self.assertEqual('available', self.hands.volume_status(volume_id))

    def place(self, volume_id):
        """(back end, status of the last migration, status) of a volume."""
        found = self.cloud.admin.block_storage.get_volume(volume_id)
        return found.host, found.migration_status, found.status

    def test_volume_that_moves_to_another_back_end(self):
        """The volume service has our API swap it for a target, whose place it then takes."""
        volume = self.hands.volume()
        self.hands.attached(self.server, volume)
        (before,) = self.hands.attachments(self.server)
        moved = (self.hands.migrate(volume), 'success', 'in-use')
        self.cloud.wait_for(lambda: self.place(volume) == moved, 'the volume')
        self.hands.wait_idle(self.server)
        (listed,) = self.hands.attachments(self.server)
        self.assertEqual((volume, '/dev/vdb'), (listed['volumeId'], listed['device']))
        self.assertNotEqual(before['attachment_id'], listed['attachment_id'])
        self.assertEqual([(volume, 'attached')], self.hands.holdings(self.server))
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        events = self.stage.events(self.server, 'swap_volume')
        self.assertEqual([('compute_swap_volume', SUCCESS)], events)
        self.hands.detached(self.server, volume)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.cloud.admin.block_storage.delete_volume(volume)

    def test_volume_that_does_not_move(self):
        """The host does not take the target, and the volume service gets a report of that."""
        volume = self.hands.volume()
        self.hands.attached(self.server, volume)
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        self.cloud.behave('extends: instant\nfailures: [{verb: attach_volume, first: 1}]\n')
        here, _migration, _status = self.place(volume)
        self.hands.migrate(volume)
        stays = (here, 'error', 'in-use')
        self.cloud.wait_for(lambda: self.place(volume) == stays, 'the volume')
        self.hands.wait_idle(self.server)
        self.assertEqual([(volume, 'attached')], self.hands.holdings(self.server))
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        self.assertEqual([volume], [each.id for each in self.cloud.admin.block_storage.volumes()])

    def test_swap_without_a_migration(self):
        old, new = self.hands.volume(), self.hands.volume()
        self.hands.attached(self.server, old)
        path = f'/servers/{self.server.id}/os-volume_attachments/{old}'
        body = {'volumeAttachment': {'volumeId': new}}
        self.refused(409, 'PUT', path, body, version='2.84')
        self.hands.migrating(old)
        self.api('PUT', path, body, status=202, version='2.84')
        self.hands.wait_idle(self.server)
        (listed,) = self.hands.attachments(self.server)
        self.assertEqual((new, '/dev/vdb'), (listed['volumeId'], listed['device']))
        self.assertEqual([new], self.hands.volumes_of_guest(self.server))
        self.assertEqual([(new, 'attached')], self.hands.holdings(self.server))
        # It loses its attachment while it counts as migrating.
        self.assertEqual('in-use', self.hands.volume_status(old))
        self.assertEqual(
            [('compute_swap_volume', SUCCESS)], self.stage.events(self.server, 'swap_volume')
        )


class SharedTest(base.CloudTest):
    """A detachment marks the volume, whichever of its attachments is meant."""

    settings = {'cells': 1, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.client = moving.Moving(self.cloud).world.volume

    def test_the_mark_of_another(self):
        """A later request does not remove it."""
        storage = self.cloud.admin.block_storage
        kind = storage.create_type(name='shared', extra_specs={'multiattach': '<is> True'})
        volume = self.hands.volume(volume_type=kind.id)
        servers = [self.cloud.boot(), self.cloud.boot()]
        for server in servers:
            self.hands.attached(server, volume)
        self.faults.fault = saga_faults.Fault(
            'detach-volume',
            detaching.MARK,
            saga_faults.Mode.DURING_BEFORE,
            meanwhile=lambda: self.client.begin_detaching(context.admin(), volume),
        )
        self.hands.detach(servers[0], volume, status=400)
        self.assertEqual('undone', self.faults.ended(servers[0]).state)
        self.assertEqual('detaching', self.hands.volume_status(volume))
        self.hands.detach(servers[1], volume, status=400)
        self.client.roll_detaching(context.admin(), volume)
        for server in servers:
            self.hands.detached(server, volume)
        self.assertEqual('available', self.hands.volume_status(volume))

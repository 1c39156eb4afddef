"""Volumes, attachments and images of servers (I5)."""

from nova_lite.clients import image
from nova_lite.clients import volume
from nova_lite.db.api import models as api_models
from tests.unit.verify import base

RESERVED = 'I5 volume a volume: of server a server is reserved'


class ConnectionsTest(base.VerifyTest):
    def have(self, *attachments, **columns):
        self.set(**columns)
        self.snapshot.attachments = list(attachments)
        return self.found()

    def attachment(self, status='attached', **values):
        return {**self.snapshot.attachments[0], 'status': status, **values}

    def test_reserved_only(self):
        self.assertEqual([RESERVED], self.have(self.attachment('reserved')))

    def test_without_an_attachment(self):
        self.assertEqual(['I5 volume a volume: of server a server is missing'], self.have())

    def test_while_something_goes_on(self):
        reserved = self.attachment('reserved')
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.have(reserved))
        self.snapshot.sagas = []
        self.assertEqual([], self.have(reserved, task_state='rebuilding', updated_at=base.NOW))

    def test_that_no_block_device_names(self):
        more = self.attachment(id='more')
        self.assertEqual(
            ['I5 attachment more: is not used by its server a server'],
            self.have(self.attachment(), more),
        )
        self.assertIn(
            'I5 attachment more: is not used by its server a server',
            self.have(self.attachment(), more, vm_state='error'),
        )

    def test_of_no_server(self):
        self.assertEqual(
            ['I5 attachment more: belongs to no server: gone'],
            self.have(self.attachment(), self.attachment(id='more', instance='gone')),
        )

    def test_of_a_server_that_is_withdrawn(self):
        """It may never have been accepted."""
        times = {'created_at': base.LONG_AGO, 'withdrawn_at': base.NOW}
        self.snapshot.withdrawn = {'gone': base.build_request('gone', **times)}
        self.assertEqual([], self.have(self.attachment(), self.attachment(id='x', instance='gone')))
        self.assertEqual(
            ['I5 attachment x: was not deleted when server gone was withdrawn'],
            self.found(work=0),
        )


class VolumesTest(base.VerifyTest):
    def have(self, **values):
        self.snapshot.volumes = [{'id': base.VOLUME, 'status': 'in-use', 'metadata': {}, **values}]
        return self.found()

    def test_status_that_nothing_ends(self):
        for status in ('reserved', 'attaching', 'detaching'):
            self.assertEqual(
                [f'I5 volume a volume: is {status} and no operation uses it'],
                self.have(status=status),
            )

    def test_status_that_another_client_of_volumes_gave(self):
        self.cell.block_devices = []
        for owner in (None, '', 'a server of another cloud'):
            self.snapshot.attachments[0]['instance'] = owner
            found = self.have(status='reserved')
            self.assertEqual([], [each for each in found if 'nothing is done' in each])

    def test_status_that_a_deleted_server_left(self):
        self.cell.block_devices = []
        self.cell.instances = []
        self.assertIn(
            'I5 volume a volume: is reserved and no operation uses it',
            self.have(status='reserved'),
        )

    def test_status_that_something_is_about_to_end(self):
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.have(status='detaching'))

    def test_reserved_for_a_server_that_is_withdrawn(self):
        self.snapshot.withdrawn = {
            base.SERVER: base.build_request(base.SERVER, withdrawn_at=base.NOW)
        }
        self.assertEqual([], self.have(status='reserved'))

    def test_of_a_server_that_failed(self):
        self.set(vm_state='error')
        self.assertEqual([], self.have(status='reserved'))

    def test_status_in_which_anyone_may_take_it(self):
        for status in ('available', 'error'):
            lost = f'I5 volume a volume: is {status} and belongs to a server'
            self.assertEqual([lost], self.have(status=status))

    def test_status_of_work_on_a_volume_in_use(self):
        for status in ('in-use', 'extending', 'uploading', 'retyping', 'backing-up'):
            self.assertEqual([], self.have(status=status))

    def test_status_of_a_volume_that_is_not_connected(self):
        """One finding is enough."""
        self.snapshot.attachments[0]['status'] = 'reserved'
        self.assertEqual([RESERVED], self.have(status='available'))

    def test_status_while_something_is_done_to_its_server(self):
        self.set(task_state='rebuilding', updated_at=base.NOW)
        self.assertEqual([], self.have(status='available'))
        self.set(task_state=None, vm_state='error')
        self.assertEqual([], self.have(status='available'))
        self.set(vm_state='active')
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.have(status='error'))

    def test_status_of_volumes_of_servers_of_another_cloud(self):
        for owner in ('a server of another cloud', None):
            self.snapshot.attachments.append(
                {'id': 'x', 'volume_id': 'other', 'instance': owner, 'status': 'attached'}
            )
            found = self.have(id='other', status='available')
            self.assertEqual([], [each for each in found if each.startswith('I5 volume')])

    def offload(self):
        """Shelve the server: no host has it, and its volume is reserved."""
        self.set(vm_state='shelved_offloaded', host=None, node=None, power_state=4)
        self.snapshot.attachments[0]['status'] = 'reserved'

    def of_volumes(self, **values):
        return [each for each in self.have(**values) if each.startswith('I5 volume')]

    def test_status_for_a_server_that_is_offloaded(self):
        self.offload()
        self.assertEqual([], self.of_volumes(status='reserved'))
        self.assertEqual(
            ['I5 volume a volume: is available and belongs to a server'],
            self.of_volumes(status='available'),
        )
        self.assertEqual(
            ['I5 volume a volume: is in-use and no host is connected to it'],
            self.of_volumes(status='in-use'),
        )

    def test_status_of_a_shared_volume_that_another_server_uses(self):
        self.offload()
        other = {**self.snapshot.attachments[0], 'id': 'x', 'instance': 'of another cloud'}
        self.snapshot.attachments.append({**other, 'status': 'attached'})
        self.assertEqual([], self.of_volumes(status='in-use'))

    def test_made_twice(self):
        self.snapshot.volumes = [
            {'id': 'stray', 'status': 'available', 'metadata': {volume.DEVICE: 'a device'}}
        ]
        self.assertEqual(
            ['I5 volume stray: was made for server a server, which has a volume'], self.found()
        )
        self.snapshot.volumes[0]['migration_status'] = 'target:a volume'
        self.assertEqual([], self.found())


class ImagesTest(base.VerifyTest):
    def have(self, *sagas, **values):
        self.snapshot.sagas = list(sagas)
        self.snapshot.server_images = [base.image(**values)]
        return self.found()

    def test_of_a_move(self):
        """Disks travel between cells in images, which have the ids of the migrations."""
        self.cell.migrations = [base.migration()]
        moved = {'id': 'a move', 'name': 'x-resize-temp'}
        self.assertEqual(
            ['I5 image a move: (x-resize-temp) is left over from a move'], self.have(**moved)
        )
        self.assertEqual([], self.have(**moved, protected=True))
        self.assertEqual(1, len(self.have(status='queued', **moved)))
        self.assertEqual([], self.have(base.saga(uuid='a move'), **moved))

    def test_of_a_server_that_is_shelved_no_more(self):
        left = 'I5 image an image: (name-shelved) is not what server a server was shelved in'
        properties = {'instance_uuid': base.SERVER, image.SHELVED: 'True'}
        self.assertEqual([left], self.have(properties=properties))
        self.set(display_name='renamed')
        self.assertEqual([left], self.have(properties=properties))
        self.set(system_metadata={'shelved_image_id': 'an image'})
        self.assertEqual([], self.have(properties=properties))

    def test_of_a_shelved_server_that_is_deleted(self):
        properties = {'instance_uuid': 'gone', image.SHELVED: 'True'}
        # Of another nova, whose images the same service holds.
        self.assertEqual([], self.have(properties=properties))
        self.snapshot.mappings['gone'] = base.row(
            api_models.InstanceMapping, cell_id=1, queued_for_delete=True
        )
        self.assertEqual(
            ['I5 image an image: (name-shelved) is of server gone, deleted'],
            self.have(properties=properties),
        )

    def test_of_a_user_who_named_it_as_if_the_server_was_shelved(self):
        self.assertEqual([], self.have())

    def test_upload_that_nobody_ends(self):
        for status in ('queued', 'saving'):
            self.assertEqual(
                [f'I5 upload of image an image: (mine) of server a server is {status}'],
                self.have(name='mine', status=status),
            )
        self.assertEqual([], self.have(base.saga(), name='mine', status='saving'))
        new = base.NOW.isoformat() + 'Z'
        self.assertEqual([], self.have(name='mine', status='saving', created_at=new))
        self.assertEqual([], self.have(name='mine', status='queued', protected=True))


class SnapshotsTest(base.VerifyTest):
    """Snapshots that were taken for an image of a server."""

    def have(self, **columns):
        marks = {volume.IMAGE: 'a saga'}
        self.snapshot.volume_snapshots = [
            {'id': 'a snapshot', 'volume_id': base.VOLUME, 'metadata': marks},
            {'id': "a user's", 'volume_id': base.VOLUME, 'metadata': None},
        ]
        self.snapshot.sagas = [base.saga(kind='volume-image', active_for=None, **columns)]
        return self.found()

    def test_of_an_image_that_could_not_be_made(self):
        self.assertEqual(
            [
                f'I5 snapshot a snapshot: of volume {base.VOLUME} was taken for image a saga, '
                'which was not made'
            ],
            self.have(state='undone', finished_at=base.NOW),
        )

    def test_whose_image_its_owner_may_have_deleted(self):
        self.assertEqual([], self.have(state='done', finished_at=base.NOW))

    def test_that_are_being_deleted(self):
        self.assertEqual([], self.have(state='cleaning', finished_at=base.NOW))

    def test_of_a_saga_that_is_archived(self):
        self.have(state='done', finished_at=base.NOW)
        self.snapshot.sagas = []
        self.assertEqual([], self.found())

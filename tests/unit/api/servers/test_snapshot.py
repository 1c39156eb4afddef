"""Images of servers: createImage and createBackup."""

import json
import urllib.parse

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import backups
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.unit.api.servers import base

NOTED = ('image_id', 'backup_type', 'rotation')


class TestImages(base.Case):
    def test_create_image(self):
        uuid = self.api.add_server()
        body = {'name': 'copy', 'metadata': {'a': 'b'}}
        answer = self.act(uuid, 'createImage', body, version='2.45')
        image_id = answer.json['image_id']
        self.assertEqual('b', self.api.neighbours.image.images[image_id]['properties']['a'])
        self.assertEqual('image_snapshot_pending', self.api.row(uuid).task_state)
        method, arguments = self.sent()[0]
        self.assertEqual(('snapshot_instance', image_id), (method, arguments['image_id']))

    def test_a_type_of_image(self):
        body = {'name': 'copy', 'metadata': {'image_type': 'test'}}
        answer = self.act(self.api.add_server(), 'createImage', body, version='2.45')
        made = self.api.neighbours.image.images[answer.json['image_id']]
        self.assertEqual('test', made['properties']['image_type'])

    def test_address_before_2_45(self):
        answer = self.act(self.api.add_server(), 'createImage', {'name': 'copy'})
        self.assertTrue(answer.headers['Location'].startswith('http://image/images/'))

    def test_backup(self):
        uuid = self.api.add_server()
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        self.act(uuid, 'createBackup', body)
        self.assertEqual('image_backup', self.api.row(uuid).task_state)
        self.refused_act(uuid, 'createBackup', {**body, 'rotation': -1}, code=400, text='rotation')

    def test_address_of_a_backup_before_2_45(self):
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        answer = self.act(self.api.add_server(), 'createBackup', body)
        image_id = [*self.api.neighbours.image.images][-1]
        path = urllib.parse.urlsplit(answer.headers['Location']).path
        self.assertEqual(f'/v2.1/images/{image_id}', path)

    def test_quota_of_metadata_before_2_39(self):
        backup = {'backup_type': 'daily', 'rotation': 1}
        for action, more in (('createImage', {}), ('createBackup', backup)):
            many = {f'{number}': 'x' for number in range(129)}
            body = {'name': 'i', 'metadata': many, **more}
            uuid = self.api.add_server()
            self.refused_act(uuid, action, body, code=403, text='metadata_items', version='2.38')
            self.act(uuid, action, body, version='2.39')

    def test_locked_servers_have_images(self):
        backup = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        for action, body in (('createImage', {'name': 'i'}), ('createBackup', backup)):
            uuid = self.api.add_server()
            self.act(uuid, 'lock')
            self.act(uuid, action, body)

    def test_disks_that_must_be_frozen(self):
        """Only the agent of a running guest can freeze its disks."""
        required = {'os_require_quiesce': 'yes'}
        backup = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        for action, body in (('createImage', {'name': 'i'}), ('createBackup', backup)):
            for properties in (required, {**required, 'hw_qemu_guest_agent': 'no'}):
                uuid = self.api.add_server(image_properties=properties)
                self.refused_act(uuid, action, body, code=400, text='guest agent is not enabled')
                self.assertIsNone(self.api.row(uuid).task_state)
            for values in (
                {'image_properties': {**required, 'hw_qemu_guest_agent': 'yes'}},
                {'image_properties': {'os_require_quiesce': 'no'}},
                {'image_properties': required, 'vm_state': 'stopped'},
            ):
                self.act(self.api.add_server(**values), action, body)

    def test_line_breaks_after_names(self):
        images = self.api.neighbours.image.images
        backup = {'backup_type': 'daily', 'rotation': 1}
        for action, more in (('createImage', {}), ('createBackup', backup)):
            body = {'name': 'copy\n', **more}
            answer = self.act(self.api.add_server(), action, body, version='2.45')
            self.assertEqual('copy', images[answer.json['image_id']]['name'])

    def test_rotation_is_left_to_the_host(self):
        uuid, images = self.api.add_server(), self.api.neighbours.image.images
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        made = []
        for _ in range(2):
            made.append(self.act(uuid, 'createBackup', body, version='2.45').json['image_id'])
            self.api.cell('cell1').db.write(instances.force, uuid, {'task_state': None})
        self.assertLessEqual({*made}, images.keys())
        sent = self.sent()[-1][1]
        self.assertEqual(made[-1], sent['image_id'])
        noted = json.loads(sent['instance'].system_metadata[backups.KEY])
        self.assertEqual((made[-1], 'daily', 1), tuple(noted[name] for name in NOTED))
        # A conductor deletes those of them that have no contents.
        self.assertEqual(made, backups.image_ids(sent['instance'].system_metadata))

    def test_type_of_backups(self):
        uuid, images = self.api.add_server(), self.api.neighbours.image.images
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        for more, kind in (({}, 'backup'), ({'metadata': {'image_type': 'mine'}}, 'mine')):
            answer = self.act(uuid, 'createBackup', {**body, **more}, version='2.45')
            made = images[answer.json['image_id']]['properties']
            self.assertEqual((kind, 'daily'), (made['image_type'], made['backup_type']))
            self.api.cell('cell1').db.write(instances.force, uuid, {'task_state': None})

    def test_rotation_of_0(self):
        """The host makes an image and deletes it with the others: as in nova, it has no address."""
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 0}
        answer = self.act(self.api.add_server(), 'createBackup', body, version='2.45')
        self.assertEqual(['image_id'], list(answer.json))
        answer = self.act(self.api.add_server(), 'createBackup', body, version='2.44')
        self.assertEqual((b'', None), (answer.content, answer.headers.get('Location')))
        self.assertEqual('snapshot_instance', self.sent()[0][0])

    def test_image_service_does_not_answer(self):
        """An image that it made all the same is deleted, and the server has no task."""
        image = self.api.neighbours.image
        make = image.create_snapshot

        def lose(*args, **kwargs):
            make(*args, **kwargs)
            raise exception.Unavailable(service='image', reason='test')

        known, uuid = {*image.images}, self.api.add_server()
        self.patch(image, 'create_snapshot', lose)
        self.refused_act(uuid, 'createImage', {'name': 'copy'}, code=503)
        self.assertEqual(known, {*image.images})
        self.assertIsNone(self.api.row(uuid).task_state)


class TestSlowImageService(base.Case):
    """A server that changes while the image service creates its image."""

    def setUp(self):
        super().setUp()
        self.uuid, self.image = self.api.add_server(), self.api.neighbours.image
        self.make, self.known = self.image.create_snapshot, {*self.image.images}

    def ask(self, meanwhile, *, fails, code):
        """Refuse an image that the image service creates, or fails to. Return its action."""

        def create(*args, **kwargs):
            self.write(meanwhile)
            if fails:
                raise exception.Unavailable(service='image', reason='test')
            return self.make(*args, **kwargs)

        self.patch(self.image, 'create_snapshot', create)
        self.refused_act(self.uuid, 'createImage', {'name': 'copy'}, code=code)
        self.assertEqual(self.known, {*self.image.images})
        self.assertEqual([], self.sent())

    def write(self, function):
        return self.api.cell('cell1').db.write(function, self.uuid)

    def begun(self):
        return self.write(actions.find_newest)

    def give_up(self, connection, uuid):
        """The host does not find the image, and ends the action."""
        request_id = actions.find_newest(connection, uuid).request_id
        actions.record_event(connection, uuid, request_id, 'compute_snapshot_instance')
        instances.force(connection, uuid, {'task_state': None})

    def begin_another(self, connection, uuid):
        self.give_up(connection, uuid)
        instances.force(connection, uuid, {'task_state': 'image_snapshot_pending'})

    def test_host_has_ended_the_action(self):
        for fails, code in ((True, 503), (False, 409)):
            self.ask(self.give_up, fails=fails, code=code)
            self.assertEqual('Error', self.begun().message)

    def test_another_action_has_begun(self):
        self.ask(self.begin_another, fails=True, code=503)
        self.assertEqual('image_snapshot_pending', self.api.row(self.uuid).task_state)

    def test_host_has_taken_up_the_action(self):
        def take_up(connection, uuid):
            instances.force(connection, uuid, {'task_state': 'image_snapshot'})

        self.ask(take_up, fails=True, code=503)
        self.assertEqual('Error', self.begun().message)
        self.assertIsNone(self.api.row(self.uuid).task_state)

    def test_host_uploads(self):
        """It may have found no image before, and end the action later."""

        def upload(connection, uuid):
            instances.force(connection, uuid, {'task_state': 'image_uploading'})

        self.ask(upload, fails=False, code=409)
        self.assertIsNone(self.api.row(self.uuid).task_state)

    def test_state_was_reset(self):
        def reset(connection, uuid):
            instances.force(connection, uuid, {'task_state': None})

        for fails, code in ((True, 503), (False, 409)):
            self.ask(reset, fails=fails, code=code)
            self.assertEqual('Error', self.begun().message)

    def test_state_was_reset_and_another_action_has_begun(self):
        """The reset leaves the older action open. The task is that of the newer one."""

        def another(connection, uuid):
            begun.append(actions.find_newest(connection, uuid).request_id)
            instances.force(connection, uuid, {'task_state': None})
            ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
            actions.start(connection, ctxt, uuid, 'createImage')
            instances.force(connection, uuid, {'task_state': 'image_snapshot_pending'})

        for fails, code in ((True, 503), (False, 409)):
            begun = []
            self.ask(another, fails=fails, code=code)
            self.assertEqual('image_snapshot_pending', self.api.row(self.uuid).task_state)
            db = self.api.cell('cell1').db
            self.assertEqual('Error', db.read(actions.get, self.uuid, begun[0]).message)
            db.write(instances.force, self.uuid, {'task_state': None})


class TestVolumes(base.Case):
    """Of servers that boot from a volume."""

    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server(image_ref='')
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'boot_index': 0,
            'volume_id': runtime.new_uuid(),
            'device_name': '/dev/vda',
        }
        self.api.cell('cell1').db.write(children.create_block_devices, [device])

    def test_begins_a_saga(self):
        """The answer waits for its end; no process runs sagas here."""
        body = {'name': 'copy\n', 'metadata': {'disk_format': 'qcow2'}}
        self.refused_act(self.uuid, 'createImage', body, code=503, version='2.45')
        saga = self.api.api_db.read(sagas.find_active, self.uuid)
        self.assertEqual('volume-image', saga.kind)
        self.assertEqual(
            ('copy', body['metadata']), (saga.arguments['name'], saga.arguments['metadata'])
        )
        self.assertIsNone(self.api.row(self.uuid).task_state)
        self.assertEqual([], self.sent())

    def test_no_backup(self):
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        self.refused_act(self.uuid, 'createBackup', body, code=400, text='volume-backed')

    def test_states(self):
        for state in ('rescued', 'error', 'building', 'shelved_offloaded'):
            self.api.cell('cell1').db.write(instances.force, self.uuid, {'vm_state': state})
            self.refused_act(self.uuid, 'createImage', {'name': 'copy'}, code=409)
        self.assertIsNone(self.api.api_db.read(sagas.find_active, self.uuid))

"""nova-lite-manage volume_attachment."""

import contextlib
import json
import os

import fixtures

from nova_lite import conf
from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import volume
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import devices
from nova_lite.db.cell import instances
from tests.fixtures import simcloud
from tests.unit.manage import base

HOST, NODE = 'host-1', 'host-1'
GONE = '7f7b8bd8-21cf-4a3e-9c0a-5e1f6d0b7a11'


class VolumeAttachmentTest(base.ManageTest):
    """A stopped server on a host, with a volume."""

    def setUp(self):
        super().setUp()
        self.set_up_cells()
        cloud = self.useFixture(simcloud.SimCloud(auth='noauth'))
        cinder = {'auth_type': 'none', 'endpoint_override': f'{cloud.url}/volume'}
        self.options['cinder'] = cinder
        configuration = conf.make_conf([], files=[])
        for name, value in cinder.items():
            configuration.set_override(name, value, group='cinder')
        self.volumes = volume.Volume(auth.Credentials(configuration))
        self.ctxt = context.RequestContext(
            user_id='u', project_id='p', roles=['admin'], overwrite=False
        )
        self.add_host(HOST)
        cell_id = self.cells()['cell1'].id
        self.api_db.write(host_mappings.create_missing, cell_id, [HOST])
        self.uuid = self.add_server(vm_state='stopped', host=HOST, node=NODE)
        self.api_db.write(
            instance_mappings.create,
            [{'instance_uuid': self.uuid, 'project_id': 'p', 'cell_id': cell_id}],
        )
        self.volume_id = self.volumes.create(self.ctxt, size=1)['id']
        self.former = self.attach()
        self.path = os.path.join(self.directory, 'connector.json')
        with open(self.path, 'w') as file:
            file.write(
                self.run_verb('volume_attachment', 'get_connector', '--host', HOST, '--json')
            )

    def attach(self):
        """Attach the volume as a host does. Return the id of the attachment."""
        made = self.volumes.create_attachment(
            self.ctxt, self.volume_id, self.uuid, connector={'host': NODE}, mountpoint='/dev/vdb'
        )
        self.volumes.complete_attachment(self.ctxt, made['id'])
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'device_name': '/dev/vdb',
            'volume_id': self.volume_id,
            'attachment_id': made['id'],
            'connection_info': made['connection_info'],
        }
        self.local.write(children.create_block_devices, [device])
        return made['id']

    def refresh(self, *, uuid=None, volume_id=None, path=None, code=0):
        return self.run_verb(
            'volume_attachment',
            'refresh',
            uuid or self.uuid,
            volume_id or self.volume_id,
            path or self.path,
            code=code,
        )

    def device(self):
        return self.local.read(devices.find, self.uuid, self.volume_id)

    def attachments(self):
        found = self.volumes.list_attachments(self.ctxt, self.uuid)
        return [(each['id'], each['status']) for each in found]

    def test_show(self):
        words = ('volume_attachment', 'show', self.uuid, self.volume_id)
        self.assertIn(self.former, self.run_verb(*words))
        shown = json.loads(self.run_verb(*words, '--json'))
        self.assertEqual((self.former, '/dev/vdb'), (shown['attachment_id'], shown['device_name']))
        connection = json.loads(self.run_verb(*words, '--connection_info', '--json'))
        self.assertEqual(shown['connection_info'], connection)
        self.run_verb('volume_attachment', 'show', GONE, self.volume_id, code=2)
        self.run_verb('volume_attachment', 'show', self.uuid, GONE, code=3)

    def test_connector(self):
        with open(self.path) as file:
            self.assertEqual(NODE, json.load(file)['host'])
        self.options['DEFAULT']['host'] = HOST
        self.assertIn(NODE, self.run_verb('volume_attachment', 'get_connector'))
        self.run_verb('volume_attachment', 'get_connector', '--host', 'none', code=1)

    def test_refresh(self):
        self.refresh()
        device = self.device()
        self.assertNotEqual(self.former, device.attachment_id)
        self.assertEqual([(device.attachment_id, 'attached')], self.attachments())
        row = self.local.read(instances.get, self.uuid)
        self.assertEqual((False, None, 'stopped'), (row.locked, row.locked_reason, row.vm_state))
        action = self.local.read(actions.find_newest, self.uuid)
        self.assertEqual('refresh_volume_attachment', action.action)
        (event,) = self.local.read(actions.events_of, [action.id])[action.id]
        self.assertEqual('Success', event.result)

    def test_interrupted_refresh(self):
        """The next refresh deletes what a former one has left."""
        self.volumes.create_attachment(
            self.ctxt, self.volume_id, self.uuid, connector={'host': NODE}
        )
        self.assertEqual(2, len(self.attachments()))
        self.refresh()
        self.assertEqual([(self.device().attachment_id, 'attached')], self.attachments())

    def test_killed(self):
        """The server stays locked. The next command says why."""
        lock = {'locked': True, 'locked_by': 'admin', 'locked_reason': 'Refreshing this'}
        self.local.write(instances.update, self.uuid, lock)
        self.assertIn('is locked (Refreshing this). It must be', self.refresh(code=5))

    def test_stopped_at_each_call(self):
        """An operator stops the command. The server is unlocked, and the next refresh ends."""
        for method in ('create_attachment', 'complete_attachment', 'delete_attachment'):
            for after in (False, True):
                with self.stopped(method, after=after):
                    self.refresh(code=130)
                row = self.local.read(instances.get, self.uuid)
                self.assertEqual((False, None), (row.locked, row.locked_reason), method)
                self.refresh()
                self.assertEqual([(self.device().attachment_id, 'attached')], self.attachments())

    @contextlib.contextmanager
    def stopped(self, method, *, after):
        """Stop the command before or after a call of the volume service."""
        original = getattr(volume.Volume, method)

        def stop(*args, **options):
            if after:
                original(*args, **options)
            raise KeyboardInterrupt

        with fixtures.MonkeyPatch(f'nova_lite.clients.volume.Volume.{method}', stop):
            yield

    def test_files(self):
        self.refresh(path=f'{self.path}.none', code=2)
        with open(self.path, 'w') as file:
            file.write('{')
        self.refresh(code=3)
        with open(self.path, 'w') as file:
            json.dump({'host': 'another'}, file)
        self.refresh(code=7)
        self.assertEqual([(self.former, 'attached')], self.attachments())

    def test_servers(self):
        self.refresh(uuid=GONE, code=4)
        self.refresh(volume_id=GONE, code=6)
        self.local.write(instances.update, self.uuid, {'locked': True, 'locked_by': 'owner'})
        self.refresh(code=5)
        self.local.write(instances.update, self.uuid, {'locked': False, 'locked_by': None})
        self.local.write(instances.force, self.uuid, {'vm_state': 'active'})
        self.refresh(code=5)
        self.assertEqual(self.former, self.device().attachment_id)

    def test_failed_refresh(self):
        """The server is unlocked, and its attachment stays."""
        self.options['cinder']['endpoint_override'] = 'http://127.0.0.1:1'
        self.refresh(code=255)
        row = self.local.read(instances.get, self.uuid)
        self.assertFalse(row.locked)
        action = self.local.read(actions.find_newest, self.uuid)
        self.assertEqual('Error', action.message)
        self.assertEqual(self.former, self.device().attachment_id)

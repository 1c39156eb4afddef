"""/os-assisted-volume-snapshots, on the simulated volume service."""

import json
import urllib.parse

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.fixtures import compute_api
from tests.fixtures import neighboured_api
from tests.unit.api.servers import base

PATH = '/os-assisted-volume-snapshots'
SERVICE = {'user': 'cinder', 'project': 'service', 'roles': 'service'}


class TestAssistedSnapshots(base.Case):
    def make_api(self):
        return neighboured_api.NeighbouredApi()

    def setUp(self):
        super().setUp()
        self.operator = self.api.context_of(compute_api.ADMIN)
        self.volume_id = self.api.volume.create(self.api.ctxt, size=1)['id']
        self.uuid = self.attach()
        snapshot = self.api.volume.create_snapshot(self.api.ctxt, self.volume_id, 's')
        self.snapshot_id = snapshot['id']

    def attach(self, cell='cell1', **values):
        """A server that has the volume."""
        uuid = self.api.add_server(cell=cell, **values)
        self.api.cell(cell).db.write(children.create_block_devices, [self.device(uuid)])
        return uuid

    def device(self, uuid):
        return {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': self.volume_id,
            'delete_on_termination': False,
        }

    def become(self, status):
        """Set the status of the snapshot in the volume service."""
        self.api.volume.service.call(
            self.operator,
            'POST',
            f'/snapshots/{self.snapshot_id}/action',
            json={'os-reset_status': {'status': status}},
            as_user=True,
        )

    def status(self):
        return self.api.volume.get_snapshot(self.api.ctxt, self.snapshot_id)['status']

    def body(self, **info):
        given = {'snapshot_id': self.snapshot_id, 'type': 'qcow2', 'new_file': 'f', **info}
        return {'snapshot': {'volume_id': self.volume_id, 'create_info': given}}

    def one(self, snapshot_id=None, info=None):
        info = json.dumps({'volume_id': self.volume_id} if info is None else info)
        query = urllib.parse.urlencode({'delete_info': info})
        return f'{PATH}/{snapshot_id or self.snapshot_id}?{query}'

    def test_created(self):
        for number, who in enumerate((SERVICE, compute_api.ADMIN)):
            self.become('creating')
            answer = self.ok('POST', PATH, self.body(id=f'id{number}'), who=who)
            wanted = {'id': f'id{number}', 'volumeId': self.volume_id}
            self.assertEqual({'snapshot': wanted}, answer.json)
        self.assertIsNone(self.ok('POST', PATH, self.body(), who=SERVICE).json['snapshot']['id'])

    def test_the_volume_service_is_told(self):
        told = []
        self.api.volume.report_snapshot = lambda ctxt, *args: told.append(args)
        self.ok('POST', PATH, self.body(), who=SERVICE)
        self.ok('DELETE', self.one(), code=204, who=SERVICE)
        wanted = [(self.snapshot_id, 'creating'), (self.snapshot_id, 'deleting')]
        self.assertEqual(wanted, told)

    def test_statuses(self):
        for status in ('creating', 'deleting'):
            self.become(status)
            self.api.volume.report_snapshot(self.operator, self.snapshot_id, status)
            self.assertEqual(status, self.status())

    def test_a_report_that_is_refused(self):
        """The caller waits for the report, and is not told here."""
        self.assertEqual('available', self.status())
        self.ok('POST', PATH, self.body(), who=SERVICE)
        self.ok('POST', PATH, self.body(snapshot_id=runtime.new_uuid()), who=SERVICE)
        for snapshot_id in (self.snapshot_id, runtime.new_uuid(), 'None'):
            self.ok('DELETE', self.one(snapshot_id), code=204, who=SERVICE)
        self.assertEqual('available', self.status())

    def test_a_volume_service_that_does_not_answer(self):
        def fail(*args):
            raise exception.Unavailable(service='volume', reason='test')

        self.api.volume.report_snapshot = fail
        self.refused('POST', PATH, self.body(), code=503, who=SERVICE)

    def test_bodies(self):
        for field, body in (
            ('snapshot_id', self.body(snapshot_id='')),
            ('type', self.body(type='raw')),
            ('new_file', self.body(new_file=1)),
            ('more', self.body(more=1)),
            ('volume_id', {'snapshot': {**self.body()['snapshot'], 'volume_id': ''}}),
            ('volume nowhere', {'snapshot': {**self.body()['snapshot'], 'volume_id': 'nowhere'}}),
            ('create_info', {'snapshot': {'volume_id': self.volume_id}}),
        ):
            self.refused('POST', PATH, body, code=400, text=field, who=SERVICE)

    def test_delete_info(self):
        for info in (None, 1, [], {}, {'volume_id': 1}):
            path = self.one(info=info) if info is not None else f'{PATH}/{self.snapshot_id}'
            self.refused('DELETE', path, code=400, text='delete_info', who=SERVICE)
        for text in ('{', '%00', '%22'):
            path = f'{PATH}/{self.snapshot_id}?delete_info={text}'
            self.refused('DELETE', path, code=400, who=SERVICE)
        path = self.one() + '&more=1'
        self.ok('DELETE', path, code=204, who=SERVICE, version='2.74')
        self.refused('DELETE', path, code=400, text='more', who=SERVICE, version='2.75')

    def test_users(self):
        for who in (compute_api.MEMBER, compute_api.READER):
            self.refused('POST', PATH, self.body(), code=403, who=who)
            self.refused('DELETE', self.one(), code=403, who=who)

    def test_volumes_without_a_server(self):
        self.volume_id = runtime.new_uuid()
        self.refused('POST', PATH, self.body(), code=400, text=self.volume_id, who=SERVICE)
        self.refused('DELETE', self.one(), code=400, text=self.volume_id, who=SERVICE)

    def test_a_cell_that_does_not_answer(self):
        """Another one may have the volume."""
        database = self.api.cell('cell2').db
        database.dispose()
        database.url, database._engine = 'sqlite:////nonexistent/directory/x.sqlite', None
        self.ok('POST', PATH, self.body(), who=SERVICE)
        self.volume_id = runtime.new_uuid()
        self.refused('POST', PATH, self.body(), code=503, who=SERVICE)

    def test_a_copy_in_another_cell(self):
        cell = self.api.cell('cell2')
        cell.db.write(instances.create, [self.api.record(uuid=self.uuid, hidden=True)])
        cell.db.write(children.create_block_devices, [self.device(self.uuid)])
        self.ok('POST', PATH, self.body(), who=SERVICE)

    def test_several_servers(self):
        self.attach('cell2')
        self.refused('POST', PATH, self.body(), code=400, text='several', who=SERVICE)

    def test_states(self):
        for values in ({'task_state': 'rebooting'}, {'launched_at': None}, {'host': None}):
            self.volume_id = runtime.new_uuid()
            self.attach(**values)
            self.refused('POST', PATH, self.body(), code=409, who=SERVICE)
            self.refused('DELETE', self.one(), code=409, who=SERVICE)

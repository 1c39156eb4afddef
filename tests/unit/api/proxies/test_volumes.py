"""/os-volumes and /os-snapshots, on the simulated volume service."""

from nova_lite import runtime
from tests.fixtures import compute_api
from tests.unit.api.proxies import base

VOLUMES, SNAPSHOTS = '/os-volumes', '/os-snapshots'


class VolumeTest(base.Case):
    def create(self, **values):
        body = {'volume': {'size': 1, **values}}
        return self.ok('POST', VOLUMES, body).json['volume']

    def listed(self, path, query=''):
        (found,) = self.ok('GET', f'{path}{query}').json.values()
        return found

    def attach(self, volume_id):
        uuid = self.api.add_server()
        made = self.api.volume.create_attachment(self.api.ctxt, volume_id, uuid)
        self.api.volume.update_attachment(self.api.ctxt, made['id'], {'host': 'host1'})
        self.api.volume.complete_attachment(self.api.ctxt, made['id'])
        return uuid

    def set_quota(self, **limits):
        operator = self.api.context_of(compute_api.ADMIN)
        body = {'quota_set': limits}
        self.api.volume.service.call(
            operator, 'PUT', '/os-quota-sets/alpha', json=body, as_user=True
        )


class TestVolumes(VolumeTest):
    def test_created_and_deleted(self):
        answer = self.ok(
            'POST',
            VOLUMES,
            {
                'volume': {
                    'size': '2',
                    'display_name': 'data',
                    'display_description': 'a description',
                    'metadata': {'a': 'b'},
                    'availability_zone': 'nova',
                }
            },
        )
        made = answer.json['volume']
        one = f'{VOLUMES}/{made["id"]}'
        self.assertTrue(answer.headers['Location'].endswith(f'/v2.1{one}'))
        shown = self.ok('GET', one).json['volume']
        self.assertEqual(
            {
                'id': made['id'],
                'status': 'available',
                'size': 2,
                'availabilityZone': 'nova',
                'createdAt': made['createdAt'],
                'displayName': 'data',
                'displayDescription': 'a description',
                'volumeType': made['volumeType'],
                'snapshotId': None,
                'metadata': {'a': 'b'},
                'attachments': [{}],
            },
            shown,
        )
        for path in (VOLUMES, f'{VOLUMES}/detail'):
            self.assertEqual([shown], self.listed(path))
            self.assertEqual([], self.listed(path, '?offset=1'))
        self.ok('DELETE', one, code=202)
        self.refused('DELETE', one, code=404, text=made['id'])
        self.assertEqual([], self.listed(VOLUMES))

    def test_pages(self):
        """The volume service makes them: it never returns more than it was asked for."""
        for name in 'abc':
            self.create(display_name=name)
        asked, get = [], self.api.volume.service.get

        def counting(ctxt, path, **options):
            found = get(ctxt, path, **options)
            asked.append(len(found['volumes']))
            return found

        self.api.volume.service.get = counting
        for query, names in (('limit=2', 'cb'), ('limit=2&offset=2', 'a'), ('offset=1', 'ba')):
            found = self.listed(VOLUMES, f'?{query}')
            self.assertEqual(list(names), [each['displayName'] for each in found])
            self.assertEqual(len(names), asked.pop())

    def test_attached(self):
        volume_id = self.create()['id']
        uuid = self.attach(volume_id)
        (attachment,) = self.ok('GET', f'{VOLUMES}/{volume_id}').json['volume']['attachments']
        self.assertEqual((volume_id, uuid), (attachment['volumeId'], attachment['serverId']))
        self.refused('DELETE', f'{VOLUMES}/{volume_id}', code=400, text='must be available')

    def test_refused(self):
        for wrong in ({}, {'size': -1}, {'size': 'x'}, {'size': 1, 'more': 1}, None):
            self.refused('POST', VOLUMES, {'volume': wrong}, code=400)
        self.refused('POST', VOLUMES, {'volume': {'size': 0}}, code=400)
        missing = runtime.new_uuid()
        wrong = {'volume': {'size': 1, 'snapshot_id': missing}}
        self.refused('POST', VOLUMES, wrong, code=404, text=missing)
        reader = compute_api.READER
        self.refused('POST', VOLUMES, {'volume': {'size': 1}}, code=403, who=reader)
        for volume_id in ('x', missing, self.create()['id']):
            one, other = f'{VOLUMES}/{volume_id}', compute_api.OTHER
            self.refused('GET', one, code=404, text=volume_id, who=other)
        self.set_quota(volumes=1)
        self.refused('POST', VOLUMES, {'volume': {'size': 1}}, code=403, text='uota')

    def test_gone_from_2_36(self):
        for path, name in ((VOLUMES, 'volume'), (SNAPSHOTS, 'snapshot')):
            self.assert_ends(
                ('GET', path), ('GET', f'{path}/detail'), ('POST', path, {name: {}}),
                ('GET', f'{path}/1'), ('DELETE', f'{path}/1'),
            )  # fmt: skip


class TestSnapshots(VolumeTest):
    def setUp(self):
        super().setUp()
        self.volume_id = self.create(size=2)['id']

    def snapshot(self, **values):
        return {'snapshot': {'volume_id': self.volume_id, **values}}

    def test_created_and_deleted(self):
        body = self.snapshot(display_name='copy', display_description='a description')
        made = self.ok('POST', SNAPSHOTS, body).json['snapshot']
        one = f'{SNAPSHOTS}/{made["id"]}'
        shown = self.ok('GET', one).json['snapshot']
        self.assertEqual(
            {
                'id': made['id'],
                'volumeId': self.volume_id,
                'status': 'available',
                'size': 2,
                'createdAt': made['createdAt'],
                'displayName': 'copy',
                'displayDescription': 'a description',
            },
            shown,
        )
        for path in (SNAPSHOTS, f'{SNAPSHOTS}/detail'):
            self.assertEqual([shown], self.listed(path))
            self.assertEqual([], self.listed(path, '?limit=1&offset=1'))
        clone = self.create(size=2, snapshot_id=made['id'])
        self.assertEqual(made['id'], clone['snapshotId'])
        self.ok('DELETE', one, code=202)
        self.refused('DELETE', one, code=404, text=made['id'])

    def test_of_a_volume_in_use(self):
        self.attach(self.volume_id)
        for force in (False, 'no'):
            self.refused('POST', SNAPSHOTS, self.snapshot(force=force), code=400, text='in-use')
        self.ok('POST', SNAPSHOTS, self.snapshot(force=True))

    def test_refused(self):
        for wrong in ({}, {'volume_id': 1}, {'volume_id': 'x', 'force': 'maybe'}):
            self.refused('POST', SNAPSHOTS, {'snapshot': wrong}, code=400)
        missing = {'snapshot': {'volume_id': runtime.new_uuid()}}
        text = missing['snapshot']['volume_id']
        self.refused('POST', SNAPSHOTS, missing, code=404, text=text)
        self.refused('GET', f'{SNAPSHOTS}/{text}', code=404, text=text)
        self.refused('POST', SNAPSHOTS, self.snapshot(), code=403, who=compute_api.READER)
        self.set_quota(snapshots=0)
        self.refused('POST', SNAPSHOTS, self.snapshot(), code=403, text='uota')

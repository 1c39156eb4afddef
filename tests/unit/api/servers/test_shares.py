"""Shares of a server: what is refused, what is shown, and what is begun."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.db.api import sagas
from nova_lite.db.cell import shares
from tests.fixtures import compute_api
from tests.fixtures import shares as doubles
from tests.unit.api.servers import base

SHARE = doubles.SHARE_ID
VERSION = '2.97'
TRAITS = {'COMPUTE_STORAGE_VIRTIO_FS', 'COMPUTE_MEM_BACKING_FILE'}


class SharesTest(base.Case):
    def setUp(self):
        super().setUp()
        self.api.neighbours.placement.host_traits = set(TRAITS)
        self.api.add_host('host1', hypervisor_hostname='host1')
        self.uuid = self.api.add_server(vm_state='stopped')
        self.path = f'/servers/{self.uuid}/shares'

    def attach(self, code=201, text='', **options):
        body = {'share': {'share_id': SHARE, **options.pop('values', {})}}
        options = {'version': VERSION, 'path': self.path, **options}
        path = options.pop('path')
        if code >= 400:
            return self.refused('POST', path, body, code=code, text=text, **options)
        return self.ok('POST', path, body, code=code, **options).json['share']

    def add(self, status='inactive', uuid=None, **values):
        """Record a share of the server."""
        columns = doubles.columns(**{'granted': True, **values})
        db = self.api.cell('cell1').db
        db.write(shares.add, uuid or self.uuid, columns)
        db.write(shares.change, columns['uuid'], {'status': status}, status=('attaching',))
        return columns

    def rows(self):
        found = self.api.cell('cell1').db.read(shares.of, [self.uuid])
        return [(row.share_id, row.status, row.tag) for row in found.get(self.uuid, ())]

    def saga(self, uuid=None):
        return self.api.api_db.read(sagas.find_active, uuid or self.uuid)

    # ---- attach ----

    def test_attach(self):
        self.assertEqual({'share_id': SHARE, 'status': 'attaching', 'tag': SHARE}, self.attach())
        self.assertEqual([(SHARE, 'attaching', SHARE)], self.rows())
        self.assertEqual(('attach-share', SHARE), self._begun())

    def _begun(self):
        saga = self.saga()
        return saga.kind, saga.arguments['share_id']

    def test_administrators_see_where_it_is(self):
        shown = self.attach(who=base.ADMIN, values={'tag': 'mine'})
        self.assertEqual({'share_id', 'status', 'tag', 'uuid', 'export_location'}, set(shown))
        self.assertEqual(f'10.254.0.5:/shares/{SHARE}', shown['export_location'])
        self.assertEqual('mine', shown['tag'])

    def test_states(self):
        for vm_state in ('active', 'error', 'paused', 'shelved_offloaded', 'resized'):
            uuid = self.api.add_server(vm_state=vm_state)
            self.attach(409, vm_state, path=f'/servers/{uuid}/shares')
            self.assertIsNone(self.saga(uuid))
        uuid = self.api.add_server(vm_state='stopped', locked=True, locked_by='admin')
        self.attach(409, 'locked', path=f'/servers/{uuid}/shares')

    def test_callers_and_versions(self):
        self.attach(404, version='2.96')
        self.attach(403, who=compute_api.READER)
        for values, named in (
            ({'share_id': 'x'}, 'share_id'),
            ({'tag': ''}, 'tag'),
            ({'tag': 'x' * 65}, 'tag'),
            ({'tag': 'ü'}, 'tag'),
            ({'size': 1}, 'size'),
        ):
            self.attach(400, named, values=values)
        self.assertEqual([], self.rows())

    def test_servers_of_other_projects(self):
        self.add()
        one = f'{self.path}/{SHARE}'
        for method, path in (('GET', self.path), ('GET', one), ('DELETE', one)):
            self.refused(method, path, code=404, version=VERSION, who=compute_api.OTHER)
        self.attach(404, who=compute_api.OTHER)
        self.refused('DELETE', one, code=403, version=VERSION, who=compute_api.READER)
        self.assertEqual([(SHARE, 'inactive', 'data')], self.rows())

    def test_shares_that_cannot_be_attached(self):
        double = self.api.neighbours.share
        for values, code, text in (
            ({'status': 'creating'}, 409, 'creating'),
            ({'export_location': None}, 409, SHARE),
            ({'protocol': 'CIFS'}, 400, 'CIFS'),
        ):
            double.add(SHARE, **values)
            self.attach(code, text)
        del double.shares[SHARE]
        self.attach(404, SHARE)
        self.assertEqual([], self.rows())

    def test_a_share_and_a_tag_are_used_once(self):
        self.add()
        self.attach(409, 'already')
        other = runtime.new_uuid()
        self.api.neighbours.share.add(other)
        self.attach(409, 'data', values={'share_id': other, 'tag': 'data'})
        self.assertIsNone(self.saga())

    def test_an_attachment_that_failed_is_replaced(self):
        failed = self.add('error', granted=False)
        # Locks that the failure may have left name it.
        self.assertEqual(failed['uuid'], self.attach(who=base.ADMIN)['uuid'])
        self.assertEqual([(SHARE, 'attaching', SHARE)], self.rows())

    def test_a_database_that_takes_two_tags_for_one(self):
        other = runtime.new_uuid()
        self.add(share_id=other, tag='Data')
        db = self.api.cell('cell1').db
        index = 'CREATE UNIQUE INDEX any_case ON share_mapping (instance_uuid, tag COLLATE NOCASE)'
        db.write(lambda connection: connection.execute(sa.text(index)))
        self.attach(409, 'data', values={'tag': 'data'})
        self.assertIsNone(self.saga())

    def test_hosts_without_support(self):
        placement = self.api.neighbours.placement
        for trait in TRAITS:
            placement.host_traits = TRAITS - {trait}
            self.attach(409, trait)
        placement.host_traits = {'COMPUTE_STORAGE_VIRTIO_FS'}
        record = self.api.record()
        flavor = {**record['flavor'], 'extra_specs': {'hw:mem_page_size': 'large'}}
        uuid = self.api.add_server(vm_state='stopped', flavor=flavor)
        self.attach(path=f'/servers/{uuid}/shares')

    # ---- show, detach ----

    def test_list_and_show(self):
        row = self.add('active')
        brief = {'share_id': SHARE, 'status': 'active', 'tag': 'data'}
        for who in (compute_api.READER, compute_api.MEMBER):
            options = {'version': VERSION, 'who': who}
            self.assertEqual({'shares': [brief]}, self.ok('GET', self.path, **options).json)
            one = self.ok('GET', f'{self.path}/{SHARE}', **options).json
            self.assertEqual({'share': brief}, one)
        shown = self.ok('GET', f'{self.path}/{SHARE}', version=VERSION, who=base.ADMIN).json
        more = {'uuid': row['uuid'], 'export_location': 'there:/data'}
        self.assertEqual({**brief, **more}, shown['share'])
        self.refused('GET', f'{self.path}/{runtime.new_uuid()}', code=404, version=VERSION)
        self.refused('GET', self.path, code=404, version='2.96')

    def test_detach(self):
        self.add()
        self.refused('DELETE', f'{self.path}/none', code=404, version=VERSION)
        self.ok('DELETE', f'{self.path}/{SHARE}', version=VERSION)
        self.assertEqual([(SHARE, 'detaching', 'data')], self.rows())
        self.assertEqual(('detach-share', SHARE), self._begun())

    def test_shares_that_cannot_be_detached(self):
        for vm_state, status in (
            ('active', 'active'),
            ('error', 'active'),
            ('stopped', 'attaching'),
        ):
            uuid = self.api.add_server(vm_state=vm_state)
            self.add(status, uuid)
            path = f'/servers/{uuid}/shares/{SHARE}'
            self.refused('DELETE', path, code=409, version=VERSION)
        uuid = self.api.add_server(vm_state='error')
        self.add('error', uuid)
        self.ok('DELETE', f'/servers/{uuid}/shares/{SHARE}', version=VERSION)

    # ---- other actions ----

    def test_actions_that_do_not_support_shares(self):
        for vm_state, action, value in (
            ('active', 'suspend', None),
            ('active', 'shelve', None),
            ('stopped', 'migrate', None),
        ):
            uuid = self.api.add_server(vm_state=vm_state)
            self.add(uuid=uuid)
            self.refused_act(uuid, action, value, code=409, text='shares', who=base.ADMIN)
            self.assertIsNone(self.api.row(uuid).task_state)
            self.assertIsNone(self.saga(uuid))

"""Backups, transfers and QoS specifications of volumes: what is refused, and what is counted."""

import base64
import json

from tests.unit.simcloud import base

UNKNOWN = '00000000-0000-4000-8000-000000000000'
V3 = '/volume/v3'
NEWEST = {'OpenStack-API-Version': 'volume 3.71'}


class OffersTestCase(base.SimCloudTestCase):
    def volume(self, client=None, **values):
        """A new volume, with snapshots as many as `snapshots` says."""
        number = values.pop('snapshots', 0)
        client = client or self.demo
        wanted = {'size': 1, **values}
        made = client.post(f'{V3}/volumes', {'volume': wanted}, expect=202)['volume']
        for _ in range(number):
            wanted = {'volume_id': made['id']}
            client.post(f'{V3}/snapshots', {'snapshot': wanted}, expect=202)
        return made

    def limit(self, project, **limits):
        found = self.admin.get(f'/identity/v3/projects?name={project}')['projects'][0]['id']
        self.admin.put(f'{V3}/os-quota-sets/{found}', {'quota_set': limits})

    def refused(self, answer, word):
        """Check that a fault of the volume service says `word`."""
        ((_key, fault),) = answer.items()
        self.assertIn(word, fault['message'])


class BackupsTest(OffersTestCase):
    def backup(self, volume, *, expect=202, client=None, headers=NEWEST, **values):
        wanted = {'volume_id': volume['id'], **values}
        answer = (client or self.demo).post(
            f'{V3}/backups', {'backup': wanted}, expect=expect, headers=headers
        )
        return answer.get('backup') or answer

    def shown(self, backup, minor=71, client=None):
        headers = {'OpenStack-API-Version': f'volume 3.{minor}'}
        path = f'{V3}/backups/{backup["id"]}'
        return (client or self.demo).get(path, headers=headers)['backup']

    def test_attributes_came_with_microversions(self):
        made = self.backup(self.volume())
        self.assertEqual({'id', 'name', 'links'}, set(made))
        owner = 'os-backup-project-attr:project_id'
        later = ((18, owner), (43, 'metadata'), (56, 'user_id'), (64, 'encryption_key_id'))
        for since, name in later:
            self.assertNotIn(name, self.shown(made, since - 1, self.admin))
            self.assertIn(name, self.shown(made, since, self.admin))
        self.assertNotIn(owner, self.shown(made))
        for name, value, before in (('metadata', {}, 42), ('availability_zone', 'z', 50)):
            old = {'OpenStack-API-Version': f'volume 3.{before}'}
            answer = self.backup({'id': made['id']}, expect=400, headers=old, **{name: value})
            self.refused(answer, name)
        self.demo.put(f'{V3}/backups/{made["id"]}', {'backup': {'name': 'n'}}, expect=404)

    def test_volumes_that_cannot_be_backed_up(self):
        volume, other = self.volume(), self.volume(snapshots=1)
        path = f'{V3}/volumes/{volume["id"]}/action'
        attaching = {'os-attach': {'mountpoint': '/dev/vdb'}}
        self.demo.post(path, attaching, expect=202)
        self.refused(self.backup(volume, expect=400), 'force flag')
        self.refused(self.backup(volume, expect=400, incremental=True, force=True), 'incremental')
        self.backup(volume, force=True)
        (snapshot,) = self.demo.get(f'{V3}/snapshots')['snapshots']
        self.refused(self.backup(volume, expect=400, snapshot_id=snapshot['id']), 'not of volume')
        made = self.backup(other, snapshot_id=snapshot['id'])
        self.assertEqual(snapshot['created_at'], self.shown(made)['data_timestamp'])
        self.admin.post(path, {'os-reset_status': {'status': 'error'}}, expect=202)
        self.refused(self.backup(volume, expect=400, force=True), '"error"')

    def test_restored_volumes_boot(self):
        made = self.backup(self.volume(imageRef=self.image_id()))
        path = f'{V3}/backups/{made["id"]}/restore'
        restored = self.demo.post(path, {'restore': {}}, expect=202)['restore']
        self.assertEqual(f'restore_backup_{made["id"]}', restored['volume_name'])
        small, large = self.volume(), self.volume(size=2)
        for volume in (small, large):
            wanted = {'volume_id': volume['id']}
            self.demo.post(path, {'restore': wanted}, expect=202)
        for volume_id in (restored['volume_id'], small['id'], large['id']):
            shown = self.demo.get(f'{V3}/volumes/{volume_id}')['volume']
            self.assertEqual('true', shown['bootable'])
            self.assertEqual('cirros', shown['volume_image_metadata']['image_name'])
        made = self.backup(large)
        path = f'{V3}/backups/{made["id"]}/restore'
        answer = self.demo.post(path, {'restore': {'volume_id': small['id']}}, expect=400)
        self.refused(answer, 'too small')
        old = {'OpenStack-API-Version': 'volume 3.46'}
        wanted = {'volume': {'backup_id': made['id']}}
        self.refused(self.demo.post(f'{V3}/volumes', wanted, expect=400, headers=old), 'backup_id')
        made = self.demo.post(f'{V3}/volumes', wanted, expect=202, headers=NEWEST)['volume']
        self.assertEqual(2, made['size'])

    def test_projects_are_apart(self):
        made = self.backup(self.volume())
        other = self.believed('u', 'p', 'member')
        path = f'{V3}/backups/{made["id"]}'
        other.get(path, expect=404)
        other.delete(path, expect=404)
        other.post(f'{path}/restore', {'restore': {}}, expect=404)
        self.assertEqual([], other.get(f'{V3}/backups/detail')['backups'])
        reader = self.believed('u', 'p', 'reader')
        reader.post(f'{V3}/backups', {'backup': {'volume_id': made['id']}}, expect=403)
        for action in ({'os-reset_status': {'status': 'error'}}, {'os-force_delete': {}}):
            self.demo.post(f'{path}/action', action, expect=403)
        self.demo.get(f'{path}/export_record', expect=403)

    def test_quotas_hold(self):
        volume = self.volume(size=2)
        self.limit('demo', backups=1, backup_gigabytes=1)
        self.refused(self.backup(volume, expect=413), 'VolumeBackupSize')
        self.limit('demo', backup_gigabytes=4)
        self.backup(volume)
        self.refused(self.backup(volume, expect=413), 'BackupLimit')
        absolute = self.demo.get(f'{V3}/limits')['limits']['absolute']
        self.assertEqual(1, absolute['totalBackupsUsed'])
        self.assertEqual(2, absolute['totalBackupGigabytesUsed'])

    def test_records_are_imported_once(self):
        made = self.backup(self.volume(), name='kept')
        path = f'{V3}/backups/{made["id"]}'
        record = self.admin.get(f'{path}/export_record')
        importing = f'{V3}/backups/import_record'
        self.refused(self.admin.post(importing, record, expect=400), 'already exists')
        self.demo.delete(path, expect=202)
        self.admin.post(importing, record)
        self.assertEqual('available', self.shown(made, client=self.admin)['status'])
        known = json.loads(base64.b64decode(record['backup-record']['backup_url']))
        names = [{**known, 'id': UNKNOWN, 'name': name} for name in ('\ud800', 'a\0')]
        unstorable = [base64.b64encode(json.dumps(each).encode()).decode() for each in names]
        for text in ('x', 'bnVsbA==', 'e30=', *unstorable):
            broken = {'backup_service': 's', 'backup_url': text}
            self.admin.post(importing, {'backup-record': broken}, expect=400)
        self.demo.post(importing, record, expect=403)


class TransfersTest(OffersTestCase):
    def offer(self, volume, *, path='volume-transfers', expect=202, **values):
        wanted = {'volume_id': volume['id'], **values}
        answer = self.demo.post(f'{V3}/{path}', {'transfer': wanted}, expect=expect, headers=NEWEST)
        return answer.get('transfer') or answer

    def accept(self, offer, *, expect=202, **values):
        wanted = {'auth_key': offer['auth_key'], **values}
        path = f'{V3}/volume-transfers/{offer["id"]}/accept'
        return self.admin.post(path, {'accept': wanted}, expect=expect, headers=NEWEST)

    def snapshots(self, client):
        return client.get(f'{V3}/snapshots')['snapshots']

    def test_an_offer_waits(self):
        volume = self.volume()
        made = self.offer(volume)
        self.assertEqual((False, False), (made['no_snapshots'], made['accepted']))
        self.refused(self.offer(volume, expect=400), 'available')
        self.demo.delete(f'{V3}/volumes/{volume["id"]}', expect=400)
        action = f'{V3}/volumes/{volume["id"]}/action'
        self.demo.post(action, {'os-unreserve': None}, expect=202)
        self.demo.post(action, {'os-reserve': None}, expect=400)
        path = f'{V3}/volume-transfers/{made["id"]}'
        self.assertNotIn('auth_key', self.demo.get(path, headers=NEWEST)['transfer'])
        self.demo.get(path, expect=404)
        self.believed('u', 'p', 'member').delete(path, headers=NEWEST, expect=404)
        self.refused(self.accept(made, expect=400, auth_key='ü'), 'invalid auth key')
        self.demo.delete(path, headers=NEWEST, expect=202)
        self.accept(made, expect=404)
        shown = self.demo.get(f'{V3}/volumes/{volume["id"]}')['volume']
        self.assertEqual('available', shown['status'])

    def test_snapshots_go_along_or_stay(self):
        self.accept(self.offer(self.volume(snapshots=2)))
        self.assertEqual((0, 2), tuple(len(self.snapshots(one)) for one in (self.demo, self.admin)))
        self.accept(self.offer(self.volume(snapshots=1), no_snapshots=True))
        self.accept(self.offer(self.volume(snapshots=1), path='os-volume-transfer'))
        self.assertEqual((2, 2), tuple(len(self.snapshots(one)) for one in (self.demo, self.admin)))

    def test_the_quota_of_the_new_owner_holds(self):
        made = self.offer(self.volume(snapshots=1))
        for limits in ({'volumes': 0}, {'volumes': 1, 'gigabytes': 1}):
            self.limit('admin', **limits)
            self.accept(made, expect=413)
        self.limit('admin', gigabytes=2)
        self.accept(made)

    def test_a_volume_that_left_takes_its_offers_along(self):
        volume = self.volume()
        old = self.offer(volume)
        action = f'{V3}/volumes/{volume["id"]}/action'
        reset = {'os-reset_status': {'status': 'available'}}
        self.admin.post(action, reset, expect=202)
        new = self.offer(volume)
        self.accept(old, expect=404)
        self.accept(new)
        self.assertEqual([], self.demo.get(f'{V3}/os-volume-transfer')['transfers'])

    def test_an_offer_of_a_volume_in_another_state_can_be_withdrawn(self):
        volume = self.volume()
        made = self.offer(volume)
        action = f'{V3}/volumes/{volume["id"]}/action'
        self.admin.post(action, {'os-reset_status': {'status': 'error'}}, expect=202)
        self.refused(self.accept(made, expect=400), 'awaiting-transfer')
        self.demo.delete(f'{V3}/os-volume-transfer/{made["id"]}', expect=202)
        shown = self.demo.get(f'{V3}/volumes/{volume["id"]}')['volume']
        self.assertEqual('error', shown['status'])

    def test_snapshots_of_another_project_are_not_deleted(self):
        volume = self.volume(snapshots=1)
        self.accept(self.offer(volume, no_snapshots=True))
        path = f'{V3}/volumes/{volume["id"]}?cascade=true'
        answer = self.admin.delete(path, expect=400)
        self.refused(answer, 'after volume transfer')
        (snapshot,) = self.snapshots(self.demo)
        self.demo.delete(f'{V3}/snapshots/{snapshot["id"]}', expect=202)
        self.admin.delete(path, expect=202)

    def test_backups_of_the_former_owner_are_no_parents(self):
        volume = self.volume()
        body = {'backup': {'volume_id': volume['id']}}
        self.demo.post(f'{V3}/backups', body, expect=202)
        self.accept(self.offer(volume))
        body['backup']['incremental'] = True
        self.refused(self.admin.post(f'{V3}/backups', body, expect=400), 'No backups')

    def test_a_deleted_volume_takes_its_offer_along(self):
        volume = self.volume()
        made = self.offer(volume)
        action = f'{V3}/volumes/{volume["id"]}/action'
        self.admin.post(action, {'os-force_delete': {}}, expect=202)
        self.accept(made, expect=404)
        listed = self.demo.get(f'{V3}/os-volume-transfer/detail')
        self.assertEqual([], listed['transfers'])


class QosSpecsTest(OffersTestCase):
    def specs(self, *, expect=200, **values):
        answer = self.admin.post(
            f'{V3}/qos-specs', {'qos_specs': {'name': 'q', **values}}, expect=expect
        )
        return answer.get('qos_specs') or answer

    def kind(self, name):
        made = self.admin.post(f'{V3}/types', {'volume_type': {'name': name}}, expect=200)
        return made['volume_type']['id']

    def join(self, specs, kind, *, expect=202, change='associate'):
        path = f'{V3}/qos-specs/{specs["id"]}/{change}?vol_type_id={kind}'
        return self.admin.get(path, expect=expect)

    def test_specs_that_cannot_be(self):
        made = self.specs()
        self.assertEqual('back-end', made['consumer'])
        self.refused(self.specs(expect=409), 'already exists')
        self.specs(expect=400, consumer='nobody')
        self.specs(expect=400, **{'a/b': '1'})
        path = f'{V3}/qos-specs/{made["id"]}'
        added = {'qos_specs': {'iops': '1'}}
        self.assertEqual(added, self.admin.put(path, added))
        self.assertEqual({'iops': '1'}, self.admin.get(path)['qos_specs']['specs'])
        answer = self.admin.put(f'{path}/delete_keys', {'keys': ['other']}, expect=404)
        self.refused(answer, 'other')
        for change in ('associate', 'disassociate'):
            self.refused(self.admin.get(f'{path}/{change}', expect=400), 'Volume Type id')
            self.demo.get(f'{path}/{change}?vol_type_id=x', expect=403)

    def test_a_type_has_one(self):
        one, two, kind = self.specs(), self.specs(name='r'), self.kind('k')
        self.join(one, kind)
        self.join(one, kind)
        self.refused(self.join(two, kind, expect=400), one['id'])
        path = f'{V3}/types/{kind}'
        self.assertEqual(one['id'], self.admin.get(path)['volume_type']['qos_specs_id'])
        self.assertNotIn('qos_specs_id', self.demo.get(path)['volume_type'])
        self.admin.delete(f'{V3}/qos-specs/{one["id"]}', expect=400)
        self.admin.delete(f'{V3}/qos-specs/{one["id"]}?force=true', expect=202)
        self.assertIsNone(self.admin.get(path)['volume_type']['qos_specs_id'])
        self.join(two, kind)
        self.join(two, kind, change='disassociate')
        self.admin.delete(f'{V3}/qos-specs/{two["id"]}', expect=202)

    def test_hosts_get_those_of_front_ends(self):
        kind = self.kind('k')
        self.join(self.specs(consumer='both', iops='5'), kind)
        volume = self.volume(volume_type=kind)
        wanted = {'volume_uuid': volume['id'], 'connector': {'host': 'h'}}
        made = self.demo.post(
            f'{V3}/attachments', {'attachment': wanted}, headers=NEWEST, expect=200
        )
        self.assertEqual({'iops': '5'}, made['attachment']['connection_info']['qos_specs'])
        wanted = {'os-initialize_connection': {'connector': {'host': 'h'}}}
        path = f'{V3}/volumes/{volume["id"]}/action'
        info = self.demo.post(path, wanted, expect=200)['connection_info']
        self.assertEqual({'iops': '5'}, info['data']['qos_specs'])

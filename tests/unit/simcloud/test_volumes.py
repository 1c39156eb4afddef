"""Volumes, snapshots, types, quotas and the actions on volumes."""

from nova_lite.simcloud.volume import tables
from tests.unit.simcloud import base

V3 = '/volume/v3'


class VolumeTestCase(base.SimCloudTestCase):
    def volume(self, client=None, *, expect=202, **values):
        answer = (client or self.demo).post(
            f'{V3}/volumes', {'volume': {'size': 1, **values}}, expect=expect
        )
        return answer['volume'] if expect == 202 else answer

    def shown(self, volume):
        return self.demo.get(f'{V3}/volumes/{volume["id"]}')['volume']

    def act(self, volume, action, value=None, *, expect=202, client=None, headers=()):
        return (client or self.demo).post(
            f'{V3}/volumes/{volume["id"]}/action', {action: value}, expect=expect, headers=headers
        )

    def test_volume_begins_in_creating_and_is_available_at_once(self):
        volume = self.volume(name='v', metadata={'a': 'b'})
        self.assertEqual('creating', volume['status'])
        shown = self.shown(volume)
        self.assertEqual(
            ('available', 'v', 1, {'a': 'b'}, '__DEFAULT__', 'false', False),
            (
                shown['status'],
                shown['name'],
                shown['size'],
                shown['metadata'],
                shown['volume_type'],
                shown['bootable'],
                shown['multiattach'],
            ),
        )
        self.demo.delete(f'{V3}/volumes/{volume["id"]}', expect=202)
        self.demo.get(f'{V3}/volumes/{volume["id"]}', expect=404)

    def test_volume_of_an_image_boots_and_remembers(self):
        volume = self.volume(imageRef=self.image_id('debian'), size=2)
        self.assertEqual('true', volume['bootable'])
        remembered = self.shown(volume)['volume_image_metadata']
        self.assertEqual(
            ('debian', '2', 'qcow2', 'debian'),
            (
                remembered['image_name'],
                remembered['min_disk'],
                remembered['disk_format'],
                remembered['os_distro'],
            ),
        )
        self.volume(imageRef=self.image_id('debian'), expect=400)
        self.volume(imageRef='nothing', expect=400)
        queued = self.demo.post('/image/v2/images', {'name': 'q'})['id']
        self.volume(imageRef=queued, expect=400)

    def test_extensions_add_to_what_shows_volumes_alone(self):
        created = self.volume(self.admin, imageRef=self.image_id('debian'), size=2)
        path = f'{V3}/volumes/{created["id"]}'
        updated = self.admin.put(path, {'volume': {'name': 'other'}})['volume']
        shown = self.admin.get(path)['volume']
        [listed] = self.admin.get(f'{V3}/volumes/detail')['volumes']
        extended = {
            'os-vol-host-attr:host',
            'os-vol-mig-status-attr:migstat',
            'os-vol-mig-status-attr:name_id',
            'os-vol-tenant-attr:tenant_id',
            'volume_image_metadata',
        }
        self.assertEqual(set(created), set(updated))
        self.assertEqual(set(created) | extended, set(shown))
        self.assertEqual(set(shown), set(listed))
        self.assertEqual(set(), set(created) & extended)

    def test_volumes_of_volumes_and_snapshots(self):
        volume = self.volume(imageRef=self.image_id(), size=3, volume_type='multiattach')
        snapshot = self.demo.post(
            f'{V3}/snapshots', {'snapshot': {'volume_id': volume['id'], 'name': 's'}}, expect=202
        )['snapshot']
        self.assertEqual('creating', snapshot['status'])
        path = f'{V3}/snapshots/{snapshot["id"]}'
        self.assertEqual('available', self.demo.get(path)['snapshot']['status'])
        for source in ({'snapshot_id': snapshot['id']}, {'source_volid': volume['id']}):
            copy = self.volume(size=None, **source)
            self.assertEqual(
                (3, 'true', 'multiattach'), (copy['size'], copy['bootable'], copy['volume_type'])
            )
            self.volume(size=2, expect=400, **source)
        self.volume(snapshot_id=snapshot['id'], source_volid=volume['id'], expect=400)
        self.demo.delete(f'{V3}/volumes/{volume["id"]}', expect=400)
        self.demo.put(path, {'snapshot': {'name': 't'}})
        self.demo.post(f'{path}/metadata', {'metadata': {'a': 'b'}}, expect=200)
        found = self.demo.get(f'{V3}/snapshots/detail?name=t')['snapshots']
        self.assertEqual({'a': 'b'}, found[0]['metadata'])
        self.demo.delete(f'{V3}/volumes/{volume["id"]}?cascade=True', expect=202)
        self.demo.get(path, expect=404)

    def test_snapshot_of_a_volume_in_use_must_be_forced(self):
        volume = self.volume()
        self.act(volume, 'os-attach', {'instance_uuid': 's', 'mountpoint': '/dev/vdb'})
        body = {'snapshot': {'volume_id': volume['id']}}
        self.demo.post(f'{V3}/snapshots', body, expect=400)
        body['snapshot']['force'] = True
        self.demo.post(f'{V3}/snapshots', body, expect=202)

    def test_reports_about_snapshots(self):
        body = {'snapshot': {'volume_id': self.volume()['id']}}
        made = self.demo.post(f'{V3}/snapshots', body, expect=202)['snapshot']
        path = f'{V3}/snapshots/{made["id"]}'

        def act(client, action, status, expect=202, **more):
            value = {'status': status, **more}
            client.post(f'{path}/action', {action: value}, expect=expect)
            return self.demo.get(path)['snapshot']['status']

        reset, report = 'os-reset_status', 'os-update_snapshot_status'
        self.assertEqual('available', act(self.demo, reset, 'creating', expect=403))
        self.assertEqual('available', act(self.demo, report, 'creating', expect=400))
        for before, after in (('creating', 'available'), ('deleting', 'error_deleting')):
            self.assertEqual(before, act(self.admin, reset, before))
            self.assertEqual(before, act(self.demo, report, before, progress='90%'))
            self.assertEqual(before, act(self.demo, report, 'in-use', expect=400))
            self.assertEqual(before, act(self.demo, report, before, expect=400, progress='x'))
            self.assertEqual(after, act(self.demo, report, after))
        self.demo.post(f'{path}/action', {'os-other': {}}, expect=400)

    def test_actions_change_what_they_say(self):
        volume = self.volume()
        self.act(volume, 'os-set_bootable', {'bootable': True}, expect=200)
        self.act(volume, 'os-extend', {'new_size': 5})
        self.act(volume, 'os-extend', {'new_size': 5}, expect=400)
        self.act(volume, 'os-retype', {'new_type': 'multiattach', 'migration_policy': 'never'})
        self.act(volume, 'os-set_image_metadata', {'metadata': {'k': 'v', 'l': 'w'}}, expect=200)
        self.act(volume, 'os-unset_image_metadata', {'key': 'l'}, expect=200)
        self.act(volume, 'os-update_readonly_flag', {'readonly': True})
        shown = self.shown(volume)
        self.assertEqual(
            ('true', 5, True, {'k': 'v'}, 'True'),
            (
                shown['bootable'],
                shown['size'],
                shown['multiattach'],
                shown['volume_image_metadata'],
                shown['metadata']['readonly'],
            ),
        )
        self.assertEqual(
            {'metadata': {'k': 'v'}}, self.act(volume, 'os-show_image_metadata', expect=200)
        )
        self.act(volume, 'os-reset_status', {'status': 'error'}, expect=403)
        migrating = {'migration_status': 'migrating'}
        self.act(volume, 'os-reset_status', migrating, client=self.admin)
        shown = self.admin.get(f'{V3}/volumes/{volume["id"]}')['volume']
        self.assertEqual('migrating', shown['migration_status'])
        self.act(volume, 'os-reset_status', {'status': 'error'}, client=self.admin)
        image = {'image_id': self.image_id()}
        for version, status in (('3.67', 404), ('3.68', 202)):
            headers = {'OpenStack-API-Version': f'volume {version}'}
            self.act(volume, 'os-reimage', image, expect=status, headers=headers)
        self.act(volume, 'os-dance', {}, expect=400)
        self.act(volume, 'os-extend', {'new_size': 'big'}, expect=400)

    def test_detaching_begins_and_is_called_off(self):
        volume = self.volume()
        self.act(volume, 'os-begin_detaching', expect=400)
        self.act(volume, 'os-attach', {'instance_uuid': 's', 'mountpoint': '/dev/vdb'})
        self.act(volume, 'os-begin_detaching')
        self.assertEqual('detaching', self.shown(volume)['status'])
        self.act(volume, 'os-begin_detaching', expect=400)
        self.act(volume, 'os-roll_detaching')
        self.assertEqual('in-use', self.shown(volume)['status'])
        self.act(volume, 'os-detach', {}, expect=409)
        self.act(volume, 'os-detach', {}, headers={'X-Service-Roles': 'service'})
        self.assertEqual('available', self.shown(volume)['status'])

    def test_projects_are_apart(self):
        volume = self.volume()
        other = self.believed('u', 'elsewhere', 'member')
        other.get(f'{V3}/volumes/{volume["id"]}', expect=404)
        other.delete(f'{V3}/volumes/{volume["id"]}', expect=404)
        self.assertEqual([], other.get(f'{V3}/volumes/detail?all_tenants=1')['volumes'])
        self.assertEqual([], self.admin.get(f'{V3}/volumes')['volumes'])
        every = self.admin.get(f'{V3}/volumes/detail?all_tenants=1')['volumes']
        self.assertEqual([volume['id']], [one['id'] for one in every])
        self.assertIn('os-vol-host-attr:host', every[0])
        self.believed('u', 'elsewhere', 'reader').post(
            f'{V3}/volumes', {'volume': {'size': 1}}, expect=403
        )

    def test_paths_may_carry_the_callers_project(self):
        volume = self.volume()
        project = self.shown(volume)['os-vol-tenant-attr:tenant_id']
        self.demo.get(f'{V3}/{project}/volumes/{volume["id"]}')
        self.demo.get(f'{V3}/{"0" * 32}/volumes', expect=400)

    def test_microversions(self):
        volume = self.volume()
        path = f'{V3}/volumes/{volume["id"]}'
        self.assertNotIn('volume_type_id', self.demo.get(path)['volume'])
        result = self.demo.raw('GET', path, headers={'OpenStack-API-Version': 'volume 3.63'})
        self.assertIn('volume_type_id', result.json['volume'])
        self.assertEqual('volume 3.63', result.headers['openstack-api-version'])
        for version, status in (
            ('volume 3.999', 406),
            ('volume three', 400),
            ('compute 2.1', 200),
            ('volume latest', 200),
        ):
            self.demo.get(path, expect=status, headers={'OpenStack-API-Version': version})
        document = self.anyone.get(f'{V3}/')['versions'][0]
        self.assertEqual(('3.0', '3.71'), (document['min_version'], document['version']))

    def test_targets_are_never_shared(self):
        # Otherwise os-brick, and nova with it, locks by the uuid of a service.
        path = f'{V3}/volumes/{self.volume()["id"]}'
        for minor in (48, 69, 70):
            headers = {'OpenStack-API-Version': f'volume 3.{minor}'}
            shown = self.demo.raw('GET', path, headers=headers).json
            self.assertIs(False, shown['volume']['shared_targets'], minor)

    def test_lists_filter_sort_and_page(self):
        for number in range(5):
            self.volume(name=f'n{number}', size=number + 1)

        def names(query, kind='volumes/detail'):
            return [one['name'] for one in self.demo.get(f'{V3}/{kind}?{query}')['volumes']]

        self.assertEqual(['n3', 'n4'], names('sort=name:asc&offset=3'))
        self.assertEqual(['n2'], names('name=n2&status=available', 'volumes'))
        self.assertEqual(['n1'], names('size=2'))
        self.assertEqual([], names('bootable=true'))
        page = self.demo.get(f'{V3}/volumes?limit=2&sort=name')
        self.assertIn('marker=', page['volumes_links'][0]['href'])
        for query in ('limit=x', 'marker=none', 'sort=colour', 'size=big', 'bootable=maybe'):
            self.demo.get(f'{V3}/volumes?{query}', expect=400)
        summary = self.demo.get(f'{V3}/volumes/summary')['volume-summary']
        self.assertEqual((5, 15), (summary['total_count'], summary['total_size']))

    def test_lists_are_counted_on_request(self):
        for volume in (self.volume(), self.volume()):
            for name in ('snapshot', 'backup'):
                wanted = {name: {'volume_id': volume['id']}}
                self.demo.post(f'{V3}/{name}s', wanted, expect=202)
        for minor, count in ((44, None), (45, 2)):
            headers = {'OpenStack-API-Version': f'volume 3.{minor}'}
            for name in ('volumes', 'snapshots', 'backups'):
                for path in (name, f'{name}/detail'):
                    query = f'{V3}/{path}?with_count=True&limit=1'
                    listed = self.demo.get(query, headers=headers)
                    self.assertEqual((1, count), (len(listed[name]), listed.get('count')))
                    self.assertNotIn('count', self.demo.get(f'{V3}/{path}', headers=headers))
                    self.demo.get(f'{V3}/{path}?with_count=x', headers=headers, expect=400)
        summary = self.demo.get(f'{V3}/volumes/summary')['volume-summary']
        self.assertEqual((2, 2), (summary['total_count'], summary['total_size']))

    def test_types_are_the_administrators(self):
        self.demo.post(f'{V3}/types', {'volume_type': {'name': 't'}}, expect=403)
        made = self.admin.post(
            f'{V3}/types',
            {'volume_type': {'name': 't', 'os-volume-type-access:is_public': False}},
            expect=200,
        )['volume_type']
        path = f'{V3}/types/{made["id"]}'
        self.demo.get(path, expect=404)
        self.volume(volume_type='t', expect=404)
        self.admin.post(f'{path}/extra_specs', {'extra_specs': {'a': 'b'}}, expect=200)
        self.admin.put(f'{path}/extra_specs/c', {'c': 'd'})
        self.admin.delete(f'{path}/extra_specs/a', expect=202)
        self.assertEqual({'extra_specs': {'c': 'd'}}, self.admin.get(f'{path}/extra_specs'))
        self.volume(self.admin, volume_type='t')
        self.admin.delete(path, expect=400)
        self.assertEqual('__DEFAULT__', self.demo.get(f'{V3}/types/default')['volume_type']['name'])

    def test_private_types_have_lists_of_projects(self):
        wanted = {'name': 'fast', 'os-volume-type-access:is_public': False}
        answer = self.admin.post('/volume/v3/types', {'volume_type': wanted}, expect=200)
        path = f'/volume/v3/types/{answer["volume_type"]["id"]}'
        self.demo.get(path, expect=404)
        project = self.shown(self.volume())['os-vol-tenant-attr:tenant_id']

        def change(name, *, expect=202, client=self.admin, where=path):
            client.post(f'{where}/action', {name: {'project': project}}, expect=expect)

        change('addProjectAccess')
        change('addProjectAccess', expect=409)
        change('addProjectAccess', expect=403, client=self.demo)
        change('addProjectAccess', expect=400, where='/volume/v3/types/__DEFAULT__')
        found = self.admin.get(f'{path}/os-volume-type-access')['volume_type_access']
        self.assertEqual([project], [one['project_id'] for one in found])
        names = [one['name'] for one in self.demo.get('/volume/v3/types')['volume_types']]
        self.assertIn('fast', names)
        self.volume(volume_type='fast')
        change('removeProjectAccess')
        change('removeProjectAccess', expect=404)
        self.volume(volume_type='fast', expect=404)
        public = '/volume/v3/types/__DEFAULT__/os-volume-type-access'
        self.admin.get(public, expect=404)
        self.demo.get(public, expect=403)

    def test_quotas_hold(self):
        project = self.shown(self.volume())['os-vol-tenant-attr:tenant_id']
        path = f'{V3}/os-quota-sets/{project}'
        self.admin.put(path, {'quota_set': {'volumes': 2, 'gigabytes': '3'}})
        usage = self.demo.get(f'{path}?usage=True')['quota_set']
        self.assertEqual((2, 1), (usage['volumes']['limit'], usage['volumes']['in_use']))
        fault = self.volume(size=3, expect=413)
        self.assertIn('overLimit', fault)
        self.volume(size=2)
        self.volume(expect=413)
        absolute = self.demo.get(f'{V3}/limits')['limits']['absolute']
        self.assertEqual(
            (2, 2, 3),
            (
                absolute['maxTotalVolumes'],
                absolute['totalVolumesUsed'],
                absolute['totalGigabytesUsed'],
            ),
        )
        self.admin.delete(path, expect=200)
        self.volume()
        self.demo.get(f'{V3}/os-quota-sets/elsewhere', expect=403)

    def test_services_by_host_and_binary(self):
        def binaries(query):
            found = self.admin.get(f'{V3}/os-services{query}')['services']
            return [one['binary'] for one in found]

        volumes = ['cinder-volume'] * 2
        self.assertEqual(['cinder-scheduler', 'cinder-backup', *volumes], binaries(''))
        self.assertEqual(volumes, binaries('?binary=cinder-volume'))
        self.assertEqual([], binaries('?binary=cinder-volume&host=simcloud'))

    def test_there_are_no_groups(self):
        for name, since in (('groups', 13), ('group_snapshots', 14)):
            for path in (name, f'{name}/detail'):
                for minor, expect in ((since - 1, 404), (since, 200)):
                    headers = {'OpenStack-API-Version': f'volume 3.{minor}'}
                    answer = self.demo.get(f'{V3}/{path}', headers=headers, expect=expect)
                self.assertEqual({name: []}, answer)

    def test_pools_say_what_their_volumes_take_up(self):
        path = f'{V3}/scheduler-stats/get_pools'
        first, second = [{'name': name} for name in tables.HOSTS]
        self.assertEqual([first, second], self.admin.get(path)['pools'])
        self.demo.get(path, expect=403)
        self.volume(size=3), self.volume(size=2)
        moved = {'os-migrate_volume': {'host': second['name']}}
        self.admin.post(f'{V3}/volumes/{self.volume(size=4)["id"]}/action', moved, expect=202)
        for pool, allocated in zip(
            self.admin.get(f'{path}?detail=true')['pools'], (5, 4), strict=True
        ):
            shown = pool['capabilities']
            self.assertEqual(
                (allocated, allocated, shown['total_capacity_gb'] - allocated),
                tuple(
                    shown[f'{name}_capacity_gb'] for name in ('allocated', 'provisioned', 'free')
                ),
            )
        for minor, names in ((27, [first, second]), (28, [second])):
            headers = {'OpenStack-API-Version': f'volume 3.{minor}'}
            chosen = self.admin.get(
                f'{path}?name={second["name"].replace("#", "%23")}', headers=headers
            )
            self.assertEqual(names, chosen['pools'])

    def test_metadata(self):
        path = f'{V3}/volumes/{self.volume(metadata={"a": "b"})["id"]}/metadata'
        self.demo.post(path, {'metadata': {'c': 'd'}}, expect=200)
        self.demo.put(f'{path}/e', {'meta': {'e': 'f'}})
        self.demo.delete(f'{path}/a', expect=200)
        self.assertEqual({'metadata': {'c': 'd', 'e': 'f'}}, self.demo.get(path))
        self.demo.delete(f'{path}/a', expect=404)
        self.demo.put(path, {'metadata': {}})
        self.demo.put(path, {'metadata': {'number': 1}}, expect=400)

    def test_creation_refuses_what_it_must(self):
        for values in (
            {'size': 0},
            {'size': 'big'},
            {'size': None},
            {'name': 7},
            {'metadata': {'a': 1}},
            {'colour': 'red'},
            {'multiattach': True},
        ):
            self.volume(expect=400, **values)
        self.volume(volume_type='nothing', expect=404)

"""Checks of a rebuild by the API: body, image, volume, version."""

from nova_lite import runtime
from nova_lite.api import microversion
from nova_lite.db.api import flavors
from nova_lite.db.api import keypairs
from nova_lite.db.api import quotas
from nova_lite.db.api import sagas
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.fixtures import api_neighbours
from tests.fixtures import compute_api
from tests.fixtures import servers_api
from tests.unit.api.servers import base

OWN = api_neighbours.IMAGE_ID
OTHER = '9f6a1a0e-96f2-4c4b-a1de-0c9f1a2c2f3b'
VOLUME = api_neighbours.VOLUME_ID
GIB = 1 << 30
# The fields of the answer that are there from a version on; PUT has the same, but for three.
SINCE = {
    'locked': 9,
    'description': 19,
    'tags': 26,
    'key_name': 54,
    'user_data': 57,
    'trusted_image_certificates': 63,
    'server_groups': 71,
    'locked_reason': 73,
    'OS-EXT-STS:vm_state': 75,
    'OS-EXT-SRV-ATTR:hostname': 90,
    'pinned_availability_zone': 96,
    'scheduler_hints': 100,
}


class Case(base.Case):
    def setUp(self):
        super().setUp()
        self.images = self.api.neighbours.image
        self.images.add(OTHER)
        self.server = self.api.add_server(image_ref=OWN, image_properties={'a': 'b'})

    def rebuild(self, version='2.1', image=OWN, **content):
        body = {'imageRef': image, **content}
        return self.act(self.server, 'rebuild', body, version=version)

    def refused(self, *args, code=400, **options):
        """Of a rebuild, whose content is given as keywords; nothing is begun then."""
        if args:
            return super().refused(*args, code=code, **options)
        names = ('text', 'version')
        how = {name: options.pop(name) for name in names if name in options}
        body = {'imageRef': options.pop('image', OWN), **options}
        answer = self.refused_act(self.server, 'rebuild', body, code=code, **how)
        self.assertIsNone(self.row().task_state)
        return answer

    def row(self):
        return self.api.row(self.server)

    def saga(self):
        return self.api.api_db.read(sagas.find_active, self.server)


class RebuildTest(Case):
    def test_the_saga_and_the_record(self):
        self.images.add(OTHER, properties={'os_type': 'linux', 'kernel_id': 'k', 'c': 'd'})
        answer = self.rebuild(image=OTHER, name='new', metadata={'x': 'y'})
        server = answer.json['server']
        self.assertEqual(('new', {'x': 'y'}), (server['name'], server['metadata']))
        self.assertEqual((OTHER, 'REBUILD'), (server['image']['id'], server['status']))
        self.assertEqual(server['links'][0]['href'], answer.headers['Location'])
        row = self.row()
        self.assertEqual(
            ('rebuilding', 'active', OTHER, 'linux', 'k'),
            (row.task_state, row.vm_state, row.image_ref, row.os_type, row.kernel_id),
        )
        self.assertEqual({'os_type': 'linux', 'kernel_id': 'k', 'c': 'd'}, row.image_properties)
        arguments = self.saga().arguments
        self.assertEqual('rebuild', self.saga().kind)
        self.assertEqual(OTHER, arguments['image']['id'])
        self.assertIsNone(arguments['reimage'])
        self.assertEqual(
            (OWN, {'a': 'b'}),
            (arguments['former']['image_ref'], arguments['former']['image_properties']),
        )

    def test_its_own_image_needs_no_scheduler(self):
        self.rebuild()
        self.assertIsNone(self.saga().arguments['image'])

    def test_what_is_not_named_stays(self):
        before = self.row()
        self.rebuild('2.94')
        after = self.row()
        for name in ('display_name', 'metadata', 'hostname', 'key_name', 'user_data'):
            self.assertEqual(getattr(before, name), getattr(after, name), name)

    def test_columns(self):
        key = {'user_id': compute_api.MEMBER['user'], 'name': 'k', 'public_key': 'ssh-rsa x'}
        self.api.api_db.write(keypairs.create, {**key, 'fingerprint': 'f', 'type': 'ssh'})
        given = {
            'accessIPv4': '192.0.2.1',
            'accessIPv6': '0000:0000:0000:0000:0000:babe:220.12.22.2',
            'description': 'text',
            'OS-DCF:diskConfig': 'AUTO',
            'key_name': 'k',
            'user_data': 'eA==',
            'trusted_image_certificates': ['c'],
            'hostname': 'a.example.org',
            'preserve_ephemeral': True,
        }
        self.rebuild('2.94', **given)
        row = self.row()
        self.assertEqual(
            ('192.0.2.1', '::babe:dc0c:1602', 'text', True, 'k', 'ssh-rsa x', 'eA==', ['c']),
            (
                row.access_ip_v4,
                row.access_ip_v6,
                row.display_description,
                row.auto_disk_config,
                row.key_name,
                row.key_data,
                row.user_data,
                row.trusted_certs,
            ),
        )
        self.assertEqual('a.example.org', row.hostname)

    def test_null_takes_away(self):
        values = {'key_name': 'k', 'key_data': 'd', 'user_data': 'eA==', 'trusted_certs': ['c']}
        self.server = self.api.add_server(image_ref=OWN, **values)
        names = ('key_name', 'user_data', 'trusted_image_certificates', 'description')
        self.rebuild('2.63', **dict.fromkeys(names))
        row = self.row()
        self.assertEqual([None] * 4, [getattr(row, name) for name in values])

    def test_passwords(self):
        self.assertEqual('mine', self.rebuild(adminPass='mine').json['server']['adminPass'])
        self.server = self.api.add_server(image_ref=OWN)
        self.assertEqual(12, len(self.rebuild().json['server']['adminPass']))

    def test_length_of_passwords(self):
        """Of each operation that makes one."""
        for length in (0, 1, 40):
            self.api.conf.set_override('password_length', length)
            self.server = self.api.add_server(image_ref=OWN)
            rebuilt = self.rebuild().json['server']['adminPass']
            self.server = self.api.add_server()
            rescued = self.act(self.server, 'rescue', code=200).json['adminPass']
            self.assertEqual([length] * 2, [len(rebuilt), len(rescued)])

    def test_answers_by_version(self):
        borders = {minor for since in SINCE.values() for minor in (since - 1, since)}
        for minor in sorted({1, *borders, microversion.MAXIMUM.minor}):
            self.server = self.api.add_server(image_ref=OWN)
            found = self.rebuild(f'2.{minor}').json['server']
            wanted = {name for name, since in SINCE.items() if minor >= since}
            if minor >= 75:
                wanted |= {'key_name'}
            self.assertEqual(wanted, wanted & set(found), minor)
            self.assertEqual(set(), (set(SINCE) - wanted) & set(found), minor)

    def test_user_data_for_an_administrator(self):
        """It has another name in the answer than in that of PUT."""
        path, options = f'/servers/{self.server}', {'who': compute_api.ADMIN, 'version': '2.75'}
        body = {'rebuild': {'imageRef': OWN}}
        changed = self.ok('PUT', path, {'server': {}}, **options).json['server']
        rebuilt = self.ok('POST', f'{path}/action', body, code=202, **options).json['server']
        names = {'OS-EXT-SRV-ATTR:user_data', 'user_data'}
        self.assertEqual({'OS-EXT-SRV-ATTR:user_data'}, names & set(changed))
        self.assertEqual({'user_data'}, names & set(rebuilt))

    def test_states(self):
        for vm_state, code in (
            ('active', 202),
            ('stopped', 202),
            ('error', 202),
            ('paused', 409),
            ('suspended', 409),
            ('rescued', 409),
            ('resized', 409),
            ('shelved', 409),
        ):
            server = self.api.add_server(image_ref=OWN, vm_state=vm_state)
            answer = self.api.call(
                'POST', f'/servers/{server}/action', {'rebuild': {'imageRef': OWN}}
            )
            self.assertEqual(code, answer.status_code, vm_state)
        self.server = self.api.add_server(image_ref=OWN, task_state='reboot_started')
        text = "Cannot 'rebuild' instance"
        self.refused_act(self.server, 'rebuild', {'imageRef': OWN}, code=409, text=text)

    def test_a_locked_server(self):
        self.server = self.api.add_server(image_ref=OWN, locked=True, locked_by='admin')
        self.refused(code=409, text='locked')

    def test_a_server_that_never_ran(self):
        self.server = self.api.add_server(image_ref=OWN, vm_state='error', launched_at=None)
        self.refused(code=409)


class BadInputTest(Case):
    def test_fields_by_version(self):
        for name, value, since in (
            ('description', 'd', 19),
            ('key_name', None, 54),
            ('user_data', 'eA==', 57),
            ('trusted_image_certificates', None, 63),
            ('hostname', 'h1', 90),
        ):
            self.refused(text=name, version=f'2.{since - 1}', **{name: value})
            self.server = self.api.add_server(image_ref=OWN)
            self.rebuild(f'2.{since}', **{name: value})
            self.server = self.api.add_server(image_ref=OWN)
        self.refused(text='hostname', version='2.93', hostname='a.b')
        files = [{'path': '/a', 'contents': 'eA=='}]
        self.refused(text='personality', version='2.57', personality=files)
        self.rebuild('2.56', personality=files)

    def test_values(self):
        for name, value in (
            ('image', 'cirros'),
            ('image', None),
            ('name', ''),
            ('name', ' '),
            ('metadata', None),
            ('adminPass', 5),
            ('preserve_ephemeral', 'perhaps'),
            ('OS-DCF:diskConfig', 'auto'),
            ('accessIPv4', '::1'),
            ('accessIPv6', '192.0.2.1'),
            ('key_name', ''),
            ('user_data', 'eA'),
            ('trusted_image_certificates', []),
            ('hostname', '-'),
            ('config_drive', True),
        ):
            text = 'imageRef' if name == 'image' else name
            self.refused(text=text, version='2.90', **{name: value})
        self.refused_act(self.server, 'rebuild', {}, code=400, text='imageRef')
        self.refused_act(self.server, 'rebuild', None, code=400, text='rebuild')

    def test_images_that_do_not_fit(self):
        for values, text in (
            ({'status': 'queued'}, 'not active'),
            ({'min_ram': 1 << 20}, 'memory'),
            ({'min_disk': 1 << 10}, 'disk'),
            ({'size': GIB << 10}, 'disk'),
        ):
            self.images.add(OTHER, **values)
            self.refused(image=OTHER, text=text)
        self.images.images.pop(OTHER)
        self.refused(image=OTHER, text='not found')
        self.images.add(OTHER, properties={'auto_disk_config': 'disabled'})
        self.refused(image=OTHER, text='disk resize', **{'OS-DCF:diskConfig': 'AUTO'})

    def test_an_image_with_long_properties(self):
        self.images.add(OTHER, properties={'kernel_id': 'x' * 300})
        self.refused(image=OTHER, text='kernel_id')

    def test_a_key_that_there_is_not(self):
        self.refused(version='2.54', key_name='none', text='Invalid key_name')

    def test_quota(self):
        limits = {'metadata_items': 1, 'injected_files': 0}
        self.api.api_db.write(quotas.set_limits, 'alpha', limits)
        self.refused(code=403, text='metadata_items', metadata={'a': 'b', 'c': 'd'})
        files = [{'path': '/a', 'contents': 'eA=='}]
        self.refused(code=403, text='injected_files', personality=files)
        self.rebuild(metadata={'a': 'b'})

    def test_a_flavor_without_disk(self):
        flavor = {**servers_api.FLAVOR, 'flavorid': '44', 'name': 'none', 'root_gb': 0}
        self.api.api_db.write(flavors.create, flavor)
        self.server = self.api.add_server(image_ref=OWN, flavor={**flavor, 'id': 9})
        self.refused(code=403, text='zero disk')


class PolicyTest(Case):
    def test_a_reader(self):
        body = {'imageRef': OWN}
        self.refused_act(self.server, 'rebuild', body, code=403, who=compute_api.READER)


class UniqueNamesTest(Case):
    overrides = ((None, 'osapi_compute_unique_server_name_scope', 'project'),)

    def test_a_name_that_is_taken(self):
        self.api.add_server(display_name='taken')
        self.refused(code=409, name='Taken')
        self.rebuild(name='free')
        self.assertEqual('free', self.row().display_name)

    def test_its_own_name(self):
        self.rebuild(name=self.row().display_name)


class FromVolumeTest(Case):
    def setUp(self):
        super().setUp()
        self.server = self.api.add_server(image_ref=None)
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.server,
            'source_type': 'image',
            'destination_type': 'volume',
            'boot_index': 0,
            'volume_id': VOLUME,
        }
        self.api.cell('cell1').db.write(children.create_block_devices, [device])
        self.made_from(OWN)

    def made_from(self, image_id, **values):
        image = {'id': image_id, 'properties': {}, 'min_ram': 0, 'min_disk': 0, 'size': 0}
        image = image if image_id else None
        volume = {'image': image, 'size': 1, 'status': 'in-use', **values}
        self.api.neighbours.volume.add(VOLUME, **volume)

    def test_another_image(self):
        text = 'Unable to rebuild with a different image for a volume-backed server'
        self.refused(image=OTHER, version='2.92', text=text)
        answer = self.rebuild('2.93', image=OTHER)
        self.assertEqual('', answer.json['server']['image'])
        arguments = self.saga().arguments
        self.assertEqual((OTHER, None), (arguments['reimage'], arguments['image']['id']))
        self.assertNotIn('image_ref', arguments['former'])
        self.assertIsNone(self.row().image_ref)

    def test_a_volume_that_was_made_from_no_image(self):
        self.made_from(None)
        self.refused(version='2.92', text='Unable to rebuild')
        self.rebuild('2.93')
        self.assertEqual(OWN, self.saga().arguments['reimage'])

    def test_its_own_image(self):
        self.rebuild('2.92')
        arguments = self.saga().arguments
        self.assertEqual((None, None), (arguments['image'], arguments['reimage']))

    def test_its_own_image_is_written_from_2_93(self):
        self.rebuild('2.93')
        arguments = self.saga().arguments
        self.assertEqual((None, OWN), (arguments['image'], arguments['reimage']))

    def test_an_image_that_is_larger_than_the_volume(self):
        self.images.add(OTHER, size=2 * GIB)
        self.refused(image=OTHER, version='2.93', text='smaller than the image')
        self.images.add(OTHER, min_disk=2)
        self.refused(image=OTHER, version='2.93', text='minimum size')

    def test_certificates(self):
        certificates = {'trusted_image_certificates': ['c']}
        self.refused(version='2.93', text='booting from volume', **certificates)
        self.rebuild('2.93', trusted_image_certificates=None)

    def test_a_volume_that_no_server_has(self):
        """An owner or an administrator has deleted its attachment."""
        for status in ('available', 'reserved', 'error'):
            self.made_from(OWN, status=status)
            self.refused(version='2.93', text=f"status is '{status}'")
        self.rebuild('2.92')

    def test_a_volume_that_a_failed_rebuild_has_left(self):
        self.made_from(OWN, status='reserved')
        self.api.cell('cell1').db.write(instances.force, self.server, {'vm_state': 'error'})
        self.rebuild('2.93')

    def test_a_volume_that_is_gone(self):
        self.api.neighbours.volume.volumes.pop(VOLUME)
        self.refused(version='2.93', text='not found')

"""The files of a config drive."""

import json

import testtools

from nova_lite.metadata import drive
from nova_lite.metadata import openstack
from tests.fixtures import guest_facts

INJECTED = [('/etc/motd', b'hello\n'), ('/etc/banner', b'\x00\xff')]


class DriveTest(testtools.TestCase):
    def files(self, **options):
        return drive.files(guest_facts.gather(), **options)

    def test_every_version_has_a_directory(self):
        found = self.files()
        for version in (*openstack.VERSIONS, 'latest'):
            self.assertIn(f'openstack/{version}/meta_data.json', found)
            self.assertEqual(guest_facts.SCRIPT, found[f'openstack/{version}/user_data'])
        for version in ('2009-04-04', 'latest'):
            meta_data = json.loads(found[f'ec2/{version}/meta-data.json'])
            self.assertEqual('m1.nano', meta_data['instance-type'])
            self.assertEqual(guest_facts.SCRIPT, found[f'ec2/{version}/user-data'])
        self.assertEqual([], [path for path in found if 'password' in path])

    def test_latest_is_the_newest(self):
        found = self.files()
        for name in openstack.documents(guest_facts.gather(), openstack.VERSIONS[-1]):
            newest = found[f'openstack/{openstack.VERSIONS[-1]}/{name}']
            self.assertEqual(newest, found[f'openstack/latest/{name}'])

    def test_personality_and_password(self):
        found = self.files(admin_pass='secret', injected=INJECTED)
        meta_data = json.loads(found['openstack/2012-08-10/meta_data.json'])
        self.assertEqual(
            [
                {'path': '/etc/motd', 'content_path': '/content/0000'},
                {'path': '/etc/banner', 'content_path': '/content/0001'},
            ],
            meta_data['files'],
        )
        self.assertEqual('secret', meta_data['admin_pass'])
        self.assertEqual(b'hello\n', found['openstack/content/0000'])
        self.assertEqual(b'\x00\xff', found['openstack/content/0001'])

    def test_without_them(self):
        meta_data = json.loads(self.files()['openstack/latest/meta_data.json'])
        self.assertEqual(set(), {'files', 'admin_pass'} & set(meta_data))

    def test_packed_and_unpacked(self):
        found = self.files(injected=INJECTED)
        packed = json.loads(json.dumps(drive.pack(found)))
        self.assertEqual(found, drive.unpack(packed))
        self.assertLess(len(packed['contents']), len(packed['files']))

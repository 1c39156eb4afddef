"""The documents in OpenStack's format, by version."""

import base64
import functools
import json
import logging
import os

import fixtures
import testtools

from nova_lite.metadata import openstack
from nova_lite.objects import flavor
from tests.fixtures import guest_facts

FIRST, LAST = openstack.VERSIONS[0], openstack.VERSIONS[-1]
OLDEST = {'uuid', 'name', 'hostname', 'launch_index', 'availability_zone', 'public_keys', 'keys',
          'meta'}  # fmt: skip


class DocumentsTest(testtools.TestCase):
    def meta_data(self, version=LAST, **values):
        return openstack.meta_data(guest_facts.gather(**values), version)

    def test_documents_by_version(self):
        facts = guest_facts.gather()
        expected = {openstack.META_DATA, openstack.USER_DATA}
        brought = {
            '2013-10-17': openstack.VENDOR_DATA,
            '2015-10-15': openstack.NETWORK_DATA,
            '2016-10-06': openstack.VENDOR_DATA_2,
        }
        for version in openstack.VERSIONS:
            expected |= {brought[version]} if version in brought else set()
            self.assertEqual(expected, set(openstack.documents(facts, version)))

    def test_meta_data_by_version(self):
        expected = set(OLDEST)
        brought = {
            '2013-04-04': 'random_seed',
            '2015-10-15': 'project_id',
            '2016-06-30': 'devices',
            '2020-10-14': 'dedicated_cpus',
        }
        for version in openstack.VERSIONS:
            expected |= {brought[version]} if version in brought else set()
            self.assertEqual(expected, set(self.meta_data(version)))

    def test_meta_data(self):
        found = self.meta_data()
        self.assertEqual(512, len(base64.b64decode(found.pop('random_seed'))))
        self.assertEqual(
            {
                'uuid': guest_facts.UUID,
                'name': 'web',
                'hostname': 'web.novalocal',
                'launch_index': 1,
                'availability_zone': 'west',
                'public_keys': {'mykey': guest_facts.KEY},
                'keys': [{'name': 'mykey', 'type': 'ssh', 'data': guest_facts.KEY}],
                'meta': {'role': 'webserver'},
                'project_id': 'alpha',
                'devices': [
                    {
                        'type': 'nic',
                        'bus': 'none',
                        'address': 'none',
                        'mac': 'fa:16:3e:9c:bf:3d',
                        'tags': ['trusted'],
                    },
                    {
                        'type': 'disk',
                        'bus': 'none',
                        'address': 'none',
                        'serial': guest_facts.VOLUME,
                        'path': '/dev/vdb',
                        'tags': ['baz'],
                    },
                ],
                'dedicated_cpus': [],
            },
            found,
        )

    def test_ports_that_are_devices(self):
        port = functools.partial(guest_facts.vif, vnic_type='direct')
        ports = [
            port(details={'vlan': '0'}),
            port(details={'vlan': '300'}, profile={'trusted': 'true'}),
            port(tag='own', profile={'trusted': False}),
            guest_facts.vif(details={'vlan': 5}),
        ]
        shown = {'type': 'nic', 'bus': 'none', 'address': 'none', 'mac': 'fa:16:3e:9c:bf:3d'}
        vlan = {**shown, 'tags': [], 'vlan': 300}
        own = {**shown, 'tags': ['own']}
        expected = {
            '2016-06-30': [own],
            '2017-02-22': [vlan, own],
            '2018-08-27': [{**vlan, 'vf_trusted': True}, {**own, 'vf_trusted': False}],
        }
        for version, nics in expected.items():
            found = self.meta_data(version, network_info=ports)['devices']
            self.assertEqual(nics, [each for each in found if each['type'] == 'nic'])

    def test_dedicated_cpus(self):
        specs = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '2-3'}
        values = {'name': 'pinned', 'vcpus': 4, 'memory_mb': 512}
        for extra, expected in (
            (specs, [2, 3]),
            ({'hw:cpu_policy': 'dedicated'}, [0, 1, 2, 3]),
            ({'hw:cpu_policy': 'dedicated', 'hw:numa_nodes': '3'}, []),
        ):
            found = self.meta_data(flavor=flavor.Flavor(**values, extra_specs=extra))
            self.assertEqual(expected, found['dedicated_cpus'])

    def test_what_a_server_lacks_is_absent(self):
        found = self.meta_data(key_name=None, key_data=None, metadata={}, availability_zone=None)
        self.assertEqual(set(), {'public_keys', 'keys', 'meta'} & set(found))
        self.assertEqual('nova', found['availability_zone'])
        documents = openstack.documents(guest_facts.gather(user_data=None), LAST)
        self.assertNotIn(openstack.USER_DATA, documents)

    def test_certificate(self):
        found = self.meta_data(key_data='-----BEGIN CERTIFICATE-----\nx')
        self.assertEqual('x509', found['keys'][0]['type'])

    def test_hostname_without_a_domain(self):
        facts = guest_facts.gather(options=[('dhcp_domain', '')])
        self.assertEqual('web', openstack.meta_data(facts, FIRST)['hostname'])

    def test_user_data_is_decoded(self):
        found = openstack.documents(guest_facts.gather(), FIRST)
        self.assertEqual(guest_facts.SCRIPT, found[openstack.USER_DATA])

    def test_seeds_differ(self):
        self.assertNotEqual(self.meta_data()['random_seed'], self.meta_data()['random_seed'])


class VendorDataTest(testtools.TestCase):
    def vendor(self, text):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'vendor.json')
        with open(path, 'w') as file:
            file.write(text)
        facts = guest_facts.gather(options=[('vendordata_jsonfile_path', path)])
        found = openstack.documents(facts, LAST)
        return [
            json.loads(found[name]) for name in (openstack.VENDOR_DATA, openstack.VENDOR_DATA_2)
        ]

    def test_from_a_file(self):
        self.assertEqual([{'a': 1}, {'static': {'a': 1}}], self.vendor('{"a": 1}'))

    def test_none(self):
        found = openstack.documents(guest_facts.gather(), LAST)
        self.assertEqual(b'{}', found[openstack.VENDOR_DATA])

    def test_files_that_cannot_be_used_are_reported(self):
        log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        for text in ('{', '[]'):
            self.assertEqual([{}, {'static': {}}], self.vendor(text))
        self.assertEqual(2, log.output.count('Guests get none'))
        facts = guest_facts.gather(options=[('vendordata_jsonfile_path', '/nonexistent')])
        self.assertEqual({}, facts.vendor_data.static())

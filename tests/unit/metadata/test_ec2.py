"""The documents in EC2's format, by version."""

import testtools

from nova_lite.metadata import ec2
from tests.fixtures import guest_facts

LAST = ec2.VERSIONS[-1]
OLDEST = {'ami-id', 'ami-launch-index', 'ami-manifest-path', 'hostname', 'instance-id',
          'local-ipv4', 'public-keys', 'reservation-id', 'security-groups'}  # fmt: skip


class Ec2Test(testtools.TestCase):
    def meta_data(self, version=LAST, address=None, **values):
        return ec2.meta_data(guest_facts.gather(**values), version, address)

    def test_by_version(self):
        expected = set(OLDEST)
        brought = {
            '2007-01-19': {'local-hostname', 'public-hostname', 'public-ipv4'},
            '2007-08-29': {'instance-type'},
            '2007-12-15': {'block-device-mapping'},
            '2008-02-01': {'placement'},
            '2008-09-01': {'instance-action'},
        }
        for version in ec2.VERSIONS:
            expected |= brought.get(version, set())
            self.assertEqual(expected, set(self.meta_data(version)))

    def test_values(self):
        self.assertEqual(
            {
                'ami-id': 'ami-70a599e0',
                'ami-launch-index': '1',
                'ami-manifest-path': '',
                'block-device-mapping': {
                    'ami': 'vda',
                    'root': '/dev/vda',
                    'ebs0': '/dev/vdb',
                    'ebs1': '/dev/vdc',
                    'ephemeral0': '/dev/vde',
                    'swap': '/dev/vdd',
                },
                'hostname': 'web.novalocal',
                'instance-action': 'none',
                'instance-id': 'i-6f0a5a0e',
                'instance-type': 'm1.nano',
                'local-hostname': 'web.novalocal',
                'local-ipv4': '10.0.0.2',
                'placement': {'availability-zone': 'west'},
                'public-hostname': 'web.novalocal',
                'public-ipv4': '192.0.2.7',
                'public-keys': {'0': {'_name': '0=mykey', 'openssh-key': guest_facts.KEY}},
                'reservation-id': 'r-12345678',
                'security-groups': 'default\nweb',
            },
            self.meta_data(),
        )

    def test_address_of_the_port_that_asked(self):
        self.assertEqual('10.1.0.5', self.meta_data(address='10.1.0.5')['local-ipv4'])
        self.assertEqual('10.0.0.2', self.meta_data(address='203.0.113.1')['local-ipv4'])

    def test_what_a_server_lacks(self):
        found = self.meta_data(
            image_ref='', key_name=None, network_info=[], root_device_name=None, security_groups=[]
        )
        self.assertNotIn('public-keys', found)
        self.assertEqual(
            ('', '', '', ''),
            tuple(
                found[name] for name in ('ami-id', 'local-ipv4', 'public-ipv4', 'security-groups')
            ),
        )

    def test_kernel(self):
        found = self.meta_data(kernel_id=guest_facts.IMAGE, ramdisk_id=guest_facts.VOLUME)
        self.assertEqual(
            ('aki-70a599e0', 'ari-2a4b9d9e'), (found['kernel-id'], found['ramdisk-id'])
        )

"""[devices]: the virtual GPUs that physical GPUs offer."""

import collections

import testtools

from nova_lite import conf as nova_conf
from nova_lite.compute import mdev_types
from nova_lite.conf import known_options
from nova_lite.virt import pci

TYPES = pci.MdevType('small', 4, ('CUSTOM_SMALL',)), pci.MdevType('big', 1)
FIRST, SECOND = (
    pci.Device(f'0000:{bus}:00.0', '10de', '25b6', node=1, mdev_types=TYPES) for bus in (20, 21)
)
CARD = pci.Device('0000:30:00.0', '15b3', '1021')


class MdevTypesTest(testtools.TestCase):
    def types(self, enabled=None, **groups):
        conf = nova_conf.make_conf(files=[])
        conf.set_override('enabled_mdev_types', enabled, group='devices')
        for name, options in groups.items():
            mdev_types.options.of_type(conf, name)
            for option, value in options.items():
                conf.set_override(option, value, group=f'mdev_{name}')
        # A compute reads the options twice.
        self.assertEqual(mdev_types.read(conf), mdev_types.read(conf))
        return mdev_types.read(conf)

    def offered(self, *args, **groups):
        """{(provider, type, resource class): number} of the two physical GPUs."""
        found = self.types(*args, **groups).offered((FIRST, CARD, SECOND))
        self.assertIn(CARD, found)
        return collections.Counter(
            (device.provider, device.mdev_type, device.resource_class)
            for device in found
            if device != CARD
        )

    def test_types_by_address(self):
        first, second = 'pci_0000_20_00_0', 'pci_0000_21_00_0'
        whole = {(each.address, '', None): 1 for each in (FIRST, SECOND)}
        for enabled, groups, expected in (
            (None, {}, {(first, 'small', 'VGPU'): 4, (second, 'small', 'VGPU'): 4}),
            ([], {}, whole),
            (['unknown'], {}, whole),
            (['big'], {}, {(first, 'big', 'VGPU'): 1, (second, 'big', 'VGPU'): 1}),
            (
                ['big', 'small'],
                {'small': {'device_addresses': [FIRST.address], 'mdev_class': 'CUSTOM_A'}},
                {(first, 'small', 'CUSTOM_A'): 4, (second, 'big', 'VGPU'): 1},
            ),
            # A second type without addresses has no GPU.
            (
                ['small', 'big'],
                {'small': {'max_instances': 3}},
                {(first, 'small', 'VGPU'): 3, (second, 'small', 'VGPU'): 3},
            ),
            (
                ['small'],
                {'small': {'max_instances': 9, 'device_addresses': [SECOND.address]}},
                {(FIRST.address, '', None): 1, (second, 'small', 'VGPU'): 4},
            ),
        ):
            with self.subTest(enabled=enabled, groups=groups):
                self.assertEqual(expected, self.offered(enabled, **groups))

    def test_a_virtual_gpu(self):
        device, *_others = self.types().offered((FIRST,))
        self.assertEqual('0000:20:00.0/small/0', device.address)
        self.assertEqual((pci.MDEV, FIRST.address, 1), (device.kind, device.parent, device.node))
        self.assertEqual(('CUSTOM_SMALL',), device.traits)
        self.assertEqual(device, pci.Device.from_dict(device.to_dict()))
        # It and its physical GPU are not in use at the same time.
        self.assertEqual((), pci.without((device,), {FIRST.address}))

    def test_an_address_of_two_types(self):
        groups = {name: {'device_addresses': [FIRST.address]} for name in ('small', 'big')}
        error = self.assertRaises(
            mdev_types.InvalidLibvirtMdevConfig, self.types, ['small', 'big'], **groups
        )
        self.assertIn(f'duplicate types for PCI ID {FIRST.address}', str(error))

    def test_names_of_the_options(self):
        known = known_options.Known({})
        for section in ('mdev_nvidia-35', 'vgpu_nvidia-35'):
            found = known.option(section, 'device_addresses')
            self.assertEqual(('mdev_nvidia-35', 'device_addresses'), found)
        self.assertIsNone(known.option('mdev_nvidia-35', 'other'))
        self.assertEqual(4, known.parse('mdev_nvidia-35', 'max_instances', '4'))
        self.assertRaises(ValueError, known.parse, 'mdev_nvidia-35', 'mdev_class', 'PCPU')

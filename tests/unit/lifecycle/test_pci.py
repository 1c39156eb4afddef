"""Aliases of PCI devices, and the requests of guests for them."""

import json

import testtools

from nova_lite import exception
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import refusals
from nova_lite.virt import pci as devices

GPU = {'name': 'gpu', 'vendor_id': '10DE', 'product_id': '2330'}
# Definitions that nova refuses.
INVALID = (
    {**GPU, 'numa_policy': 'foo'},
    {**GPU, 'device_type': 'type-X'},
    {**GPU, 'capability_type': 'x'},
    {**GPU, 'foo': '1'},
    {**GPU, 'vendor_id': '10d'},
    {**GPU, 'vendor_id': '*'},
    {**GPU, 'live_migratable': True},
    {**GPU, 'live_migratable': 'maybe'},
    {**GPU, 'managed': 'yes'},
    {**GPU, 'name': 'x' * 257},
    {'name': 'gpu'},
    {'name': 'gpu', 'vendor_id': '10de'},
    {'vendor_id': '10de', 'product_id': '2330'},
    [[1]],
    'x',
)


def of(*definitions):
    return pci.aliases(map(json.dumps, definitions))


def guest(text, *definitions, specs=(), **properties):
    """The constraints of a guest whose flavor names these aliases."""
    specs = {pci.ALIAS: text, **dict(specs)}
    return constraints.of(
        constraints.Asked(
            vcpus=1,
            memory_mb=64,
            specs=specs,
            properties=properties,
            flavor_name='',
            image_name='',
            image_id='',
            devices=pci.resolve(specs, of(*definitions)),
        )
    )


class AliasTest(testtools.TestCase):
    def test_invalid_definitions(self):
        for definition in INVALID:
            with self.subTest(definition):
                self.assertRaises(pci.PciInvalidAlias, of, definition)
        self.assertRaises(pci.PciInvalidAlias, pci.aliases, ['{bad'])
        for other in ({'numa_policy': 'required'}, {'device_type': 'type-PF'}):
            self.assertRaises(pci.PciInvalidAlias, of, GPU, {**GPU, **other})

    def test_names_of_placement(self):
        alias = {'name': 'gpu', 'resource_class': 'gpu', 'traits': 'big, HW_GPU_API_VULKAN'}
        (request,) = guest('gpu:1', alias).devices
        (spec,) = request.specs
        traits = ('CUSTOM_BIG', 'HW_GPU_API_VULKAN')
        self.assertEqual(('CUSTOM_GPU', traits), (spec.placed_class, spec.traits))
        for name, has, expected in (
            ('CUSTOM_GPU', traits, True),
            ('CUSTOM_GPU', (*traits, 'CUSTOM_NEW'), True),
            ('CUSTOM_GPU', traits[:1], False),
            ('CUSTOM_OTHER', traits, False),
            (None, (), False),
        ):
            device = devices.Device('0000:01:00.0', '10de', '2330', resource_class=name, traits=has)
            self.assertEqual(expected, request.fits(device))
        (plain,) = guest('gpu:1', GPU).devices[0].specs
        self.assertEqual('CUSTOM_PCI_10DE_2330', plain.placed_class)

    def test_names_of_former_requests_stay(self):
        (request,) = guest('gpu:1', GPU).devices
        self.assertEqual([('10de', '2330', None, None)], request.kept[-1])

    def test_lines_of_one_name_are_alternatives(self):
        (request,) = guest('gpu:1', GPU, {**GPU, 'product_id': '2331'}).devices
        alternatives = [GPU, {**GPU, 'product_id': '2331'}]
        self.assertEqual(of(*alternatives), of(alternatives))
        for product, expected in (('2330', True), ('2331', True), ('2332', False)):
            device = devices.Device('0000:01:00.0', '10de', product)
            self.assertEqual(expected, request.fits(device))


class RequestTest(testtools.TestCase):
    def test_counts(self):
        nic = {'name': 'nic', 'vendor_id': '15b3', 'product_id': '101e', 'numa_policy': 'required'}
        found = guest(' gpu : 2 ,nic:1', GPU, nic).devices
        self.assertEqual(
            [('gpu', 2, 'legacy'), ('nic', 1, 'required')],
            [(each.name, each.count, each.policy) for each in found],
        )
        self.assertEqual((), guest('gpu:0', GPU).devices)
        self.assertFalse(guest('gpu:0', GPU).has_parts)

    def test_refused(self):
        for text, refusal in (
            ('nic:1', refusals.PciRequestAliasNotDefined),
            ('nic:x,gpu:1', refusals.PciRequestAliasNotDefined),
            ('gpu:x', refusals.PciAliasCountInvalid),
            ('gpu:-1', refusals.PciAliasCountInvalid),
            ('gpu', refusals.PciAliasCountInvalid),
            ('gpu:1:1', refusals.PciAliasCountInvalid),
            ('', refusals.PciAliasCountInvalid),
        ):
            with self.subTest(text):
                self.assertRaises(refusal, guest, text, GPU)

    def test_policies_of_flavor_and_image_go_first(self):
        key = 'hw:pci_numa_affinity_policy'
        for specs, properties, expected in (
            ({}, {}, 'preferred'),
            ({key: 'required'}, {}, 'required'),
            ({}, {'hw_pci_numa_affinity_policy': 'socket'}, 'socket'),
            ({key: 'legacy'}, {'hw_pci_numa_affinity_policy': 'legacy'}, 'legacy'),
        ):
            alias = {**GPU, 'numa_policy': 'preferred'}
            (request,) = guest('gpu:1', alias, specs=specs, **properties).devices
            self.assertEqual(expected, request.policy)
        for refusal, policy, properties in (
            (refusals.InvalidPCINUMAAffinity, 'foo', {}),
            (
                refusals.ImagePCINUMAPolicyForbidden,
                'required',
                {'hw_pci_numa_affinity_policy': 'legacy'},
            ),
        ):
            self.assertRaises(refusal, guest, 'gpu:1', GPU, specs={key: policy}, **properties)
            self.assertTrue(issubclass(refusal, exception.Invalid))

    def test_equal_requests_have_equal_names(self):
        self.assertEqual(guest('gpu:1', GPU).request, guest('gpu:1', GPU).request)
        self.assertNotEqual(guest('gpu:1', GPU).request, guest('gpu:2', GPU).request)

    def test_another_definition_is_another_request(self):
        """A resize in place must not keep the devices of the old one."""
        known = {guest('gpu:1', GPU).request}
        for change in (
            {'vendor_id': '8086'},
            {'product_id': '1111'},
            {'device_type': 'type-VF'},
            {'live_migratable': 'yes'},
            {'numa_policy': 'required'},
        ):
            known.add(guest('gpu:1', {**GPU, **change}).request)
        known.add(guest('gpu:1', GPU, specs={'hw:pci_numa_affinity_policy': 'socket'}).request)
        self.assertEqual(7, len(known))

    def test_a_resize_is_another_request(self):
        """A server holds the devices of both flavors until its resize ends."""
        specs, names, devices = {pci.ALIAS: 'gpu:1'}, [], ()
        for _resize in range(3):
            devices = pci.resolve(specs, of(GPU), devices)
            asked = constraints.Asked(1, 64, specs, {}, '', '', '', devices=devices)
            names.append(constraints.of(asked).request)
        self.assertEqual(guest('gpu:1', GPU).request, names[0])
        self.assertEqual(3, len(set(names)))

    def test_virtual_gpus(self):
        specs = {
            'resources:VGPU': '1',
            'resources_big:VGPU': '2',
            'resources:CUSTOM_B': '1',
            'resources:CUSTOM_C': '0',
            'resources:VCPU': '3',
            'hw:pci_numa_affinity_policy': 'required',
        }
        found = guest('gpu:1', GPU, specs=specs)
        custom, vgpu, gpu = found.devices
        self.assertEqual(
            [('CUSTOM_B', 1), ('VGPU', 3)], [(e.name, e.count) for e in (custom, vgpu)]
        )
        self.assertEqual(
            ['preferred', 'preferred', 'required'], [each.policy for each in found.devices]
        )
        values = '0000:01:00.0/a/0', '10de', '2330', devices.MDEV
        device = devices.Device(*values, parent='0000:01:00.0', resource_class='VGPU')
        for request, expected in ((vgpu, True), (custom, False), (gpu, False)):
            self.assertEqual(expected, request.fits(device))
        # A custom class may be that of another resource of the host.
        self.assertIs(found, found.on({'CUSTOM_B'}))
        self.assertEqual((vgpu, gpu), found.on(()).devices)
        first = pci.resolve(specs, {})
        again = pci.resolve(specs, {}, first)
        self.assertEqual(
            [(0, 1), (0, 1)],
            [(old.get('change', 0), new['change']) for old, new in zip(first, again, strict=True)],
        )
        self.assertTrue(pci.are_live_migratable(first))

    def test_a_policy_of_the_image_does_not_change_the_name(self):
        """A rebuild may bring another image, and keeps the devices."""
        rebuilt = guest('gpu:1', GPU, hw_pci_numa_affinity_policy='socket')
        self.assertEqual(guest('gpu:1', GPU).request, rebuilt.request)

    def test_live_migration(self):
        movable = {**GPU, 'live_migratable': 'yes'}
        for expected, *definitions in ((False, GPU), (True, movable), (False, movable, GPU)):
            found = pci.resolve({pci.ALIAS: 'gpu:1'}, of(*definitions))
            self.assertEqual(expected, pci.are_live_migratable(found))
        self.assertTrue(pci.are_live_migratable([]))
        (request,) = guest('gpu:1', movable).devices
        self.assertFalse(request.fits(devices.Device('0000:01:00.0', '10de', '2330')))

"""Resource providers, on the real placement."""

from nova_lite import exception
from nova_lite import runtime
from tests.unit.clients import base


class EnsureTest(base.PlacementTestCase):
    """Providers by uuid and name."""

    def ensure(self, uuid, name, **options):
        return self.providers.ensure(self.admin, uuid, name, **options)

    def test_created_once(self):
        uuid = runtime.new_uuid()
        for _ in range(2):
            provider = self.ensure(uuid, 'host')
            self.assertEqual(
                (uuid, 'host', uuid, None),
                (provider.uuid, provider.name, provider.root, provider.parent),
            )
        self.assertEqual([provider], self.providers.list(self.admin))

    def test_renamed(self):
        uuid = runtime.new_uuid()
        self.ensure(uuid, 'old')
        self.assertEqual('new', self.ensure(uuid, 'new').name)
        self.assertIsNone(self.providers.find_by_name(self.admin, 'old'))
        self.assertEqual(uuid, self.providers.find_by_name(self.admin, 'new').uuid)

    def test_name_of_another(self):
        self.ensure(runtime.new_uuid(), 'host')
        error = self.assertRaises(exception.AlreadyExists, self.ensure, runtime.new_uuid(), 'host')
        self.assertIn('host', error.message)

    def test_renamed_to_the_name_of_another(self):
        uuid = runtime.new_uuid()
        self.ensure(uuid, 'one')
        self.ensure(runtime.new_uuid(), 'other')
        self.assertRaises(exception.AlreadyExists, self.ensure, uuid, 'other')

    def test_child(self):
        root, child = runtime.new_uuid(), runtime.new_uuid()
        self.ensure(root, 'root')
        for _ in range(2):
            provider = self.ensure(child, 'child', parent=root)
            self.assertEqual((root, root), (provider.parent, provider.root))
        tree = self.providers.list(self.admin, in_tree=root)
        self.assertEqual({root, child}, {item.uuid for item in tree})

    def test_unknown(self):
        uuid = runtime.new_uuid()
        for read in (
            self.providers.get,
            self.providers.traits,
            self.providers.inventories,
            self.providers.usages,
            self.providers.allocations,
            self.providers.aggregates,
        ):
            error = self.assertRaises(exception.ResourceProviderNotFound, read, self.admin, uuid)
            self.assertIn(uuid, error.message)

    def test_deleted(self):
        uuid = self.add_host('host')
        for _ in range(2):
            self.providers.delete(self.admin, uuid)
        self.assertEqual([], self.providers.list(self.admin))

    def test_in_use(self):
        uuid = self.add_host('host')
        self.placement.claim(self.admin, base.consumer(), base.request(uuid), new=True)
        self.assertRaises(exception.Conflict, self.providers.delete, self.admin, uuid)


class InventoriesTest(base.PlacementTestCase):
    """The inventories of a provider."""

    def setUp(self):
        super().setUp()
        self.host = self.add_host('host')

    def set(self, wanted, **options):
        return self.providers.set_inventories(self.admin, self.host, wanted, **options)

    def read(self):
        return self.providers.inventories(self.admin, self.host)[0]

    def test_the_same_again_writes_nothing(self):
        _, requests = self.count_requests(self.set, base.inventories())
        self.assertEqual(['GET'], [method for method, _ in requests])

    def test_changed(self):
        self.set(base.inventories(vcpus=8))
        self.assertEqual(8, self.read()['VCPU']['total'])

    def test_an_old_generation_is_mended(self):
        self.set(base.inventories(vcpus=8), generation=0)
        self.assertEqual(8, self.read()['VCPU']['total'])

    def test_a_ratio_is_kept(self):
        wanted = base.inventories()
        wanted['VCPU']['allocation_ratio'] = 16.0
        self.set(wanted)
        wanted['VCPU']['allocation_ratio'] = 4.0
        self.set(wanted, keep_ratios=('VCPU',))
        self.assertEqual(16.0, self.read()['VCPU']['allocation_ratio'])
        self.set(wanted)
        self.assertEqual(4.0, self.read()['VCPU']['allocation_ratio'])

    def test_a_custom_class_is_defined(self):
        for _ in range(2):
            self.set({**base.inventories(), 'CUSTOM_LICENSE': {'total': 3}})
        self.assertEqual(3, self.read()['CUSTOM_LICENSE']['total'])

    def test_an_unknown_class(self):
        error = self.assertRaises(exception.Invalid, self.set, {'LICENSE': {'total': 3}})
        self.assertIn('LICENSE', error.message)

    def test_a_class_in_use_cannot_go(self):
        self.placement.claim(self.admin, base.consumer(), base.request(self.host), new=True)
        wanted = base.inventories()
        del wanted['DISK_GB']
        self.assertRaises(exception.Conflict, self.set, wanted)

    def test_usage(self):
        self.placement.claim(self.admin, base.consumer(), base.request(self.host), new=True)
        self.assertEqual(
            {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1},
            self.providers.usages(self.admin, self.host),
        )


class TraitsTest(base.PlacementTestCase):
    """The traits of a provider."""

    def setUp(self):
        super().setUp()
        self.host = self.add_host('host', traits=['HW_CPU_X86_AVX'])

    def read(self):
        return self.providers.traits(self.admin, self.host)[0]

    def test_replaced(self):
        self.providers.set_traits(self.admin, self.host, ['HW_CPU_X86_SSE'])
        self.assertEqual({'HW_CPU_X86_SSE'}, self.read())

    def test_an_old_generation_is_mended(self):
        self.providers.set_traits(self.admin, self.host, ['HW_CPU_X86_SSE'], generation=0)
        self.assertEqual({'HW_CPU_X86_SSE'}, self.read())

    def test_changed(self):
        for _ in range(2):
            self.providers.change_traits(
                self.admin, self.host, add=['COMPUTE_STATUS_DISABLED'], remove=['HW_CPU_X86_SSE']
            )
            self.assertEqual({'COMPUTE_STATUS_DISABLED', 'HW_CPU_X86_AVX'}, self.read())

    def test_custom_ones_are_defined(self):
        self.providers.set_traits(self.admin, self.host, ['CUSTOM_GOLD', 'CUSTOM_BLUE'])
        self.assertEqual({'CUSTOM_GOLD', 'CUSTOM_BLUE'}, self.read())

    def test_an_unknown_one(self):
        error = self.assertRaises(
            exception.Invalid,
            self.providers.set_traits,
            self.admin,
            self.host,
            ['HW_FLUX_CAPACITOR'],
        )
        self.assertIn('HW_FLUX_CAPACITOR', error.message)

    def test_everyone_gets_a_word_in(self):
        """Changes that race all take effect."""
        names = [f'CUSTOM_{number}' for number in range(4)]
        for name in names:
            self.providers.change_traits(self.admin, self.host, add=[name], remove=[])
            self.providers.change_traits(self.admin, self.host, remove=[name])
        threads = [
            runtime.spawn(self.providers.change_traits, self.admin, self.host, add=[name])
            for name in names
        ]
        for thread in threads:
            thread.join()
        self.assertEqual({*names, 'HW_CPU_X86_AVX'}, self.read())


class AggregatesTest(base.PlacementTestCase):
    """The aggregates of a provider."""

    def test_membership(self):
        host, one, two = self.add_host('host'), runtime.new_uuid(), runtime.new_uuid()
        for change, aggregate, expected in (
            (self.providers.add_to_aggregate, one, {one}),
            (self.providers.add_to_aggregate, two, {one, two}),
            (self.providers.remove_from_aggregate, one, {two}),
        ):
            for _ in range(2):
                change(self.admin, host, aggregate)
                self.assertEqual(expected, self.providers.aggregates(self.admin, host)[0])

    def test_members(self):
        host, aggregate = self.add_host('host'), runtime.new_uuid()
        self.add_host('other')
        self.providers.add_to_aggregate(self.admin, host, aggregate)
        members = self.providers.list(self.admin, member_of=aggregate)
        self.assertEqual([host], [provider.uuid for provider in members])

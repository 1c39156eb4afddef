"""Every request filter: what it adds to a spec, and when."""

import copy

import fixtures

from nova_lite import conf
from nova_lite import exception
from nova_lite import versions
from nova_lite.scheduler import hosts
from nova_lite.scheduler import request_filters
from nova_lite.scheduler.request_filters import aggregates
from nova_lite.scheduler.request_filters import traits
from tests.unit.scheduler import base

A, B, C = (base.uuid_of(name) for name in 'abc')


# Request filter, extra specs of the flavor, properties of the image, traits it adds.
FEATURES = (
    (traits.accelerators_filter, {}, {}, []),
    (
        traits.accelerators_filter,
        {'accel:device_profile': 'fpga'},
        {},
        ['COMPUTE_ACCELERATORS'],
    ),
    (traits.packed_virtqueue_filter, {'hw:virtio_packed_ring': 'false'}, {}, []),
    (
        traits.packed_virtqueue_filter,
        {'hw:virtio_packed_ring': 'true'},
        {},
        ['COMPUTE_NET_VIRTIO_PACKED'],
    ),
    (
        traits.packed_virtqueue_filter,
        {},
        {'hw_virtio_packed_ring': '1'},
        ['COMPUTE_NET_VIRTIO_PACKED'],
    ),
    (traits.ephemeral_encryption_filter, {}, {}, []),
    (
        traits.ephemeral_encryption_filter,
        {'hw:ephemeral_encryption': 'true'},
        {},
        ['COMPUTE_EPHEMERAL_ENCRYPTION'],
    ),
    (
        traits.ephemeral_encryption_filter,
        {'hw:ephemeral_encryption': 'true'},
        {'hw_ephemeral_encryption_format': 'luks'},
        ['COMPUTE_EPHEMERAL_ENCRYPTION', 'COMPUTE_EPHEMERAL_ENCRYPTION_LUKS'],
    ),
    (traits.virtio_sound_filter, {'hw:sound_model': 'ich9'}, {}, []),
    (
        traits.virtio_sound_filter,
        {},
        {'hw_sound_model': 'virtio'},
        ['COMPUTE_SOUND_MODEL_VIRTIO'],
    ),
    (traits.tpm_secret_security_filter, {'hw:tpm_secret_security': 'host'}, {}, []),
    (
        traits.tpm_secret_security_filter,
        {},
        {'hw_tpm_version': '2.0'},
        ['COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER'],
    ),
    (
        traits.tpm_secret_security_filter,
        {'hw:tpm_version': '2.0', 'hw:tpm_secret_security': 'host'},
        {},
        ['COMPUTE_SECURITY_TPM_SECRET_SECURITY_HOST'],
    ),
)


class RequestFilterTestCase(base.SchedulerTestCase):
    def world(self, *found, **options):
        return request_filters.Deployment(
            self.conf.scheduler, aggregates=hosts.Aggregates(found), **options
        )

    def enable(self, *names):
        self.set('scheduler', **dict.fromkeys(names, True))

    def added(self, request_filter, *args, world=None, **values):
        """Return what a filter adds to the traits of a spec's root."""
        spec = base.make_spec(*args, **values)
        note = request_filter(spec, world or self.world())
        self.assertEqual(note is not None, bool(spec.root_required or spec.root_forbidden))
        return [*spec.root_required, *(f'!{name}' for name in spec.root_forbidden)]


class OrderTest(RequestFilterTestCase):
    def test_all_are_there(self):
        self.assertEqual(14, len(request_filters.ORDER))

    def test_notes_name_what_was_done(self):
        spec = base.make_spec(availability_zone='az1')
        world = self.world(base.make_aggregate('a', {'availability_zone': 'az1'}))
        notes = dict(request_filters.apply(spec, world))
        self.assertEqual({'map_az_to_placement_aggregate', 'compute_status_filter'}, set(notes))
        self.assertIn('az1', notes['map_az_to_placement_aggregate'])
        self.assertEqual([A], spec.requested_destination.aggregates)

    def test_conditions_of_several_add_up(self):
        self.enable('limit_tenants_to_placement_aggregate')
        spec = base.make_spec(availability_zone='az1')
        world = self.world(
            base.make_aggregate('a', {'availability_zone': 'az1'}),
            base.make_aggregate('b', {'filter_tenant_id': 'wonderland'}),
        )
        request_filters.apply(spec, world)
        self.assertEqual([B, A], spec.requested_destination.aggregates)


class AggregateFiltersTest(RequestFilterTestCase):
    def required(self, request_filter, world, **values):
        spec = base.make_spec(**values)
        request_filter(spec, world)
        return spec.requested_destination.aggregates if spec.requested_destination else None

    def test_tenants(self):
        function = aggregates.require_tenant_aggregate
        world = self.world(
            base.make_aggregate('a', {'filter_tenant_id': 'wonderland'}),
            base.make_aggregate('b', {'filter_tenant_id7': 'wonderland'}),
            base.make_aggregate('c', {'filter_tenant_id': 'oz', 'owner': 'wonderland'}),
        )
        self.assertIsNone(self.required(function, world))
        self.enable('limit_tenants_to_placement_aggregate')
        self.assertEqual([f'{A},{B}'], self.required(function, world))
        self.assertIsNone(self.required(function, world, project_id='nowhere'))
        self.enable('placement_aggregate_required_for_tenants')
        self.assertEqual([C], self.required(function, world, project_id='oz'))
        self.assertRaises(
            exception.RequestFilterFailed, self.required, function, world, project_id='nowhere'
        )

    def test_zones(self):
        function = aggregates.map_az_to_placement_aggregate
        world = self.world(
            base.make_aggregate('a', {'availability_zone': 'az1'}),
            base.make_aggregate('b', {'availability_zone': 'az1'}),
            base.make_aggregate('c', {'availability_zone': 'AZ1'}),
        )
        self.assertIsNone(self.required(function, world))
        self.assertEqual([f'{A},{B}'], self.required(function, world, availability_zone='az1'))
        self.assertIsNone(self.required(function, world, availability_zone='nova'))

    def test_routed_networks(self):
        function = aggregates.routed_networks_filter
        found = {('n1', None): {B, A}, (None, 'p1'): {C}, ('n2', None): None, ('n3', None): set()}
        world = self.world(segment_aggregates=lambda network, port: found[network, port])
        networks = [{'network_id': 'n1'}, {'port_id': 'p1'}, {'network_id': 'n2'}]
        self.assertIsNone(self.required(function, world, requested_networks=networks))
        self.enable('query_placement_for_routed_network_aggregates')
        self.assertIsNone(self.required(function, world))
        self.assertEqual(
            [f'{A},{B}', C], self.required(function, world, requested_networks=networks)
        )
        self.assertRaises(
            exception.RequestFilterFailed,
            self.required,
            function,
            world,
            requested_networks=[{'network_id': 'n3'}],
        )


class IsolatedAggregatesTest(RequestFilterTestCase):
    """Reference, scheduling 2.1: the list of cases."""

    WINDOWS = {'trait:CUSTOM_WINDOWS': 'required'}
    GPU = {'trait:CUSTOM_GPU': 'required'}

    def setUp(self):
        super().setUp()
        self.enable('enable_isolated_aggregate_filtering')

    def forbidden(self, *metadata, **spec):
        """Names of the aggregates (a, b, ... with this metadata) a spec must keep out of."""
        found = [
            base.make_aggregate(name, values) for name, values in zip('abc', metadata, strict=False)
        ]
        made = base.make_spec(**spec)
        note = aggregates.isolate_aggregates(made, self.world(*found))
        if made.requested_destination is None:
            self.assertIsNone(note)
            return []
        names = {base.uuid_of(name): name for name in 'abc'}
        self.assertEqual([], made.requested_destination.aggregates)
        return [names[uuid] for uuid in made.requested_destination.forbidden_aggregates]

    def test_off(self):
        self.set('scheduler', enable_isolated_aggregate_filtering=False)
        self.assertEqual([], self.forbidden(self.WINDOWS))

    def test_the_name_in_the_specification_is_understood(self):
        path = self.useFixture(fixtures.TempDir()).join('nova.conf')
        with open(path, 'w') as file:
            file.write('[scheduler]\nenable_forbidden_aggregates_filter = true\n')
        read = conf.make_conf([], files=[path])
        self.assertTrue(read.scheduler.enable_isolated_aggregate_filtering)

    def test_none_isolates(self):
        self.assertEqual([], self.forbidden({}, {'availability_zone': 'az1'}))

    def test_a_plain_request_keeps_out(self):
        self.assertEqual(['a'], self.forbidden(self.WINDOWS, {}))

    def test_asked_for_by_the_flavor(self):
        self.assertEqual([], self.forbidden(self.WINDOWS, extra_specs=self.WINDOWS))
        numbered = {'trait7:CUSTOM_WINDOWS': 'required', 'resources7:VGPU': '1'}
        self.assertEqual([], self.forbidden(self.WINDOWS, extra_specs=numbered))

    def test_asked_for_by_the_image(self):
        self.assertEqual([], self.forbidden(self.WINDOWS, image_properties=self.WINDOWS))

    def test_two_traits_of_one_aggregate(self):
        both = self.WINDOWS | self.GPU
        self.assertEqual(['a'], self.forbidden(both, extra_specs=self.WINDOWS))
        self.assertEqual(['a'], self.forbidden(both, image_properties=self.GPU))
        self.assertEqual(
            [], self.forbidden(both, extra_specs=self.WINDOWS, image_properties=self.GPU)
        )

    def test_more_than_needed_is_asked_for(self):
        self.assertEqual([], self.forbidden(self.WINDOWS, extra_specs=self.WINDOWS | self.GPU))

    def test_other_values_do_not_isolate(self):
        for value in ('optional', 'forbidden', 'Required', ''):
            self.assertEqual([], self.forbidden({'trait:CUSTOM_WINDOWS': value}))

    def test_a_trait_that_is_forbidden_is_not_asked_for(self):
        extra_specs = {'trait:CUSTOM_WINDOWS': 'forbidden'}
        self.assertEqual(['a'], self.forbidden(self.WINDOWS, extra_specs=extra_specs))

    def test_traits_of_the_root_are_not_asked_for(self):
        self.assertEqual(['a'], self.forbidden(self.WINDOWS, root_required=['CUSTOM_WINDOWS']))

    def test_traits_of_features_are_asked_for(self):
        metadata = {'trait:COMPUTE_SECURITY_UEFI_SECURE_BOOT': 'required'}
        self.assertEqual([], self.forbidden(metadata, extra_specs={'os:secure_boot': 'required'}))

    def test_several_are_kept_in_order_and_add_to_those_named_before(self):
        spec = base.make_spec()
        spec.destination().forbid_aggregates([C])
        world = self.world(
            base.make_aggregate('b', self.GPU), base.make_aggregate('a', self.WINDOWS)
        )
        aggregates.isolate_aggregates(spec, world)
        self.assertEqual([A, B, C], spec.requested_destination.forbidden_aggregates)


class TraitFiltersTest(RequestFilterTestCase):
    def test_image_type(self):
        function = traits.require_image_type_support
        self.assertEqual([], self.added(function))
        self.enable('query_placement_for_image_type_support')
        self.assertEqual(['COMPUTE_IMAGE_TYPE_QCOW2'], self.added(function))
        self.assertEqual([], self.added(function, is_bfv=True))
        self.assertEqual([], self.added(function, image=None))
        odd = base.make_image(disk_format='papertape')
        self.assertEqual([], self.added(function, image=odd))

    def test_compute_status(self):
        self.assertEqual(['!COMPUTE_STATUS_DISABLED'], self.added(traits.compute_status_filter))

    def test_image_metadata(self):
        function = traits.transform_image_metadata
        properties = {'hw_disk_bus': 'virtio', 'hw_vif_model': 'e1000', 'os_distro': 'x'}
        self.assertEqual([], self.added(function, image_properties=properties))
        self.enable('image_metadata_prefilter')
        expected = ['COMPUTE_NET_VIF_MODEL_E1000', 'COMPUTE_STORAGE_BUS_VIRTIO']
        self.assertEqual(expected, self.added(function, image_properties=properties))
        for key, value, trait in (
            ('hw_cdrom_bus', 'ide', 'COMPUTE_STORAGE_BUS_IDE'),
            ('hw_video_model', 'qxl', 'COMPUTE_GRAPHICS_MODEL_QXL'),
            ('hw_vif_model', 'spapr-vlan', 'COMPUTE_NET_VIF_MODEL_SPAPR_VLAN'),
            ('hw_architecture', 'x86_64', 'HW_ARCH_X86_64'),
            ('hw_emulation_architecture', 'aarch64', 'COMPUTE_ARCH_AARCH64'),
            ('hw_emulation_architecture', 'amd64', 'COMPUTE_ARCH_X86_64'),
            ('architecture', 'i586', 'HW_ARCH_I686'),
            ('hw_vif_model', 'VirtualE1000e', 'COMPUTE_NET_VIF_MODEL_E1000E'),
            ('vmware_adaptertype', 'ide', 'COMPUTE_STORAGE_BUS_IDE'),
            ('vmware_adaptertype', 'lsiLogic', 'COMPUTE_STORAGE_BUS_SCSI'),
        ):
            self.assertEqual([trait], self.added(function, image_properties={key: value}))
        self.assertEqual([], self.added(function, image=None))
        both = {'vmware_adaptertype': 'ide', 'hw_disk_bus': 'virtio'}
        expected = ['COMPUTE_STORAGE_BUS_VIRTIO']
        self.assertEqual(expected, self.added(function, image_properties=both))

    def test_one_unknown_trait_of_an_image_drops_all(self):
        self.enable('image_metadata_prefilter')
        properties = {'hw_disk_bus': 'virtio', 'hw_vif_model': 'carrier-pigeon'}
        self.assertEqual(
            [], self.added(traits.transform_image_metadata, image_properties=properties)
        )

    def test_features(self):
        for function, extra_specs, properties, expected in FEATURES:
            with self.subTest(extra_specs=extra_specs, properties=properties):
                self.assertEqual(expected, self.added(function, extra_specs, properties))
        self.assertRaises(
            exception.RequestFilterFailed,
            self.added,
            traits.tpm_secret_security_filter,
            {'hw:tpm_version': '2.0', 'hw:tpm_secret_security': 'vault'},
        )

    def test_contradictions(self):
        for function, name, flavor, image, text in (
            (traits.virtio_sound_filter, 'sound_model', 'ich9', 'virtio', 'hw:sound_model'),
            (traits.virtio_sound_filter, 'sound_model', 'x', None, 'Invalid sound device model'),
            (traits.ephemeral_encryption_filter, 'ephemeral_encryption', 'no', 'yes', 'set to no'),
        ):
            refused = self.assertRaises(
                exception.Invalid,
                self.added,
                function,
                {f'hw:{name}': flavor},
                {f'hw_{name}': image} if image else {},
            )
            self.assertIn(text, refused.message)

    def test_remote_managed_ports(self):
        function = traits.remote_managed_ports_filter
        normal = [{'port_id': 'p', 'vnic_type': 'normal'}, {'network_id': 'n'}]
        remote = [*normal, {'port_id': 'q', 'vnic_type': 'remote-managed'}]
        self.assertEqual([], self.added(function, requested_networks=normal))
        self.assertEqual(
            ['COMPUTE_REMOTE_MANAGED_PORTS'], self.added(function, requested_networks=remote)
        )

    def test_owner(self):
        function = traits.owner_nova_filter
        old = self.world(oldest_compute=versions.OWNER_TRAIT_SINCE - 1)
        new = self.world(oldest_compute=versions.OWNER_TRAIT_SINCE)
        self.assertEqual([], self.added(function, world=old))
        self.assertEqual(['OWNER_NOVA'], self.added(function, world=new))

    def test_running_twice_changes_nothing_more(self):
        spec = base.make_spec()
        world = self.world(oldest_compute=99)
        request_filters.apply(spec, world)
        once = copy.deepcopy(spec)
        request_filters.apply(spec, world)
        self.assertEqual(once.root_required, spec.root_required)
        self.assertEqual(once.root_forbidden, spec.root_forbidden)

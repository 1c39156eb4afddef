"""Flavors and images that contradict: 400 at create, resize and rebuild."""

import itertools

from nova_lite.db.api import flavors
from tests.fixtures import api_neighbours
from tests.fixtures import servers_api
from tests.unit.api.servers import base
from tests.unit.api.servers import create_base

OWN = api_neighbours.IMAGE_ID
OTHER = '9f6a1a0e-96f2-4c4b-a1de-0c9f1a2c2f3b'


class Case(create_base.Case):
    def setUp(self):
        super().setUp()
        self.images = self.api.neighbours.image

    def flavor(self, flavorid, *, vcpus=2, root_gb=1, **specs):
        values = {'flavorid': flavorid, 'name': flavorid, 'extra_specs': specs}
        values |= {'vcpus': vcpus, 'root_gb': root_gb}
        return self.api.api_db.write(flavors.create, {**servers_api.FLAVOR, **values})

    def refused_of(self, uuid, action, content, text):
        self.refused_act(uuid, action, content, code=400, text=text, version='latest')
        self.assertIsNone(self.api.row(uuid).task_state)


class CreateTest(Case):
    def test_flavor(self):
        self.flavor('three', **{'hw:numa_nodes': '3'})
        self.refuse(400, 'cannot be evenly distributed', flavorRef='three')
        self.flavor('gpu', **{'pci_passthrough:alias': 'gpu:1'})
        self.refuse(400, 'PCI alias gpu is not defined', flavorRef='gpu')
        self.flavor('fpga', **{'accel:device_profile': 'fpga'})
        text = 'Device profile name fpga: Could not communicate with Cyborg'
        self.refuse(400, text, flavorRef='fpga')

    def test_image(self):
        self.images.add(OWN, properties={'hw_pointer_model': 'foo'})
        self.refuse(400, 'Invalid image metadata. Error: Field value foo is invalid')

    def test_image_against_flavor(self):
        self.flavor('shared', **{'hw:cpu_policy': 'shared'})
        self.images.add(OWN, properties={'hw_cpu_policy': 'dedicated'})
        self.refuse(400, "'hw_cpu_policy' is not permitted", flavorRef='shared')
        self.create()

    def test_sound_and_encryption(self):
        """Nova refuses contradictions for new servers, and fails with 500 for unknown words."""
        self.images.add(OWN, properties={'hw_sound_model': 'virtio'})
        self.flavor('sound', **{'hw:sound_model': 'ich9'})
        self.refuse(400, 'has hw:sound_model extra spec explicitly set to ich9', flavorRef='sound')
        self.images.add(OWN, properties={'hw_ephemeral_encryption': 'true'})
        self.flavor('plain', **{'hw:ephemeral_encryption': 'no'})
        text = 'which has hw_eph_encryption property explicitly set to True'
        self.refuse(400, text, flavorRef='plain')
        self.flavor('odd', **{'hw:ephemeral_encryption_format': 'x'})
        self.refuse(400, "Invalid ephemeral encryption format 'x'", flavorRef='odd')
        self.create()

    def test_volume_of_an_image(self):
        self.flavor('encrypted', **{'hw:mem_encryption': 'true'})
        device = {'uuid': OWN, 'source_type': 'image', 'destination_type': 'volume'}
        device |= {'boot_index': 0, 'volume_size': 1}
        fields = {'imageRef': create_base.ABSENT, 'block_device_mapping_v2': [device]}
        self.refuse(400, 'hw:mem_encryption extra spec', flavorRef='encrypted', **fields)
        self.images.add(OWN, properties={'hw_firmware_type': 'uefi'})
        self.create(flavorRef='encrypted', **fields)


class ResizeTest(Case):
    def test_flavor(self):
        uuid = self.api.add_server()
        for flavorid, specs, text in (
            ('locked', {'hw:locked_memory': 'true'}, 'mem_page_size is not set'),
            ('gpu', {'pci_passthrough:alias': 'gpu:1'}, 'PCI alias gpu is not defined'),
            ('fpga', {'accel:device_profile': 'fpga'}, 'instances that have accelerators'),
        ):
            self.flavor(flavorid, **specs)
            self.refused_of(uuid, 'resize', {'flavorRef': flavorid}, text)
        self.flavor('pinned', **{'hw:cpu_policy': 'dedicated'})
        self.act(uuid, 'resize', {'flavorRef': 'pinned'})

    def test_virtual_tpm(self):
        """Nova looks at the TPM of a server that has one, and leaves the rest to the scheduler."""
        flavor = {**self.api.record()['flavor'], 'extra_specs': {'hw:tpm_version': '2.0'}}
        uuid = self.api.add_server(flavor=flavor)
        for flavorid, text, specs in (
            ('old', "Invalid TPM version '3'", {'hw:tpm_version': '3'}),
            ('crb', 'only valid with TPM', {'hw:tpm_version': '1.2', 'hw:tpm_model': 'tpm-crb'}),
        ):
            self.flavor(flavorid, **specs)
            self.refused_of(uuid, 'resize', {'flavorRef': flavorid}, text)
            self.act(self.api.add_server(), 'resize', {'flavorRef': flavorid})
        self.flavor('boot', **{'os:secure_boot': 'x', 'hw:maxphysaddr_mode': 'x'})
        self.act(uuid, 'resize', {'flavorRef': 'boot'})

    def test_secret_of_a_virtual_tpm(self):
        """The secret of a deployment cannot become that of a user or a host, nor the reverse."""
        key, version = 'hw:tpm_secret_security', {'hw:tpm_version': '2.0'}
        modes = {'none': {}, 'host': {key: 'host'}, 'all': {key: 'deployment'}}
        for flavorid, specs in modes.items():
            self.flavor(flavorid, vcpus=1, **version, **specs)
        for (former, specs), wanted in itertools.product(modes.items(), modes):
            flavor = {**self.api.record()['flavor'], 'extra_specs': {**version, **specs}}
            uuid = self.api.add_server(flavor=flavor)
            if (former == 'all') != (wanted == 'all'):
                text = "Resize between 'deployment' TPM secret security and other"
                self.refused_of(uuid, 'resize', {'flavorRef': wanted}, text)
            else:
                self.act(uuid, 'resize', {'flavorRef': wanted})
        uuid = self.api.add_server(flavor={**flavor, 'extra_specs': modes['all']})
        self.act(uuid, 'resize', {'flavorRef': 'host'})

    def test_device_profiles_first(self):
        """Nova answers so before it looks at sizes, quotas and the other extra specs."""
        text = 'instances that have accelerators'
        profile = {'accel:device_profile': 'fpga'}
        self.flavor('zero', root_gb=0, **profile)
        self.flavor('wide', vcpus=1000, **profile)
        self.flavor('gpu', **profile, **{'pci_passthrough:alias': 'gpu:1'})
        own = self.flavor('own', **profile)
        uuid = self.api.add_server()
        for flavorid in ('zero', 'wide', 'gpu'):
            self.refused_of(uuid, 'resize', {'flavorRef': flavorid}, text)
        former = {**self.api.record()['flavor'], 'id': own.id, 'extra_specs': profile}
        uuid = self.api.add_server(flavor=former, flavor_id=own.id)
        self.refused_of(uuid, 'resize', {'flavorRef': 'own'}, text)


class RebuildTest(Case):
    def server(self, specs, **properties):
        flavor = {**self.api.record()['flavor'], 'vcpus': 2, 'extra_specs': specs}
        return self.api.add_server(flavor=flavor, image_ref=OWN, image_properties=properties)

    def refuse_image(self, uuid, text, **properties):
        self.images.add(OTHER, properties=properties)
        self.refused_of(uuid, 'rebuild', {'imageRef': OTHER}, text)

    def test_image(self):
        uuid = self.server({'hw:cpu_policy': 'shared'})
        self.refuse_image(uuid, 'is not permitted', hw_cpu_policy='dedicated')
        self.refuse_image(uuid, 'Field value foo', os_secure_boot='foo')

    def test_sound(self):
        uuid = self.server({'hw:sound_model': 'ich9'})
        self.refuse_image(uuid, 'which has hw_sound_model', hw_sound_model='usb')
        self.refuse_image(self.server({'hw:sound_model': 'x'}), "Invalid sound device model 'x'")
        self.images.add(OTHER, properties={'hw_sound_model': 'ich9'})
        self.act(uuid, 'rebuild', {'imageRef': OTHER})

    def test_nodes_stay(self):
        uuid = self.server({}, hw_numa_nodes='2')
        for properties in ({}, {'hw_numa_nodes': '1'}, {'hw_cpu_policy': 'dedicated'}):
            self.refuse_image(uuid, 'NUMA topology cannot be changed', **properties)
        self.images.add(OTHER, properties={'hw_numa_nodes': '2', 'os_type': 'linux'})
        self.act(uuid, 'rebuild', {'imageRef': OTHER})

    def test_servers_from_before_these_rules(self):
        uuid = self.server({'pci_passthrough:alias': 'gpu:1'}, hw_pointer_model='foo')
        self.images.add(OTHER)
        self.act(uuid, 'rebuild', {'imageRef': OTHER})


class EncryptedMemoryTest(Case):
    """The memory of such a server cannot be copied: 400 before the lock and the state count."""

    operations = (
        ('suspend', 'suspend', None, None),
        (
            'os-migrateLive',
            'live-migration',
            {'host': None, 'block_migration': 'auto'},
            base.ADMIN,
        ),
    )
    askers = (
        ({'hw:mem_encryption': 'true'}, {}),
        ({}, {'hw_mem_encryption': 'yes'}),
    )
    states = {}, {'locked': True, 'locked_by': 'owner'}, {'vm_state': 'stopped'}

    def server(self, specs, properties, **values):
        flavor = {**self.api.record()['flavor'], 'extra_specs': specs}
        return self.api.add_server(flavor=flavor, image_properties=properties, **values)

    def test_refusals(self):
        found = itertools.product(self.operations, self.askers, self.states)
        for (action, name, content, who), (specs, properties), values in found:
            uuid = self.server(specs, properties, **values)
            text = f"Operation '{name}' not supported for mem encryption enabled instance ({uuid})."
            self.refused_act(uuid, action, content, code=400, text=text, version='latest', who=who)
            self.assertIsNone(self.api.row(uuid).task_state)

    def test_plain_memory(self):
        for action, _name, content, who in self.operations:
            uuid = self.server({'hw:mem_encryption': 'no'}, {'hw_mem_encryption_model': 'amd-sev'})
            self.act(uuid, action, content, version='latest', who=who)


class VirtualTpmTest(Case):
    """Operations that would lose a virtual TPM: 400 before the lock and the state count."""

    operations = (
        ('rebuild', {'imageRef': OTHER}),
        ('shelve', None),
        ('rescue', None),
        ('evacuate', {}),
    )
    askers = (
        ('flavor', {'hw:tpm_version': '2.0'}, {}),
        ('image', {}, {'hw_tpm_version': '1.2'}),
        ('both', {'hw:tpm_version': '2.0'}, {'hw_tpm_version': '2.0'}),
    )
    states = (
        {},
        {'locked': True, 'locked_by': 'owner'},
        {'vm_state': 'suspended'},
        {'vm_state': 'shelved_offloaded', 'host': None, 'node': None},
        {'task_state': 'rebooting'},
    )

    def server(self, specs, properties, **values):
        flavor = {**self.api.record()['flavor'], 'extra_specs': specs}
        return self.api.add_server(flavor=flavor, image_properties=properties, **values)

    def test_refusals(self):
        found = itertools.product(self.operations, self.askers, self.states)
        for (action, content), (_name, specs, properties), values in found:
            uuid = self.server(specs, properties, **values)
            self.refused_act(
                uuid,
                action,
                content,
                code=400,
                text=f"Operation '{action}' not supported for vTPM-enabled instance ({uuid}).",
                version='latest',
                who=base.ADMIN if action == 'evacuate' else None,
            )
            self.assertEqual(values.get('task_state'), self.api.row(uuid).task_state)
        self.assertEqual([], self.api.super_conductor.calls)
        self.assertEqual([], self.sent())

    def test_live_migration(self):
        """Only hosts and deployments can take the secret of a virtual TPM along."""
        arguments = {'host': None, 'block_migration': 'auto'}
        for (_name, specs, properties), mode in itertools.product(
            self.askers, (None, 'user', 'host', 'deployment')
        ):
            more = {'hw:tpm_secret_security': mode} if mode else {}
            uuid = self.server({**specs, **more}, properties)
            if mode in ('host', 'deployment'):
                self.act(uuid, 'os-migrateLive', arguments, version='latest', who=base.ADMIN)
                continue
            self.refused_act(
                uuid,
                'os-migrateLive',
                arguments,
                code=400,
                text=f"Operation 'live-migration' not supported for vTPM-enabled instance ({uuid}).",
                version='latest',
                who=base.ADMIN,
            )

    def test_model_alone(self):
        """Only a version asks for the device."""
        uuid = self.server({'hw:tpm_model': 'tpm-crb'}, {'hw_tpm_model': 'tpm-crb'})
        self.act(uuid, 'shelve')

    def test_servers_without_cell(self):
        """A server that is still being scheduled has no records of its image in a cell."""
        self.flavor('tpm', **{'hw:tpm_version': '2.0'})
        (of_flavor,) = self.create(flavorRef='tpm')
        self.images.add(OWN, properties={'hw_tpm_version': '2.0'})
        (of_image,) = self.create()
        for each in (of_flavor, of_image):
            self.refused_act(each.instance_uuid, 'shelve', code=400, text='vTPM-enabled')

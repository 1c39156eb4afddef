"""I12 finds servers planted where they must not stand."""

import collections
import types

import testtools

from nova_lite.scheduler import query
from nova_lite.verify import allowed_hosts
from nova_lite.verify import placing
from tests.unit.scheduler import base

LICENSED = {'trait:CUSTOM_W': 'required'}


class PlacingTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.aggregates, self.specs, self.rows, self.groups = [], {}, [], {}
        self.isolated, self.migrations, self.busy = True, [], set()

    def add_aggregate(self, metadata, *hosts):
        self.aggregates.append((types.SimpleNamespace(metadata=metadata), set(hosts)))

    def plant(self, uuid, host, *, extra_specs=None, properties=None, **spec):
        self.specs[uuid] = {
            'flavor': {'extra_specs': extra_specs or {}},
            'image': {'properties': properties} if properties is not None else None,
            **spec,
        }
        row = types.SimpleNamespace(
            uuid=uuid,
            host=host,
            hidden=False,
            vm_state='active',
            task_state=None,
            deleted_at=None,
        )
        self.rows.append((None, row))
        return row

    def move(self, uuid, host, *, forced=True, status='completed', hidden=False):
        """A migration that was asked for later than those before."""
        number = len(self.migrations)
        self.migrations.insert(
            0,
            types.SimpleNamespace(
                id=number,
                instance_uuid=uuid,
                dest_compute=host,
                forced=forced,
                status=status,
                hidden=hidden,
            ),
        )

    def found(self):
        """{server: what is wrong}"""
        snapshot = types.SimpleNamespace(
            instances=lambda: self.rows,
            specs=self.specs,
            aggregates=self.aggregates,
            groups=self.groups,
            cells=[types.SimpleNamespace(migrations=self.migrations)],
            isolated_aggregates=self.isolated,
            busy=lambda: self.busy,
        )
        return collections.OrderedDict(placing.violations(snapshot))

    def test_an_ordinary_server_in_a_licensed_aggregate(self):
        self.add_aggregate(LICENSED, 'a')
        self.add_aggregate({'trait:CUSTOM_X': 'optional'}, 'a', 'b')
        self.plant('plain', 'a', properties={})
        self.plant('volume', 'a')
        self.plant('other', 'a', properties={'trait:CUSTOM_W': 'forbidden'})
        self.plant('by-image', 'a', properties=LICENSED)
        self.plant('by-flavor', 'a', extra_specs=LICENSED)
        self.plant('by-group', 'a', extra_specs={'trait_1:CUSTOM_W': 'required'})
        self.plant('elsewhere', 'b')
        found = self.found()
        self.assertEqual(['plain', 'volume', 'other'], list(found))
        self.assertIn('CUSTOM_W', found['plain'])
        self.isolated = False
        self.assertEqual({}, self.found())

    def test_every_trait_is_needed(self):
        self.add_aggregate({**LICENSED, 'trait:CUSTOM_V': 'required'}, 'a')
        self.plant('half', 'a', properties=LICENSED)
        self.plant('both', 'a', properties=LICENSED, extra_specs={'trait:CUSTOM_V': 'required'})
        self.assertEqual(['half'], list(self.found()))

    def test_traits_asked_for_in_other_words(self):
        """All that the scheduler makes traits of."""
        for number, (words, *traits) in enumerate(
            (
                ({'hw:mem_encryption': 'True'}, 'HW_CPU_X86_AMD_SEV'),
                (
                    {'hw:mem_encryption': 'yes', 'hw:mem_encryption_model': 'amd-sev-es'},
                    'HW_CPU_X86_AMD_SEV_ES',
                ),
                (
                    {'hw:tpm_version': '2.0'},
                    'COMPUTE_SECURITY_TPM_2_0',
                    'COMPUTE_SECURITY_TPM_TIS',
                ),
                (
                    {'hw:mem_encryption': '1', 'hw:mem_encryption_model': 'amd-sev-snp'},
                    'HW_CPU_X86_AMD_SEV_SNP',
                ),
                (
                    {'hw:mem_encryption': '1', 'hw:mem_encryption_model': 'intel-tdx'},
                    'HW_CPU_X86_INTEL_TDX',
                ),
                (
                    {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'},
                    'COMPUTE_SECURITY_TPM_2_0',
                    'COMPUTE_SECURITY_TPM_CRB',
                ),
                (
                    {'hw:pci_numa_affinity_policy': 'socket'},
                    'COMPUTE_SOCKET_PCI_NUMA_AFFINITY',
                ),
                ({'os:secure_boot': 'required'}, 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'),
                ({'hw:maxphysaddr_mode': 'passthrough'}, 'COMPUTE_ADDRESS_SPACE_PASSTHROUGH'),
                ({'hw:maxphysaddr_mode': 'emulate'}, 'COMPUTE_ADDRESS_SPACE_EMULATED'),
            )
        ):
            spec = base.make_spec(words)
            self.assertEqual(set(traits), query.build(spec).required_traits)
            host = f'host{number}'
            self.add_aggregate({f'trait:{trait}': 'required' for trait in traits}, host)
            in_image = {key.replace(':', '_'): value for key, value in words.items()}
            self.plant(f'flavor{number}', host, extra_specs=words)
            self.plant(f'image{number}', host, properties=in_image)
        self.plant('plain', 'host0')
        self.assertEqual(['plain'], list(self.found()))

    def test_stateless_firmware(self):
        """Only an image asks for it, and only UEFI firmware can be without a state."""
        trait = 'COMPUTE_SECURITY_STATELESS_FIRMWARE'
        self.add_aggregate({f'trait:{trait}': 'required'}, 'a')
        stateless = {'hw_firmware_stateless': 'on'}
        for name, words, properties, is_needed in (
            ('uefi', {}, {**stateless, 'hw_firmware_type': 'uefi'}, True),
            ('bios', {}, stateless, False),
            ('flavor', {'hw:firmware_stateless': 'on'}, {'hw_firmware_type': 'uefi'}, False),
        ):
            needed = query.build(base.make_spec(words, properties)).required_traits
            self.assertEqual({trait} if is_needed else set(), needed, name)
            self.plant(name, 'a', extra_specs=words, properties=properties)
        self.assertEqual(['bios', 'flavor'], sorted(self.found()))

    def test_a_zone(self):
        self.add_aggregate({allowed_hosts.ZONE: 'az1'}, 'a')
        self.plant('inside', 'a', availability_zone='az1')
        self.plant('outside', 'b', availability_zone='az1')
        self.plant('forced', 'b', availability_zone='az1', force_hosts=['b'])
        self.plant('anywhere', 'b', availability_zone='nova')
        self.plant('unasked', 'b', availability_zone=None)
        self.assertEqual(['outside'], list(self.found()))

    def test_moved_by_force(self):
        """The operator's word, while the server is where that has put it."""
        self.add_aggregate(LICENSED, 'a')
        self.add_aggregate({allowed_hosts.ZONE: 'az1'}, 'a')
        for uuid in ('forced', 'evacuated', 'left', 'failed', 'hidden', 'unforced', 'none'):
            self.plant(uuid, 'a')
        self.plant('outside', 'b', availability_zone='az1')
        self.move('forced', 'a')
        self.move('forced', 'b', status='failed')
        self.move('evacuated', 'a', status='done')
        self.move('outside', 'b')
        self.move('left', 'a')
        self.move('left', 'b', forced=False, status='confirmed')
        self.move('failed', 'b', status='error')
        self.plant('arrived', 'a')
        self.move('arrived', 'a', status='error')
        self.move('hidden', 'a', hidden=True)
        self.move('unforced', 'a', forced=False)
        self.assertEqual(['left', 'failed', 'hidden', 'unforced', 'none'], list(self.found()))

    def test_a_group_of_which_one_was_moved_by_force(self):
        group = types.SimpleNamespace(uuid='group', policy='anti-affinity', rules={})
        self.groups = {'group': (group, {'one', 'two'})}
        self.plant('one', 'a')
        self.plant('two', 'a')
        self.assertEqual(1, len(self.found()))
        self.move('two', 'a')
        self.assertEqual({}, self.found())

    def test_an_affinity_group_follows_one_that_was_moved_by_force(self):
        group = types.SimpleNamespace(uuid='group', policy='affinity', rules={})
        self.groups = {'group': (group, {'one', 'two', 'three'})}
        for uuid, host in (('one', 'a'), ('two', 'b'), ('three', 'b')):
            self.plant(uuid, host)
        self.assertEqual(1, len(self.found()))
        self.move('two', 'b')
        self.assertEqual({}, self.found())
        self.move('two', 'c')
        self.assertEqual(1, len(self.found()))

    def test_a_group_of_which_one_is_about_to_arrive(self):
        """Two members must not move to one host at a time either."""
        group = types.SimpleNamespace(uuid='group', policy='anti-affinity', rules={})
        self.groups, self.busy = {'group': (group, {'one', 'two'})}, {'one', 'two'}
        self.plant('one', 'a')
        self.plant('two', 'b')
        self.move('one', 'c', forced=False, status='running')
        self.assertEqual({}, self.found())
        self.move('two', 'c', forced=False, status='migrating')
        (found,) = self.found().values()
        self.assertIn("'c': 2", found)
        self.busy = {'one'}
        self.assertEqual({}, self.found())

    def test_a_group_of_which_one_failed(self):
        group = types.SimpleNamespace(uuid='group', policy='anti-affinity', rules={})
        self.groups = {'group': (group, {'one', 'two'})}
        self.plant('one', 'a')
        self.plant('two', 'a')
        self.rows[1][1].vm_state = 'error'
        self.assertEqual(1, len(self.found()))

    def test_a_group_of_which_one_is_being_deleted(self):
        """It is no member, also while it can be restored: the cell does not count it."""
        for policy, host in (('anti-affinity', 'a'), ('affinity', 'b')):
            group = types.SimpleNamespace(uuid='group', policy=policy, rules={})
            self.groups, self.rows = {'group': (group, {'one', 'two'})}, []
            self.plant('one', 'a')
            second = self.plant('two', host)
            self.assertEqual(1, len(self.found()))
            second.task_state = 'deleting'
            self.assertEqual({}, self.found())
            second.task_state, second.vm_state, second.deleted_at = None, 'soft-delete', 'T1'
            self.assertEqual({}, self.found())
            second.vm_state, second.deleted_at = 'active', None
            self.assertEqual(1, len(self.found()))

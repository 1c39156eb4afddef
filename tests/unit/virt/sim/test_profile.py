"""Behaviour profiles: what they mean, and how they are refused."""

import os
import pathlib
import re

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt.sim import delay
from nova_lite.virt.sim import profile
from nova_lite.virt.sim import rules
from tests.unit.virt.sim import base

# Where the driver names an error of a job.
ERROR = re.compile(r"(?:Refused|JobError)\(\s*'(\w+)'|return '([A-Z]\w+)', ")
REFUSED = (
    ('hosts: {}', 'hosts: must be a list'),
    ('- 1', '(document): must be a mapping'),
    ('hots: []', "(document): unknown key 'hots'"),
    ('seed: 1\nseed: 2', "line 2: key 'seed' is given twice"),
    ('hosts: [', 'line'),
    ('extends: base', 'extends: must be one of: default, gpu'),
    ('hosts: [{match: ""}]', 'hosts[0].match: must be a string'),
    ('hosts: [{capacity: {cpus: 1}}]', "hosts[0].capacity: unknown key 'cpus'"),
    ('hosts: [{capacity: {vcpus: -1}}]', 'hosts[0].capacity.vcpus: must be an integer between 0'),
    ('hosts: [{capacity: {vcpus: true}}]', 'hosts[0].capacity.vcpus: must be an integer'),
    ('hosts: [{}, {traits: [HW_FAST]}]', "hosts[1].traits[0]: 'HW_FAST' is neither"),
    ('hosts: [{inventory: {VCPU: 1}}]', 'hosts[0].inventory.VCPU: must be a resource class'),
    ('hosts: [{inventory: {CUSTOM_a: 1}}]', 'hosts[0].inventory.CUSTOM_a: must be a resource'),
    ('hosts: [{inventory: {VGPU: -1}}]', 'hosts[0].inventory.VGPU: must be an integer'),
    ('names: {east: [a]}', 'names.east: cells are called cell1, cell2'),
    ('names: {cell1: [a], cell2: [A]}', 'names.cell2[0]: A is given twice'),
    ('names: {cell1: ["a b"]}', "names.cell1[0]: 'a b' is no name of a host"),
    (
        'hosts: [{allocation_ratios: {vcpus: 0}}]',
        'hosts[0].allocation_ratios.vcpus: must be a number',
    ),
    ('hosts: [{architecture: vax}]', 'hosts[0].architecture: must be one of'),
    ('hosts: [{delays: {boot: 1}}]', "hosts[0].delays.boot: 'boot' matches no verb"),
    ('hosts: [{delays: {spawn: -1}}]', 'hosts[0].delays.spawn: must be a number between 0'),
    ('hosts: [{delays: {spawn: .nan}}]', 'hosts[0].delays.spawn: must be a number'),
    ('hosts: [{delays: {spawn: {normal: 1}}}]', "hosts[0].delays.spawn: unknown key 'normal'"),
    (
        'hosts: [{delays: {spawn: {uniform: {low: 1}}}}]',
        "hosts[0].delays.spawn.uniform: lacks 'high'",
    ),
    (
        'hosts: [{delays: {spawn: {uniform: {low: 2, high: 1}}}}]',
        'hosts[0].delays.spawn.uniform: low must not exceed high',
    ),
    (
        'hosts: [{delays: {spawn: {triangular: {low: 2, mode: 1, high: 3}}}}]',
        'hosts[0].delays.spawn.triangular: low <= mode <= high must hold',
    ),
    (
        'hosts: [{delays: {spawn: {lognormal: {median: 0, sigma: 1, high: 3}}}}]',
        'hosts[0].delays.spawn.lognormal: 0 < median <= high must hold',
    ),
    (
        'hosts: [{live_migration: {max_downtime_ms: 0}}]',
        'hosts[0].live_migration.max_downtime_ms: must be an integer between 1',
    ),
    (
        'hosts: [{live_migration: {post_copy: 1}}]',
        'hosts[0].live_migration.post_copy: must be true or false',
    ),
    ('hosts: [{numa_nodes: 0}]', 'hosts[0].numa_nodes: must be an integer between 1'),
    ('hosts: [{numa: {}}]', "hosts[0].numa: lacks 'nodes'"),
    ('hosts: [{numa: {nodes: []}}]', 'hosts[0].numa.nodes: must have 1 to 64 nodes'),
    (
        'hosts: [{numa: {threads: 2, nodes: [{cpus: 0-2, memory_mb: 1}]}}]',
        'hosts[0].numa.nodes[0].cpus: must have a multiple of 2 CPUs',
    ),
    (
        'hosts: [{numa: {nodes: [{cpus: 0-2, memory_mb: 1}, {cpus: 2, memory_mb: 1}]}}]',
        'hosts[0].numa.nodes[1].cpus: has a CPU of another node',
    ),
    (
        'hosts: [{numa: {nodes: [{cpus: 0-x, memory_mb: 1}]}}]',
        "hosts[0].numa.nodes[0].cpus: Invalid range expression '0-x'",
    ),
    (
        'hosts: [{numa: {shared: 3-4, nodes: [{cpus: 0-3, memory_mb: 1}]}}]',
        'hosts[0].numa.shared: has a CPU that no node has',
    ),
    (
        'hosts: [{numa: {shared: 1, dedicated: 0-1, nodes: [{cpus: 0-3, memory_mb: 1}]}}]',
        'hosts[0].numa: a CPU cannot be shared and dedicated',
    ),
    (
        'hosts: [{numa: {nodes: [{cpus: 0, memory_mb: 3, pages: {2M: 2}}]}}]',
        'hosts[0].numa.nodes[0]: has more pages than memory',
    ),
    (
        'hosts: [{numa: {nodes: [{cpus: 0, memory_mb: 3, pages: {2: 1}}]}}]',
        'hosts[0].numa.nodes[0].pages: key 2 must be a string',
    ),
    (
        'hosts: [{numa: {nodes: [{cpus: 0, memory_mb: 4, pages: {1M: 2, 1024K: 2}}]}}]',
        'hosts[0].numa.nodes[0].pages.1024K: is given twice',
    ),
    (
        'hosts: [{capacity: {vcpus: 1}, numa: {nodes: [{cpus: 0, memory_mb: 3}]}}]',
        'hosts[0]: CPUs and memory are given by numa and by capacity',
    ),
    (
        'hosts: [{numa_nodes: 1, numa: {nodes: [{cpus: 0, memory_mb: 3}]}}]',
        'hosts[0]: numa and numa_nodes exclude each other',
    ),
    ("hosts: [{pci: [{vendor_id: '10de'}]}]", "hosts[0].pci[0]: lacks 'product_id'"),
    (
        "hosts: [{pci: [{vendor_id: 10, product_id: '2330'}]}]",
        'hosts[0].pci[0].vendor_id: must be a string',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10DE', product_id: '2330'}]}]",
        'hosts[0].pci[0].vendor_id: must be 4 hex digits',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', address: '1'}]}]",
        'hosts[0].pci[0].address: must be DOMAIN:BUS:SLOT.FUNCTION',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', dev_type: type-PF}]}]",
        'hosts[0].pci[0]: functions belong to type-PF',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', one_time_use: true}]}]",
        "hosts[0].pci[0]: unknown key 'one_time_use'",
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', mdev_types: []}]}]",
        'hosts[0].pci[0].mdev_types: has no types',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', mdev_types: [{name: a}]}]}]",
        "hosts[0].pci[0].mdev_types[0]: lacks 'count'",
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', mdev_types: [{name: a/b, count: 1}]}]}]",
        'hosts[0].pci[0].mdev_types[0].name: must be of A-Z',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', mdev_types: [{name: a, count: 1}, {name: a, count: 2}]}]}]",
        'hosts[0].pci[0].mdev_types: has a type twice',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', mdev_types: [{name: a, count: 1, traits: [a]}]}]}]",
        "hosts[0].pci[0].mdev_types[0].traits[0]: 'a' is neither",
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', trusted: true}]}]",
        'hosts[0].pci[0]: card_serial_number, trusted, remote_managed belong to',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', devname: ens1, count: 2}]}]",
        'hosts[0].pci[0]: has devname and count',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', devname: 'ens 1'}]}]",
        'hosts[0].pci[0].devname: must have at most 15 characters',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', devname: a}, {vendor_id: '10de', product_id: '2330', devname: a}]}]",
        'hosts[0].pci: has two devices with one devname',
    ),
    (
        "hosts: [{pci: [{vendor_id: '15b3', product_id: '1021', devname: ens1f0np0abcd, dev_type: type-PF, functions: {count: 11, product_id: '101e'}}]}]",
        'hosts[0].pci[0].functions: devnames of functions would have more than 15 characters',
    ),
    (
        "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', physical_network: 1}]}]",
        'hosts[0].pci[0].physical_network: must be a string',
    ),
    ('hosts: [{crash_dump: 1}]', 'hosts[0].crash_dump: must be'),
    ('failures: [{}]', "failures[0]: lacks 'verb'"),
    ('failures: [{verb: spawn, first: 1, nth: 2}]', 'failures[0]: only one of first and nth'),
    ('failures: [{verb: spawn, first: 0}]', 'failures[0].first: must be an integer between 1'),
    ('failures: [{verb: spawn, probability: 2}]', 'failures[0].probability: must be a number'),
    ('failures: [{verb: spawn, when: never}]', 'failures[0].when: must be one of: before'),
    ('failures: [{verb: spawn, error: Nope}]', 'failures[0].error: must be one of: AbortRefused, '),
    ('failures: [{verb: spawn, match: {hosts: a}}]', "failures[0].match: unknown key 'hosts'"),
    (
        'failures: [{verb: spawn, match: {metadata: {1: a}}}]',
        'failures[0].match.metadata: key 1 must be a string',
    ),
    ('guests: [{match: {}}]', 'guests[0]: lacks one of: live_migration, usage'),
)


class RefusalTests(testtools.TestCase):
    def test_mixed_cloud(self):
        found = profile.load('mixed')
        hosts = [found.behaviour(f'cell1-host{number}') for number in range(1, 11)]
        self.assertEqual([3, 5, 7, 10], [i for i, each in enumerate(hosts, 1) if each.numa])
        self.assertEqual([5, 10], [i for i, each in enumerate(hosts, 1) if len(each.pci) == 4])

    def test_the_message_names_source_and_place(self):
        for text, expected in REFUSED:
            error = self.assertRaises(profile.ProfileError, profile.parse, text, 'mine')
            self.assertIn(f'Profile mine: {expected}', str(error))

    def test_an_unknown_name(self):
        error = self.assertRaises(profile.ProfileError, profile.load, 'no-such')
        self.assertIn(
            'neither a file nor one of: default, gpu, instant, jittery, mixed, nfv', str(error)
        )


class ProfileTests(testtools.TestCase):
    def test_bundled_profiles_load(self):
        for name in profile.bundled():
            behaviour = profile.load(name).behaviour('any')
            self.assertEqual(set(profile.VERBS), set(behaviour.delays))

    def test_failures_may_have_all_errors_of_hosts(self):
        for path in pathlib.Path(os.path.dirname(profile.__file__)).glob('*.py'):
            named = {name for pair in ERROR.findall(path.read_text()) for name in pair if name}
            self.assertLessEqual(named, {*model.ERRORS}, path.name)

    def test_jittery_delays_every_verb_by_up_to_three_seconds(self):
        delays = profile.load('jittery').behaviour('any').delays
        self.assertEqual({delay.Uniform(0, 3)}, {delays[verb] for verb in profile.VERBS})

    def test_later_rules_prevail_and_hosts_with_the_same_rules_share(self):
        made = profile.parse("""
hosts:
  - capacity: {vcpus: 8}
    traits: [CUSTOM_SSD]
  - match: 'gpu-*'
    capacity: {memory_mb: 1024}
    reserved: {memory_mb: 64}
    without_traits: [CUSTOM_SSD]
    delays: {spawn: 3, '*': 1}
""")
        plain, gpu = made.behaviour('node-1'), made.behaviour('gpu-1')
        self.assertIs(plain, made.behaviour('node-2'))
        self.assertEqual({'vcpus': 8, 'memory_mb': 262144, 'disk_gb': 4096}, plain.capacity)
        self.assertEqual({'vcpus': 8, 'memory_mb': 1024, 'disk_gb': 4096}, gpu.capacity)
        self.assertEqual({'memory_mb': 64}, gpu.reserved)
        self.assertIn('CUSTOM_SSD', plain.traits)
        self.assertNotIn('CUSTOM_SSD', gpu.traits)
        self.assertEqual(delay.Fixed(3), gpu.delays['spawn'])
        self.assertEqual(delay.Fixed(1), gpu.delays['destroy'])

    def test_later_capacity_takes_the_place_of_nodes(self):
        numa = '  - numa: {nodes: [{cpus: 0-3, memory_mb: 8}]}\n'
        for rule, capacity, count in (
            ('  - capacity: {disk_gb: 1}', (4, 8, 1), 1),
            ('  - capacity: {vcpus: 2}', (2, 262144, 4096), None),
            ('  - numa_nodes: 3', (64, 262144, 4096), None),
        ):
            found = profile.parse(f'hosts:\n{numa}{rule}').behaviour('node')
            self.assertEqual(capacity, tuple(found.capacity.values()))
            self.assertEqual(count, found.numa and len(found.numa.nodes))

    def test_a_file_is_read_again(self):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'p.yaml')
        with open(path, 'w') as stream:
            stream.write('seed: 5')
        first = profile.load(path)
        with open(path, 'w') as stream:
            stream.write('seed: 6')
        self.assertEqual((5, 6), (first.seed, profile.load(first.source).seed))

    def test_match(self):
        match = rules.Match(host='c1-*', flavor='m1.*', server='web*', metadata=(('fail', 'y*'),))
        fitting = base.guest_spec(metadata={'fail': 'yes'})
        self.assertTrue(match.fits('c1-h1', fitting))
        self.assertFalse(match.fits('c2-h1', fitting))
        self.assertFalse(match.fits('c1-h1', None))
        self.assertFalse(match.fits('c1-h1', base.guest_spec()))
        self.assertFalse(match.fits('c1-h1', base.guest_spec(metadata={'fail': 'yes'}, flavor='x')))
        self.assertFalse(match.fits('c1-h1', base.guest_spec(metadata={'fail': 'yes'}, title='db')))

    def test_parameters_of_a_guest(self):
        made = profile.parse("""
guests:
  - match: {metadata: {load: heavy}}
    live_migration: {converges: false}
""")
        heavy = base.guest_spec(metadata={'load': 'heavy'})
        self.assertIs(False, made.live_migration('n1', heavy)['converges'])
        self.assertIsNone(made.live_migration('n1', base.guest_spec())['converges'])


class DelayTests(testtools.TestCase):
    def test_means(self):
        for drawn in (
            delay.Uniform(1, 2),
            delay.Triangular(1, 1.5, 4),
            delay.Lognormal(1.5, 0.5, 2),
            delay.Lognormal(1.5, 0, 2),
        ):
            rng = runtime.seeded_random('seed')
            draws = [drawn.draw(rng) for _index in range(4000)]
            self.assertAlmostEqual(drawn.mean, sum(draws) / len(draws), delta=0.03)
        self.assertEqual(3, delay.Fixed(3).mean)

    def test_draws_stay_within_bounds_and_follow_the_seed(self):
        for drawn in (delay.Uniform(1, 2), delay.Triangular(1, 1.5, 2), delay.Lognormal(1.5, 2, 2)):
            rng = runtime.seeded_random('seed')
            first = [drawn.draw(rng) for _index in range(100)]
            self.assertTrue(all(0 <= seconds <= 2 for seconds in first))
            rng = runtime.seeded_random('seed')
            self.assertEqual(first, [drawn.draw(rng) for _index in range(100)])

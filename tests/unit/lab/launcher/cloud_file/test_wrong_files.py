"""Wrong files of clouds: each is refused with its line, a cause and a way out.

A row has the text of a file, the line, and texts of the cause and of the way out.
"""

import os

import fixtures
import testtools

from tests.fixtures import commands

SCHEMA = '`nova-lite up --print-schema` prints what a file may have'
BOMB = '\n'.join(
    ['a: &a0 [x]', *(f'b{n}: &a{n + 1} [{", ".join([f"*a{n}"] * 9)}]' for n in range(9))]
)
QUOTAS = 'projects:\n- name: demo\n  quotas:\n    {}'
SPECS = 'flavors:\n- {{name: f, vcpus: 1, ram: 1, properties: {{{}}}}}'
FILTERS = 'options:\n  filter_scheduler:\n    {}'
YAML = (
    ('', 1, 'the file is empty', 'without -f'),
    ('# cells: 2\n', 1, 'the file is empty', 'without -f'),
    (BOMB, 1, 'more than 500000 values', 'aliases'),
    ('cells: [', 1, 'expected the node content', ''),
    ('- a', 1, 'is a mapping', 'such as `flavors: []`'),
    ('speed: 1\nspeed: 2', 2, "'speed' is given twice", ''),
    ('a: &a [*a]', 1, 'contains itself', ''),
    ('? [a]\n: b', 1, 'a key is not a text', ''),
    ('options:\n  1: {a: b}', 2, 'key 1 is not a text', 'Put it in quotes'),
    ('speed: 1\non: 1', 2, 'key on is not a text', 'Put it in quotes'),
    ('flavors: ' + '[' * 3000 + ']' * 3000, 1, 'too many levels', ''),
)
TYPES = (
    ('flavours: []', 1, 'there is no such key', "Did you mean 'flavors'?"),
    ('flavor_aliases: []', 1, 'there is no such key. Use one of', 'flavors'),
    (QUOTAS.format('compute: {instance: 3}'), 4, 'no such key', "Did you mean 'instances'?"),
    (QUOTAS.format('compute: {cores: -2}'), 4, '-2 must be -1 or more', SCHEMA),
    (QUOTAS.format('network: {ports: 3}'), 4, 'no such key', "Did you mean 'port'?"),
    (QUOTAS.format('volume: {gigabytes: 5e9}'), 4, "'5e9' is not a whole number", SCHEMA),
    (QUOTAS.format('volume: {gigabytes: 5000000000}'), 4, 'must be 2147483647 or less', SCHEMA),
    (QUOTAS.format('share: {shares: 3}'), 4, 'no such key', 'compute, network, volume'),
    ('format: 2', 1, '2 is not possible', 'Use one of: 1'),
    ('cells: 3', 1, '3 is not a list', SCHEMA),
    ('cells: []', 1, 'must not be empty', SCHEMA),
    ('cells:\n- hosts: 0', 2, '0 must be 1 or more', SCHEMA),
    ('cells:\n- hosts: 1\n  host: 2', 3, 'there is no such key', "Did you mean 'hosts'?"),
    ('speed: fast', 1, "'fast' is not a number", SCHEMA),
    ('speed: .nan', 1, 'nan is not a number', SCHEMA),
    ('clock: {ahead: .inf}', 1, 'inf is not a number', SCHEMA),
    ('clock: {ahead: 1.0e+30}', 1, 'must be 3155760000 or less', SCHEMA),
    ('speed: 0', 1, '0 must be more than 0', SCHEMA),
    ('auth: none', 1, "'none' is not possible", 'Use one of: keystone, noauth'),
    ('flavors:\n- name: a\n  vcpus: 1', 2, 'lacks ram', SCHEMA),
    ('flavors:\n- name: a\n  vcpus: 1\n  ram: 1G', 4, "'1G' is not a whole number", SCHEMA),
    ('flavors:\n- {name: "", vcpus: 1, ram: 1}', 2, 'must not be empty', SCHEMA),
    ('users:\n- name: a\n  projects: {demo: [boss]}', 3, "'boss' is not possible", 'member'),
    ('servers: {}', 1, '{} is not a list', SCHEMA),
    ('faults: {host_off: []}', 1, 'there is no such key', "Did you mean 'hosts_off'?"),
    ('clock: {rate: 0}', 1, '0 must be 1 or more', SCHEMA),
)
FLAVOR = 'flavors: [{name: f, vcpus: 1, ram: 1}]\n'
SERVER = 'servers:\n- {name: s, flavor: m1.tiny, image: cirros, '
MEANINGS = (
    ('flavors:\n- {name: m1.tiny, vcpus: 1, ram: 1}', 2, 'every cloud has', 'defaults: false'),
    ('users:\n- {name: demo, projects: {demo: [member]}}', 2, 'every cloud has', 'another name'),
    ('zones:\n- &z {name: z, hosts: [cell1-host1]}\n- *z', 2, 'also the name in line 2', 'another'),
    (SERVER + 'project: demos}', 2, "'demos' is not among the projects", "Did you mean 'demo'?"),
    ('servers:\n- {name: s, flavor: tiny, image: cirros}', 2, "'tiny'", 'Known flavors: cirros256'),
    ('defaults: false\nservers:\n- {name: s, flavor: m1.tiny, image: c}', 3, 'flavors', 'List it'),
    (SERVER + 'networks: [lan]}', 2, 'servers[0].networks[0]', 'Known networks: private, public'),
    (SERVER + 'volume: {size: 1, type: fast}}', 2, "'fast'", 'Known volume types: __DEFAULT__'),
    (SERVER + 'zone: east}', 2, "no zone 'east'", 'Known zones: nova'),
    (SERVER + 'forced: true}', 2, 'needs the host that is forced', 'Add host'),
    (SERVER + 'group: g}', 2, "'g' is not among the server groups", 'List it below server_groups'),
    (
        'server_groups: [{name: g, policy: affinity, project: admin}]\n' + SERVER + 'group: g}',
        3,
        'g belongs to project admin',
        '',
    ),
    (
        'server_groups: [{name: g, policy: affinity, max_server_per_host: 2}]',
        1,
        'only anti-affinity has it',
        'Omit it',
    ),
    ('disabled_hosts: [{hosts: [east-*]}]', 1, "'east-*' fits no host", 'Hosts: cell1-host1'),
    ('cells: [{hosts: [a, b, A]}]', 1, 'A is given twice', ''),
    ('cells: [{hosts: [a_]}]', 1, "'a_'", ''),
    (SERVER + 'host: host1}', 2, "no host 'host1'", 'Hosts: cell1-host1 to cell2-host3'),
    ('aggregates:\n- name: a\n  hosts:\n  - cell3-*', 4, 'fits no host', 'Hosts: cell1-host1'),
    ('aggregates:\n- {name: a, metadata: {availability_zone: z}}', 2, 'a zone', 'below zones'),
    (
        'zones:\n- {name: a, hosts: ["*"], metadata: {filter_tenant_id2: "{demo},{demos}"}}',
        2,
        "'demos' is not among the projects",
        "Did you mean 'demo'?",
    ),
    (SERVER + 'turn: -1}', 2, '-1 must be 0 or more', SCHEMA),
    (
        'zones:\n- {name: a, hosts: ["*"]}\n- {name: b, hosts: [cell1-host1]}',
        3,
        'cell1-host1 is in zone a already',
        'one zone',
    ),
    ('networks:\n- {name: n, subnets: [{cidr: 10.0.0.1/8}]}', 2, 'has host bits set', 'cidr'),
    ('options: {quota: {instancs: 1}}', 1, 'no option instancs', 'Did you mean instances?'),
    ('options:\n  quota:\n    instances: many', 3, 'the value many', 'a whole number'),
    (SPECS.format('"hw:cpu_polcy": dedicated'), 2, "'hw:cpu_polcy'", 'not appear to be a valid'),
    (SPECS.format('"hw:cpu_policy": dedicate'), 2, 'hw:cpu_policy', 'dedicated'),
    (SPECS.format('"trait:GPU": required'), 2, "'trait:GPU'", 'valid extra spec'),
    (
        FILTERS.format('enabled_filters: ComputFilter'),
        3,
        'unknown ComputFilter',
        'Did you mean ComputeFilter',
    ),
    (FILTERS.format('weight_classes: nosuch'), 3, 'unknown nosuch', 'Use one of: all'),
    ('profile: fast', 1, 'neither a file nor one of', 'default, gpu, instant'),
    ('profile:\n  hosts:\n  - capacity: {cpus: 1}', 3, "unknown key 'cpus'", 'known: disk_gb'),
    ('cells:\n- settings:\n    traits: [GPU]', 3, "'GPU' is neither a trait", 'CUSTOM_'),
    ('faults:\n  failures:\n  - verb: spwan', 3, "'spwan' matches no verb", 'verbs: spawn'),
    ('faults: {failures: [{service: image}]}', 1, 'one of status, delay and lost', 'must be given'),
    ('faults: {failures: [{service: imag}]}', 1, "'imag'", "Did you mean 'image'?"),
    ('faults:\n  hosts_off: [cell1-host9]', 2, "no 'cell1-host9'", 'Did you mean'),
    ('faults: {buses_cut: [cell3]}', 1, "no 'cell3'", 'Use one of: top, cell1, cell2'),
    ('clock: {ahead: 36526d}', 1, 'at most 36525d', 'clock.ahead'),
    ('clock: {ahead: 5y}', 1, "'5y' is not a duration", 'such as 90s, 1h30m or 2d'),
)
# Rows of (options, text of a file, line, option, value in the file).
OPTIONS = (
    ('--cells 3', 'cells: [{}, {}]', 1, '--cells 3', 'it is 2'),
    ('--hosts 4', 'speed: 1\ncells: [{}, {}]', 2, '--hosts 4', '(3, 3) hosts'),
    ('--profile instant', 'profile: jittery', 1, '--profile instant', 'it is jittery'),
    ('--profile instant', 'profile: {seed: 1}', 1, '--profile instant', "{'seed': 1}"),
    ('--speed 2', 'speed: 3', 1, '--speed 2', 'it is 3'),
    ('--auth noauth', 'auth: keystone', 1, '--auth noauth', 'it is keystone'),
    ('--set quota.cores=1', 'options:\n quota:\n  cores: 2', 3, '--set quota.cores=1', 'it is 2'),
    ('--bus rabbit://h/{cell}', 'clock: {rate: 2}', 1, '--bus', 'clock'),
    ('--bus rabbit://h/{cell}', 'faults: {}', 1, '--bus', 'faults'),
)


class WrongFilesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.base = self.useFixture(fixtures.TempDir()).path
        self.path = os.path.join(self.base, 'cloud.yaml')

    def check(self, text, line, *parts, words=()):
        with open(self.path, 'w') as file:
            file.write(text)
        state = os.path.join(self.base, 'state')
        code, out, errors = commands.run('up', '-f', self.path, '--state-dir', state, *words)
        self.assertEqual((2, ''), (code, out), f'{text}: {errors}')
        beginning = f'nova-lite up: {self.path}, line {line}: '
        self.assertTrue(errors.startswith(beginning), f'{text}: {errors}')
        self.assertEqual(1, errors.count('\n'), errors)
        for part in parts:
            self.assertIn(part, errors, text)
        self.assertFalse(os.path.exists(state))

    def test_what_is_no_mapping(self):
        for row in YAML:
            self.check(*row)

    def test_what_the_schema_refuses(self):
        for row in TYPES:
            self.check(*row)

    def test_what_cannot_be_meant(self):
        for row in MEANINGS:
            self.check(*row)

    def test_options_that_contradict_the_file(self):
        for words, *row in OPTIONS:
            self.check(*row, 'Omit one of them', words=words.split())

    def test_files_that_cannot_be_read(self):
        with open(self.path, 'wb') as file:
            file.write(b'\xff\xfe\x00')
        for path, text in (
            (os.path.join(self.base, 'none.yaml'), 'No such file'),
            (self.base, 'Is a directory'),
            (self.path, 'it is not text'),
        ):
            code, _out, errors = commands.run('up', '-f', path, '--state-dir', '/nowhere')
            self.assertEqual(2, code)
            self.assertIn(f'-f: {path} cannot be read: {text}', errors)

    def test_other_options(self):
        with open(self.path, 'w') as file:
            file.write('speed: 2')
        for words, text in (
            (('-f', self.path, '--from', self.path), '--from: a snapshot has the objects'),
            (('--print-config', '--fresh'), 'Omit --fresh'),
            (('--print-config', '--port', '1'), 'Omit --port'),
            (('--print-config',), 'does not run'),
        ):
            code, _out, errors = commands.run('up', '--state-dir', self.base, *words)
            self.assertEqual(2, code, errors)
            self.assertIn(text, errors)

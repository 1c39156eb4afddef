"""Wrong usages: each is refused with a cause and a way out, with exit code 2 and no traceback.

A row has the arguments, and texts of the cause and of the way out. HELP, FILES and DIR stand for
paths. Commands without a cloud option get a state directory in which there is no cloud.
"""

import os
import re
import shlex

import fixtures
import testtools

from nova_lite.cmd import main
from nova_lite.lab.console import completion
from tests.fixtures import commands

HELP = '--help` explains the arguments'
NO_CLOUD = 'Start one with `nova-lite up'
STOPPED = 'Start it with `nova-lite up'
SNAPSHOT = 'Use a file that `nova-lite snapshot save` has written'
DATABASE = 'write it as mysql+pymysql://user:password@host:port'
UP = (
    ('up --detatch', 'there is no option --detatch', "Did you mean '--detach'?"),
    ('up --cells', '--cells: expected one argument', HELP),
    ('up --cells many', "'many' is not a whole number", HELP),
    ('up --cells 0', '--cells', '1 or more'),
    ('up --cells -1', '--cells', '1 or more'),
    ('up --hosts 1.5', "'1.5' is not a whole number", HELP),
    ('up --hosts 2,x', "'2,x' is not a whole number", 'one for each cell, such as 3,5'),
    ('up --hosts 2,2,2', '3 numbers for 2 cells', 'give one for each cell'),
    ('up --hosts 2,0', 'not 0', '1 or more'),
    ('up --port 70000', 'not 70000', 'from 1 to 65535'),
    ('up --port x', "'x' is not a whole number", HELP),
    ('up --listen 0.0.0.0 --auth noauth', 'is an administrator', 'use keystone'),
    ('up --auth none', "'none' does not exist", 'Use one of: keystone, noauth'),
    ('up --speed 0', 'not 0', 'a number greater than 0'),
    ('up --speed nan', 'not nan', 'a number greater than 0'),
    ('up --speed fast', "'fast' is not a number", HELP),
    ('up --profile nosuch', 'nosuch', 'default, gpu, instant, jittery'),
    ('up --profile FILES/bad.yaml', 'bad.yaml', 'line 2'),
    ('up --profile FILES/key.yaml', "unknown key 'failurs'", 'known: extends, failures'),
    ('up --profile FILES', 'Is a directory', '--profile'),
    ('up --set x', 'not x', 'GROUP.OPTION=VALUE'),
    ('up --set quota.instancs=1', 'no option instancs', 'Did you mean instances?'),
    ('up --set quotas.instances=1', 'no group of options quotas', 'Did you mean quota?'),
    ('up --set quota.instances=many', 'the value many', 'it is not a whole number'),
    ('up --bus rabbit://b', 'a single --bus URL', '{cell}'),
    ('up --bus amqp://b/{cell}', 'does not support amqp', 'write it as rabbit://'),
    ('up --bus rabbit://a --bus rabbit://b', 'need 3 --bus URLs', 'Give one for each'),
    ('up --bus-file /nowhere', '/nowhere cannot be read', 'one URL on each line'),
    ('up --bus-file FILES/empty', 'has no URL', 'one URL on each line'),
    ('up --db mysql://h', 'does not support mysql', DATABASE),
    ('up --db x', 'not the URL of a database server', DATABASE),
    ('up --db mysql+pymysql://h/name', 'must not name a database', 'each cell gets its own'),
    ('up --db-file FILES/binary', 'binary cannot be read: it is not text', 'Name a text file'),
    ('up --from /nowhere', 'No such file', SNAPSHOT),
    ('up --from FILES/empty', 'empty cannot be used', SNAPSHOT),
    ('up --from FILES/binary', 'binary cannot be used', SNAPSHOT),
    ('up --until-exit 999999999', 'no process has the id', HELP),
    ('up --with horizon --auth noauth', 'Horizon sends tokens', 'Give --auth keystone'),
    ('up --with horizon --set api.auth_strategy=noauth', 'Horizon sends', 'omit --with horizon'),
    ('up --with skyline', "'skyline' does not exist", 'Use one of: horizon'),
    ('up --json', 'prints no JSON', 'use --detach'),
    ('up --lab --listen 0.0.0.0', 'no live page', 'Omit --lab or --listen'),
    ('up --state-dir /proc/x', 'No such file', 'choose another with --state-dir'),
    ('up --state-dir FILES/empty', 'empty is a file', 'Name a directory'),
    ("up --state-dir ''", 'it is empty', 'name a directory'),
    ('up --name ../x', "'../x' is not a name", 'letters, digits'),
    ('up --name one --state-dir /x', 'not allowed with argument --name', HELP),
    ('up --config-dir FILES', 'deployment of FILES', 'systemctl start nova-lite.target'),
)
CLOUDS = (
    ('upp', "'upp' does not exist", "Did you mean 'up'?"),
    ('--versin', 'there is no option --versin', "Did you mean '--version'?"),
    ('status --state FILES', 'there is no option --state', "Did you mean '--state-dir'?"),
    ('stop --del', 'there is no option --del.', "Did you mean '--delete'?"),
    ('up --fres', 'there is no option --fres', "Did you mean '--fresh'?"),
    ('status --jsn', 'there is no option --jsn', "Did you mean '--json'?"),
    ('list all', "'all'", HELP),
    ('env --cloud demo', 'There is no cloud', NO_CLOUD),
    ('env --config-dir FILES', 'no [api_database]connection', 'control.conf'),
    ('reset nosuch/x', "'nosuch/x' is not a name", HELP),
    ("reset --save ''", "'' is not a name", HELP),
    ('reset --save a --list', 'not allowed with argument --save', HELP),
    ('reset', 'it does not run', STOPPED),
    ('reset --config-dir FILES', '`nova-lite reset` does not work', 'tools of the servers'),
    ('snapshot saves x', "'saves' does not exist", "Did you mean 'save'?"),
    ('snapshot save', 'required: FILE', HELP),
    ('snapshot show /nowhere', 'No such file', SNAPSHOT),
    ('snapshot show FILES', 'FILES cannot be used', SNAPSHOT),
    ('snapshot save FILES/x', 'it does not run', STOPPED),
    ('fork', 'required: TO', HELP),
    ('fork FILES/y', 'it does not run', STOPPED),
    ('stop --timeout soon', "'soon' is not a number of seconds", HELP),
    ('demo --scene bot', "'bot' does not exist", "Did you mean 'boot'?"),
    ('verify', 'There is no cloud', NO_CLOUD),
    ('verify --settle x', "'x' is not a number of seconds", HELP),
    ('verify --config-dir /nowhere', '/nowhere is no directory', 'control.conf'),
    ('verify --config-dir FILES/other', 'has no *.conf files', 'FILES/other'),
    ('verify --config-dir FILES/broken', 'FILES/broken', 'cannot be used'),
    ('verify --config-dir FILES', 'no [api_database]connection', 'control.conf'),
    ('verify --state-dir FILES', 'configuration of a deployment', 'Name it with --config-dir'),
    ('verify --nova', 'expected one argument', HELP),
    ('verify --nova /nowhere', '/nowhere cannot be read', 'Name a nova.conf'),
    ('verify --nova FILES/binary', 'cannot be used: it is not text', 'Name a nova.conf'),
    ('verify --nova FILES/broken/control.conf', 'control.conf cannot be used', 'line 1 is neither'),
    ('verify --nova FILES/control.conf', 'no [api_database]connection', 'conf of nova-api'),
    ('verify --nova FILES/nova.conf', 'nova.db is no file', 'Correct the connection'),
    ('verify --nova FILES/nova.conf --os-cloud nosuch', '--os-cloud nosuch', 'clouds.yaml'),
    ('verify --nova FILES/nova.conf --name x', 'not allowed with argument --nova', HELP),
    ('verify --nova FILES/nova.conf --journal', '--journal cannot', 'with --nova. Omit it'),
    ('verify --nova FILES/nova.conf --skip glance', "'glance' does not exist", 'cinder, neutron'),
    ('verify --skip cinder', '--skip cannot be used', 'without --nova. Omit it'),
    ('completion csh', "'csh' does not exist", 'Use one of: bash, zsh, fish'),
    ('logs -n x', "'x' is not a number, 1 or more", HELP),
    ('logs --deamon api', 'there is no option --deamon', "Did you mean '--daemon'?"),
    ('logs', 'There is no cloud', NO_CLOUD),
)
OPERATIONS = (
    ('clock fast', "'fast' does not exist", 'Use one of: show, freeze, resume, advance, rate'),
    ('clock advance', 'required: DURATION', HELP),
    ('clock advance -5s', "required: DURATION. '-5s' begins with a hyphen", HELP),
    ('clock advance 5', "'5' is not a duration", 'such as 90s, 1h30m or 2d'),
    ('clock advance 5y', "'5y' is not a duration", 'such as 90s, 1h30m or 2d'),
    ('clock rate x', "'x' is not a number", HELP),
    ('clock show --config-dir FILES', 'clocks of their machines', 'Use a cloud of `nova-lite up`'),
    ('fault ad', "'ad' does not exist", "Did you mean 'add'?"),
    ('fault add', '--verb --service is required', HELP),
    ('fault add --service nov', "'nov' does not exist", 'Use one of: placement, network'),
    ('fault add --verb spawn --service image', 'not allowed with argument --verb', HELP),
    ('fault add --verb spawn --status 503', '--status', 'Omit --status, or give --service'),
    ('fault add --service image --host x', '--host', 'Omit --host, or give --verb'),
    ('fault add --verb spawn --when befor', "'befor' does not exist", "Did you mean 'before'?"),
    ('fault add --verb spawn --first x', "'x' is not a whole number", HELP),
    ('fault add --verb spawn --metadata x', 'not x', 'KEY=PATTERN'),
    ('fault add --service image --request x', 'not x', "such as 'PUT /allocations*'"),
    ('fault clear x', "'x' is not a whole number", HELP),
    ('host of cell1-host1', "'of' does not exist", "Did you mean 'off'?"),
    ('host off', 'required: NAME', HELP),
    ('host off x --config-dir FILES', 'does not work', 'systemctl stop nova-lite-compute@CELL'),
    ('cell dwn cell1', "'dwn' does not exist", "Did you mean 'down'?"),
    ('cell down cell1', 'it does not run', STOPPED),
    ('bus cutt', "'cutt' does not exist", "Did you mean 'cut'?"),
    ('bus cut top x', "'x'", HELP),
    ('saga lst', "'lst' does not exist", "Did you mean 'list'?"),
    ('saga show', 'required: UUID', HELP),
    ('saga steps nosuch', "no kind of saga 'nosuch'", 'Use one of: attach-interface'),
    ('saga break web', 'is required', HELP),
    ('saga break web --before x --list', 'not allowed with argument --before', HELP),
    ('saga break --remove x', "'x' is not a possible value", HELP),
    ('saga step web --timeout x', "'x' is not a number of seconds", HELP),
    ('saga go web --config-dir FILES', 'without a debugger', '`nova-lite saga list`'),
    ('saga list', 'There is no cloud', NO_CLOUD),
    ('why', 'either a SERVER or --diff A B', 'give'),
    ('why web --diff a b', 'either a SERVER or --diff A B', 'give'),
    ('why --diff a', '--diff: expected 2 arguments', HELP),
    ('why --diff /nowhere.json a', 'json has no decision: No such file', 'why SERVER --json'),
    ('why --diff FILES/settings.json a', 'settings.json has no decision', 'why SERVER --json'),
    ('why --diff FILES/broken.json a', 'it is not JSON', 'why SERVER --json'),
    ('why --diff a b', 'There is no cloud', NO_CLOUD),
    ('repair-guide', 'required: SERVER', HELP),
    ('why web host x', "'x'", HELP),
    ('events --count 0', "'0' is not a number, 1 or more", HELP),
    ('events --follow --count 1', 'not allowed with argument --follow', HELP),
    ('config-drive', 'required: SERVER', HELP),
    ('config-drive web', 'There is no cloud', NO_CLOUD),
    ('drain-host', 'required: HOST', HELP),
    ('drain-host h --cold-only --live-only', 'not allowed with argument --cold-only', HELP),
    ('drain-host h --max 0', "'0' is not a number, 1 or more", HELP),
    ('drain-host h --os-cloud a --name b', 'not allowed with argument --os-cloud', HELP),
    ('drain-host h', 'There is no cloud', NO_CLOUD),
    ('undrain', 'required: HOST', HELP),
    ('evacuate-host h --timeout x', "'x' is not a number of seconds", HELP),
    ('bench bot', "'bot' does not exist", "Did you mean 'boot'?"),
    ('bench boot --also x', "'x' is not a whole number", HELP),
    ('bench boot', 'does not exist', '`nova-lite up'),
    ('bench boot --config-dir FILES', 'CPU time', 'Use a cloud of `nova-lite up`'),
)
DRILLS = (
    ('up --drills', 'a cloud without --bus', 'Omit --drills'),
    ('up --process-per-host', 'is one process', 'Give --bus'),
    ('up --drills --db mysql+pymysql://h', 'a cloud without --bus', 'Omit --drills'),
    ('up --bus rabbit://h/{cell} --drills --tuned-placement', 'cloud without --bus', 'Omit it'),
    ('daemon restart scheduler.top', "'restart' does not exist", "Did you mean 'start'?"),
    ('daemon kill', 'required: NAME', HELP),
    ('daemon kill scheduler.top', 'does not run', STOPPED),
    ('daemon list --config-dir FILES', 'does not work in the deployment', 'Use `systemctl kill'),
    ('daemon list all', "no further argument, such as 'all'", HELP),
    ('host offf cell1-host1', "'offf' does not exist", "Did you mean 'off'?"),
    ('host off', 'required: NAME', HELP),
    ('host off cell1-host1 cell1-host2', "such as 'cell1-host2'", HELP),
    ('cell down', 'required: NAME', HELP),
    ('cell down cell1 --databases', 'no option --databases', "Did you mean '--database'?"),
    ("bus freeze ''", 'argument NAME: it is empty', 'give a value or omit it'),
    ('bus freeze top cell1', "such as 'cell1'", HELP),
    ('bus thaw', "'thaw' does not exist", 'cut, freeze, heal'),
    ('fault add --service placemnt --status 503', "'placemnt'", "Did you mean 'placement'?"),
    ('fault add --verb spawn --first x', "'x' is not a whole number", HELP),
    ('fault clear x', "'x' is not a whole number", HELP),
    ('fault remove', "'remove' does not exist", 'add, list, clear'),
    ('scenario run', 'required: SCENARIO', HELP),
    ('scenario run host-cannot-spwan', 'does not exist', "Did you mean 'host-cannot-spawn'?"),
    ('env --openrcs', 'no option --openrcs', "Did you mean '--openrc'?"),
    ('env --clouds x', 'no option --clouds', "Did you mean '--cloud'?"),
    ('openstack --clud x server list', 'no option --clud', "Did you mean '--cloud'?"),
    ('openstack --state-dir FILES/other flavor list', 'no cloud in FILES/other', 'nova-lite list'),
    ('openstack --name a/b server list', "'a/b' is not a name", HELP),
    ('help upp', "'upp' does not exist", "Did you mean 'up'?"),
    ('help saga lst', "'lst' does not exist", "Did you mean 'list'?"),
    ('help nosuch', "'nosuch' does not exist", 'Use one of: up, status'),
    ('stop --deleted', 'no option --deleted', "Did you mean '--delete'?"),
    ('logs --followed', 'no option --followed', "Did you mean '--follow'?"),
    ('clock advance', 'required: DURATION', HELP),
    ('undrain a b', "such as 'b'", HELP),
)
STUDIES = (
    ('import --os-clod x', 'no option --os-clod', "Did you mean '--os-cloud'?"),
    ('import --os-cloud nosuch', 'Cloud nosuch was not found', 'Correct its name or settings'),
    ('import --os-cloud x --output /nowhere/x', 'no directory that can', 'Choose another one'),
    ('import', 'does not run', STOPPED),
    ('replay', 'needs a TRACE', 'or --continue DIR'),
    ('replay /nowhere.csv', '/nowhere.csv cannot be read: No such file', 'Name a trace'),
    ('replay FILES', 'FILES cannot be read: Is a directory', 'Name a trace'),
    ('replay FILES/trace.csv --flavors /nowhere', '--flavors: /nowhere', 'Name a CSV file'),
    ('replay FILES/empty', 'FILES/empty:1', 'the file is empty'),
    ('replay FILES/binary', 'FILES/binary:1', 'it is not text'),
    ('replay FILES/late.csv', "FILES/late.csv:2: arrival_s is 'x'", 'not a number'),
    (
        'replay FILES/trace.csv --format azur',
        "'azur' does not exist",
        'azure-packing, azure-vm, csv',
    ),
    ('replay FILES/trace.csv --cells 0', "'0' is not a number, 1 or more", HELP),
    ('replay FILES/trace.csv --vary', '--vary: expected one argument', HELP),
    ('replay FILES/trace.csv --vary x', 'not x', '[GROUP.]OPTION=VALUE,VALUE'),
    (
        'replay FILES/trace.csv --vary ram_weigth_multiplier=1,2',
        'filter_scheduler has no option ram_weigth_multiplier',
        "Did you mean 'ram_weight_multiplier'?",
    ),
    ('twin surviv', "'surviv' does not exist", "Did you mean 'survives'?"),
    ('twin survives', 'There is no cloud', NO_CLOUD),
    ('twin fit x --config-dir FILES', 'does not work', 'Copy it with `nova-lite import`'),
    ('twin drain', 'required: HOST', HELP),
    ('twin drain h --parallel 0', "'0' is not a number, 1 or more", HELP),
    ('twin fit', 'required: FLAVOR', HELP),
    ('twin fit m1.tiny --count 0', "'0' is not a number, 1 or more", HELP),
    ('twin rebalance --moves x', "'x' is not a number, 1 or more", HELP),
    ('scenario lst', "'lst' does not exist", "Did you mean 'list'?"),
    ('scenario show', 'required: SCENARIO', HELP),
    ('scenario show nosuch', "'nosuch' does not exist", '`nova-lite scenario list` lists all'),
    ('scenario run host-cannot-spawn', 'does not run', STOPPED),
    ('scenario run x --config-dir FILES', 'accept no faults', 'a cloud of `nova-lite up --bus'),
    ('scenario run x --exm', 'no option --exm', "Did you mean '--exam'?"),
    ('up -f /nowhere', '/nowhere cannot be read: No such file', 'Name a file that describes'),
    ('up -f FILES/bad.yaml', 'bad.yaml, line 2', 'expected the node content'),
    ('up --config-dir /nowhere', '/nowhere is no directory', 'control.conf'),
    ('list --jsn', 'no option --jsn', "Did you mean '--json'?"),
    ('completion', 'required: shell', HELP),
    ('env --for terraform', 'no option --for', HELP),
    ('reset x y', "such as 'y'", HELP),
    ('fork A B', "such as 'B'", HELP),
    ('stop x', "such as 'x'", HELP),
    ('openstack server list', 'There is no cloud', NO_CLOUD),
    ('saga show x', 'There is no cloud', NO_CLOUD),
    ('repair-guide web', 'There is no cloud', NO_CLOUD),
    ('evacuate-host x', 'There is no cloud', NO_CLOUD),
    ('undrain x', 'There is no cloud', NO_CLOUD),
)
TRACE = b'name,arrival_s,departure_s,vcpus,memory_mb,disk_gb\n'
NAMING = {'--state-dir', '--name', '--config-dir', '--os-cloud', '--nova'}
# They take no cloud, or a row of theirs refuses an option before.
WITHOUT_CLOUD = {'upp', '--versin', 'list', 'demo', 'completion', 'help', 'replay'}
# Each message has one of these, or names the line of a file that is to be corrected.
WAY_OUT = re.compile(
    r'`nova-lite |\b(use|choose|copy|correct|try|omit|must|name|give|start|write|needs?)\b'
    r'|did you mean|known:|such as|is not a (whole )?number|(:|line )\d+(:| is )',
    re.IGNORECASE,
)
# Options of other programs; none of these is a mistyped option of ours.
FOREIGN = ('--reason', '--region', '--zone', '--image', '--since', '--count', '--enable', '--quiet')
WORDS_OF_LIBRARIES = ('Traceback', 'Errno', 'sqlalche', 'invalid literal', 'codec', 'Bad request')


class WrongUsagesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        base = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', base))
        self.none = os.path.join(base, 'none')
        self.files = os.path.join(base, 'files')
        for name, content in (
            ('empty', b''),
            ('binary', b'\xff\x00' * 100),
            ('bad.yaml', b'a: [\n'),
            ('key.yaml', b'failurs: []\n'),
            ('trace.csv', TRACE + b'a,0,,1,1,1\n'),
            ('late.csv', TRACE + b'a,x,,1,1,1\n'),
            ('settings.json', b'{"a": 1}'),
            ('broken.json', b'{'),
            ('control.conf', b'[DEFAULT]\n'),
            ('broken/control.conf', b'no section\n'),
            (
                'nova.conf',
                f'[api_database]\nconnection = sqlite:///{self.files}/nova.db\n'.encode(),
            ),
            ('other/file', b''),
        ):
            path = os.path.join(self.files, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(content)

    def check(self, line, cause, way_out):
        """Run a command with a wrong usage, which must not have an effect."""
        argv = shlex.split(line.replace('FILES', self.files))
        if argv[0] not in WITHOUT_CLOUD and not NAMING.intersection(argv):
            argv += ['--state-dir', self.none]
        code, out, errors = commands.run(*argv)
        self.assertEqual((2, ''), (code, out), f'{line}: {errors}')
        errors = ' '.join(errors.split())
        for text in (cause, way_out):
            self.assertIn(text.replace('FILES', self.files), errors, line)
        self.assertRegex(errors.replace(self.files, 'FILES'), WAY_OUT, line)
        for words in WORDS_OF_LIBRARIES:
            self.assertNotIn(words, errors, line)
        self.assertTrue(errors.startswith(('nova-lite', 'Reading')), errors)

    def test_starting(self):
        for row in UP:
            self.check(*row)

    def test_clouds(self):
        for row in CLOUDS:
            self.check(*row)

    def test_operations(self):
        for row in OPERATIONS:
            self.check(*row)

    def test_drills(self):
        for row in DRILLS:
            self.check(*row)

    def test_studies(self):
        for row in STUDIES:
            self.check(*row)

    def commands(self):
        return completion.commands(lambda argv: main.parser(argv[:1]).parse_args(argv))

    def test_options_of_other_programs(self):
        """No option that has only the dashes and some letters in common is proposed."""
        for command in self.commands():
            known = [name for each in command.options for name in each.names]
            for name in FOREIGN:
                if command.choices or any(each.startswith(name) for each in known):
                    continue
                code, _out, errors = commands.run(*command.words, name)
                self.assertEqual(2, code, (command.words, name))
                self.assertNotIn('Did you mean', errors, (command.words, name))

    def test_typing_errors(self):
        """Each command, action, choice and long option with a letter too few is proposed."""
        proposed = 0
        for command in self.commands():
            known = [*command.choices, *(name for each in command.options for name in each.names)]
            for name in known:
                wrong = name[:-2] + name[-1]
                is_beginning = any(each.startswith(wrong) for each in known)
                if len(name) < 4 or is_beginning or (name.startswith('-') and command.choices):
                    continue
                code, _out, errors = commands.run(*command.words, wrong)
                self.assertEqual(2, code, (command.words, wrong))
                if 'required' not in errors:
                    self.assertIn('Did you mean', errors, (command.words, wrong))
                    proposed += 1
        self.assertLess(100, proposed)

    def test_empty_values(self):
        """They come from variables that are not set. Each is named, with what to do."""
        checked = 0
        for command in self.commands():
            if command.choices or command.words == ('openstack',):
                continue
            code, _out, errors = commands.run(*command.words, '')
            self.assertEqual(2, code, (command.words, errors))
            if 'takes no further argument' not in errors:
                self.assertRegex(errors, r'it is empty|is not a |is required', command.words)
                checked += 1
        self.assertLess(20, checked)

    def test_a_command_without_a_subcommand(self):
        """Its help is printed, which is no error."""
        for argv in ((), ('saga',), ('fault',), ('snapshot',), ('clock',), ('daemon',)):
            code, out, errors = commands.run(*argv)
            self.assertEqual((0, ''), (code, errors))
            self.assertIn('usage: nova-lite', out)

"""Every option that nova_lite registers is read."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import fixtures
from keystoneauth1 import loading
from keystonemiddleware import opts
import testtools

from nova_lite import conf
from nova_lite.api import quota_rules
from nova_lite.conf import placement_server

PRODUCT = pathlib.Path(conf.__file__).parents[1]
# Named by an f-string: compute's inventories.
COMPUTED = {f'initial_{each}_allocation_ratio' for each in ('cpu', 'disk', 'ram')}
# Values of other options refer to it as $my_ip.
REFERRED_TO = {'my_ip'}
EMPHASIS = re.compile(r"""(?<![\w"'*])\*[\w.]""")


def _used():
    """Return the names of attributes, and the texts, of all modules but those of options."""
    found = set()
    for path in PRODUCT.rglob('*.py'):
        if PRODUCT / 'conf' not in path.parents:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.Constant):
                    found.add(node.value)
    return found


def _of_libraries():
    """Return the options that libraries read, from the configuration that they are given."""
    plugin = loading.get_auth_plugin_conf_options('password')
    middleware = [option for _group, options in opts.list_auth_token_opts() for option in options]
    return {option.dest for option in (*plugin, *middleware)}


class OptionsTest(testtools.TestCase):
    def test_every_option_is_read(self):
        used = _used() | _of_libraries() | COMPUTED | REFERRED_TO
        unread = {
            (str(group), option.dest)
            for group, options in conf.list_opts()
            for option in options
            if option.dest not in used
        }
        self.assertEqual(set(), unread)

    def test_help_begins_no_emphasis(self):
        """The reference shows it as reStructuredText, where *.conf would begin one."""
        marked = {
            (str(group), option.dest)
            for group, options in conf.list_opts()
            for option in options
            if EMPHASIS.search(option.help or '')
        }
        self.assertEqual(set(), marked)

    def test_every_limit_of_quotas_has_an_option(self):
        others = {'driver', 'unified_limits_resource_strategy', 'unified_limits_resource_list'}
        options = set(conf.make_conf(files=[]).quota)
        self.assertEqual(set(quota_rules.RESOURCES), options - others)


class WorkersTest(testtools.TestCase):
    def test_of_the_api_are_as_many_as_cpus_that_it_may_use(self):
        """So a container or a unit with CPUAffinity= has no more than it can run at once."""
        program = (
            'import os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\n'
            'from nova_lite import conf; print(conf.make_conf(files=[]).api.workers)'
        )
        told = subprocess.run(
            [sys.executable, '-c', program], check=True, capture_output=True, text=True
        )
        self.assertEqual('1\n', told.stdout)

    def test_of_placement_are_more_than_one_only_over_a_server(self):
        made = conf.make_conf(files=[])
        made.set_override('connection', 'sqlite:////nowhere/placement.sqlite', 'placement_server')
        self.assertEqual(1, placement_server.workers(made))
        made.set_override('connection', 'postgresql+psycopg://localhost/p', 'placement_server')
        expected = min(len(os.sched_getaffinity(0)), placement_server.MOST_WORKERS)
        self.assertEqual(expected, placement_server.workers(made))
        made.set_override('workers', 3, 'placement_server')
        self.assertEqual(3, placement_server.workers(made))


class DirectoriesTest(testtools.TestCase):
    def test_are_not_read_when_files_are_given(self):
        home = self.useFixture(fixtures.TempHomeDir()).path
        path = pathlib.Path(home, '.nova-lite', 'nova-lite.conf.d', 'more.conf')
        os.makedirs(path.parent)
        path.write_text('[DEFAULT]\nhost = from-a-directory\n')
        self.assertEqual('from-a-directory', conf.make_conf().host)
        self.assertNotEqual('from-a-directory', conf.make_conf(files=[]).host)

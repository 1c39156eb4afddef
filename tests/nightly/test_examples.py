"""Programs of doc/examples, with the clients for which they are written, in a cloud each.

Go: gophercloud of Debian (golang-github-gophercloud-gophercloud-dev) with Debian's compiler.
Ansible: its package of PyPI, installed below NOVA_LITE_TEST_SOFTWARE, or else for the run.
Terraform: the form of the file alone, because its provider is in no registry of packages.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import openrc
from tests.fixtures import units
from tests.functional import base

EXAMPLES = units.ROOT / 'doc' / 'examples'
GOPATH = pathlib.Path('/usr/share/gocode')
GOPHERCLOUD = GOPATH / 'src' / 'github.com' / 'gophercloud'
PINS = units.ROOT / 'tools' / 'requirements' / 'ansible.txt'
# A compilation or an installation may be among them.
RUN_S = 900


def run(test, *command, directory=None, **variables):
    """Run a program that succeeds; return what it prints."""
    environment = {'PATH': os.environ['PATH'], 'HOME': test.home, **variables}
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=RUN_S
    )
    test.assertEqual(0, done.returncode, done.stdout + done.stderr)
    return done.stdout


class ExampleCase(base.CloudTest):
    settings = {'cells': 2, 'hosts': 2}

    def setUp(self):
        super().setUp()
        self.home = self.useFixture(fixtures.TempDir()).path

    def of_environment(self, make, name):
        """The variables of a cloud of clouds.yaml, as `nova-lite env` prints them."""
        return make(self.cloud.cloud.places.clouds_path, name)

    def servers(self):
        return list(self.cloud.connect(client_connections.ADMIN).compute.servers(all_projects=True))


@testtools.skipUnless(shutil.which('go') and GOPHERCLOUD.exists(), 'needs Go and gophercloud')
class GoTest(ExampleCase):
    def test_main(self):
        """It migrates a server to another host and deletes it."""
        program = os.path.join(self.home, 'from-go')
        options = {'GO111MODULE': 'off', 'GOPATH': str(GOPATH), 'GOFLAGS': '-trimpath'}
        run(self, 'go', 'build', '-o', program, '.', directory=EXAMPLES / 'go', **options)
        variables = self.of_environment(openrc.variables, client_connections.ADMIN)
        printed = run(self, program, OS_DOMAIN_ID='default', **variables)
        states, hosts = zip(*(line.split() for line in printed.splitlines()), strict=True)
        self.assertEqual(('ACTIVE', 'VERIFY_RESIZE', 'ACTIVE'), states)
        self.assertEqual(2, len(set(hosts)))
        self.assertNotEqual(hosts[0], hosts[1])


class AnsibleTest(ExampleCase):
    def test_servers(self):
        programs = self.installed()
        variables = self.of_environment(openrc.selection, client_connections.DEMO)
        printed = run(
            self,
            str(programs / 'ansible-playbook'),
            '--inventory=localhost,',
            f'--extra-vars=ansible_python_interpreter={programs / "python"}',
            str(EXAMPLES / 'ansible' / 'servers.yaml'),
            ANSIBLE_NOCOLOR='1',
            LC_ALL='C.UTF-8',
            **variables,
        )
        self.assertIn('failed=0', printed)
        self.assertEqual([], self.servers())

    def installed(self):
        """Return the directory of the programs of an environment with the pinned versions."""
        place = pathlib.Path(os.environ.get('NOVA_LITE_TEST_SOFTWARE', self.home), 'ansible')
        stamp = place / PINS.name
        if not stamp.exists() or stamp.read_bytes() != PINS.read_bytes():
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([sys.executable, '-m', 'venv', str(place)], check=True)
            pip = str(place / 'bin' / 'pip')
            subprocess.run([pip, 'install', '--quiet', '-r', str(PINS)], check=True)
            shutil.copy(PINS, stamp)
        return place / 'bin'


@testtools.skipUnless(shutil.which('terraform'), 'needs terraform')
class TerraformTest(testtools.TestCase):
    def test_form(self):
        """The file has the form of Terraform. Without a provider, no more can be checked."""
        self.home = self.useFixture(fixtures.TempDir()).path
        run(self, 'terraform', 'fmt', '-check', '-diff', str(EXAMPLES / 'terraform'))

"""Horizon beside a cloud: installed and started by `nova-lite up --with horizon`, in a browser.

With NOVA_LITE_TEST_SOFTWARE it is installed once, in that directory; without, in each run.
NOVA_LITE_TEST_PICTURES names a directory for the pictures of the how-to.
"""

import json
import os
import pathlib

import fixtures
import requests
import testtools
import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import running
from tests.fixtures import browser as browser_fixture
from tests.fixtures import commands
from tests.fixtures import ports
from tests.fixtures import rabbit
from tests.fixtures import servers

# An installation takes minutes.
UP_S, STOP_S = 1200, 60
SOFTWARE = 'NOVA_LITE_TEST_SOFTWARE'
DEMO, ADMIN = 'nova-lite-demo', 'nova-lite'
ALERT = "[...document.querySelectorAll('.alert-danger')].map((each) => each.innerText).join()"


class HorizonTestCase(testtools.TestCase):
    """A cloud with Horizon. bus: the options of its message buses, () for one process"""

    def setUp(self):
        super().setUp()
        bus = self.bus()
        top = os.environ.get(SOFTWARE) or self.useFixture(fixtures.TempDir()).path
        self.state_dir = str(pathlib.Path(top, 'cloud-with-horizon').absolute())
        self.addCleanup(running.stop, self.state_dir, STOP_S)
        found = self.run_command(
            'up', '--with', 'horizon', '--detach', '--fresh', '--port', '0', '--json', *bus
        )
        self.url = json.loads(found)['horizon_url']

    def bus(self):
        return ()

    def run_command(self, *words):
        """Run a command about the cloud; return what it prints."""
        argv = (*words, '--state-dir', self.state_dir)
        code, out, errors = commands.forked(argv, timeout_s=UP_S)
        self.assertEqual(0, code, errors)
        return out

    def open(self, path, script, what):
        """Open a page, and wait for a JavaScript expression. The page must have no alert."""
        self.browser.driver.get(f'{self.url}{path}')
        found = self.browser.wait_for(script, what)
        self.assertEqual('', self.browser.run(f'return {ALERT}'))
        return found

    def login(self, name):
        """Log in with a new browser."""
        self.browser = self.useFixture(browser_fixture.Browser())
        path = pathlib.Path(self.state_dir, 'clouds.yaml')
        auth = yaml.safe_load(path.read_text())['clouds'][name]['auth']
        self.open('auth/login/', "document.getElementById('loginBtn')", 'the form')
        self.browser.take_picture('horizon-login')
        for field in ('username', 'password'):
            self.browser.run(
                f"document.getElementById('id_{field}').value = arguments[0]", auth[field]
            )
        self.browser.run("document.getElementById('loginBtn').click()")
        self.browser.wait_for("document.querySelector('.user-name')", 'a login')

    def boot(self):
        """Boot servers as demo; return the first one."""
        cloud = client_connections.connect(os.path.join(self.state_dir, 'clouds.yaml'), DEMO)
        return [
            cloud.create_server(
                name, image='cirros', flavor='m1.tiny', network='private', wait=True
            )
            for name in ('web', 'db')
        ][0]

    def list_servers(self):
        """Open the servers of the project demo."""
        self.login(DEMO)
        shown = "document.querySelector('#instances')?.innerText.includes('Running')"
        self.open('project/instances/', shown, 'the servers')

    def ends(self):
        """`status` and `logs` know Horizon, and it ends with the cloud."""
        self.assertEqual(self.url, json.loads(self.run_command('status', '--json'))['horizon_url'])
        self.assertIn('/auth/login/', self.run_command('logs', '--daemon', 'horizon'))
        self.assertTrue(running.stop(self.state_dir, STOP_S))
        self.assertRaises(requests.ConnectionError, requests.get, self.url, timeout=STOP_S)


class ProcessHorizonTest(HorizonTestCase):
    """Beside a cloud with a process for each daemon, over RabbitMQ."""

    def bus(self):
        servers.require(rabbit.Rabbit)
        broker = self.useFixture(rabbit.Rabbit('top', 'cell1', 'cell2'))
        return '--bus', broker.vhost_url('{cell}')

    def test_pages(self):
        self.boot()
        self.list_servers()
        self.ends()


class HorizonTest(HorizonTestCase):
    def test_pages(self):
        server = self.boot()
        self.list_servers()
        self.browser.take_picture('horizon-instances')
        console = "document.querySelector('#console_embed')"
        self.open(f'project/instances/{server.id}/?tab=instance_details__console', console, 'it')
        frame = self.browser.driver.find_element('css selector', '#console_embed')
        self.browser.driver.switch_to.frame(frame)
        self.browser.wait_for("document.body.innerText.includes('login')", 'the console')
        self.browser.driver.switch_to.default_content()
        self.browser.take_picture('horizon-console')
        log = "document.querySelector('pre.logs')?.innerText.includes('login')"
        self.open(f'project/instances/{server.id}/?tab=instance_details__log', log, 'the log')
        self.login(ADMIN)
        hosts = "document.body.innerText.includes('cell2-host3')"
        self.open('admin/hypervisors/', hosts, 'the hosts')
        self.browser.take_picture('horizon-hypervisors')
        self.ends()

    def test_an_index_that_does_not_answer(self):
        """`up` says so, and starts no cloud. The next `up` installs Horizon."""
        other = self.useFixture(fixtures.TempDir()).path
        index = f'http://127.0.0.1:{self.useFixture(ports.Port()).number}/simple'
        names = ('PIP_EXTRA_INDEX_URL', 'PIP_FIND_LINKS')
        given = {'PIP_INDEX_URL': index, 'PIP_CONFIG_FILE': os.devnull, **dict.fromkeys(names, '')}
        for name, value in given.items():
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        argv = ('up', '--with', 'horizon', '--detach', '--port', '0', '--state-dir', other)
        code, _out, errors = commands.forked(argv, timeout_s=UP_S)
        self.assertEqual(2, code)
        self.assertIn('Horizon cannot be installed', errors)
        self.assertIn('Let pip reach PyPI', errors)
        self.assertFalse(running.stop(other, STOP_S))

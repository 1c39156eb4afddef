"""Messages of `nova-lite up` about brokers and database servers that refuse it.

No cloud comes up here, so there is none that `nova-lite verify` could read.
"""

import os
import tempfile

import fixtures
import testtools

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.lab.launcher import preflight
from tests.fixtures import forking
from tests.fixtures import mariadb
from tests.fixtures import ports
from tests.fixtures import rabbit
from tests.fixtures import servers


class RefusalsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.broker, self.database = map(servers.shared, (rabbit.Rabbit, mariadb.MariaDB))
        self.broker.renew('top')
        self.url = self.broker.vhost_url('/') + '{cell}'

    def wait(self, url, seconds=0):
        told = []
        preflight.wait_for_broker(url, conf_module.make_conf(files=[]), seconds, told.append)
        return told

    def refused(self, bus):
        """The message of an `up` that is refused, which must not wait."""
        options = [
            'up', '--cells', '1', '--state-dir', self.useFixture(fixtures.TempDir()).path,
            '--port', str(self.useFixture(ports.Port()).number),
            '--bus', bus, '--db', self.database.root_url.replace('root@', 'root:hidden@'),
        ]  # fmt: skip
        end, leash = os.pipe()
        self.addCleanup(os.close, leash)
        self.addCleanup(os.close, end)
        with tempfile.TemporaryFile('w+') as output:
            process = forking.launch('nova_lite.cmd.main', options, output, end)
            self.addCleanup(process.kill)
            code = process.wait(300)
            output.seek(0)
            said = output.read()
        self.assertEqual(2, code, said)
        self.assertNotIn('hidden', said)
        return said

    def test_each_says_what_it_refuses(self):
        self.assertEqual([], self.wait(self.url.replace('{cell}', 'top')))
        user = self.broker.user_name
        message = self.refused(self.url.replace(self.broker.password, 'hidden'))
        self.assertIn(f'127.0.0.1:{self.broker.port} rejects user {user}', message)

        self.broker.renew()
        message = self.refused(self.url)
        for name in ('top', 'cell1'):
            self.assertIn(f'has no virtual host {name} that user {user} may use\n', message)
            self.assertIn(f'\n  rabbitmqctl add_vhost {name}\n', message)
            self.assertIn(
                f"\n  rabbitmqctl set_permissions -p {name} {user} '.*' '.*' '.*'\n", message
            )
        self.assertIn('--db: the server rejects the credentials: Access denied for user', message)
        self.assertIn("\n  GRANT ALL ON `nova\\_lite\\_%`.* TO 'root'@'%'", message)

        self.broker.renew('top')
        message = self.refused(self.url)
        self.assertIn(f'has no virtual host cell1 that user {user} may use', message)
        self.assertIn('add_vhost', message)

        self.broker.renew('top', 'cell1')
        self.assertIn("--db: the server rejects the credentials: Access denied for user 'root'",
                      self.refused(self.url))  # fmt: skip

        closed = self.useFixture(ports.Port()).number
        with testtools.ExpectedException(exception.Unavailable, '.*refused.*'):
            self.wait(self.url.replace(f':{self.broker.port}/', f':{closed}/'))

"""SIGUSR2: what a report shows, and what it must not."""

import signal

import testtools

from tests.fixtures import imported
from tests.fixtures import notify_socket

DAEMON = """
import sys
from nova_lite import conf
from nova_lite.daemons import lifetime
from nova_lite.daemons import guru_meditation
from nova_lite.daemons.monitoring import health
found = conf.make_conf(files=[])
found.set_override('connection', 'mysql+pymysql://nova:hidden@db/api', group='api_database')
def refuse():
    raise ValueError('the broker is away')
guru_meditation.on_signal(found, [health.Health('toy', {'bus': refuse})])
lifetime.run(lifetime.Daemon('toy', object()))
"""


class ReportTests(testtools.TestCase):
    def test_threads_configuration_and_health_without_secrets(self):
        notify = self.useFixture(notify_socket.NotifySocket())
        daemon = self.useFixture(imported.Script(DAEMON, name='toy', env=notify.env))
        daemon.start()
        notify.wait_for('READY=1')
        daemon.signal(signal.SIGUSR2)
        daemon.wait_for_log('the broker is away', 60)
        text = daemon.log_text()
        self.assertIn('nova_lite/daemons/lifetime.py', text, 'where the main thread is')
        self.assertIn('service_down_time = 60', text)
        self.assertNotIn('hidden', text)
        self.assertEqual(0, daemon.stop(20))

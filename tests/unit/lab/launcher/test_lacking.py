"""Messages about parts that brokers and a database server lack."""

import sqlalchemy as sa
import testtools

from nova_lite.lab.launcher import database_servers
from nova_lite.lab.launcher import lacking
from nova_lite.lab.launcher import preflight

URL = sa.make_url('postgresql+psycopg://nova:p@db')


class LackingTest(testtools.TestCase):
    def test_one(self):
        error = preflight.NoVirtualHost('mq:5672', 'nova', 'a b')
        self.assertIs(error, lacking.together([error]))
        self.assertEqual(
            '--bus: the broker at mq:5672 has no virtual host a b that user nova may use. Create it '
            "with `rabbitmqctl add_vhost 'a b'` and "
            "`rabbitmqctl set_permissions -p 'a b' nova '.*' '.*' '.*'`",
            str(error),
        )

    def test_several(self):
        """A reason of the server may be any text. Each fact and each command comes once."""
        found = [
            preflight.RejectedUser('mq:5672', 'nova'),
            preflight.RejectedUser('mq:5672', 'nova'),
            database_servers.Rejected(URL, 'denied. Check it'),
        ]
        self.assertEqual(
            '--bus: the broker at mq:5672 rejects user nova or its password\n'
            '--db: the server rejects the credentials: denied. Check it\n'
            'Run these commands, and repeat:\n'
            '  rabbitmqctl add_user nova\n'
            "  CREATE ROLE nova LOGIN CREATEDB PASSWORD 'password'",
            str(lacking.together(found)),
        )

"""Brokers, databases and a whole cloud that speak TLS and ask for a client's certificate.

Quorum queues are tried on the same broker.
"""

import urllib.parse

import requests
import sqlalchemy as sa
import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import rpc
from nova_lite.db import transactions
from nova_lite.lab.launcher import preflight
from nova_lite.rpc import transport
from tests.fixtures import certificates
from tests.fixtures import mariadb
from tests.fixtures import moving
from tests.fixtures import postgresql
from tests.fixtures import rabbit
from tests.fixtures import servers
from tests.fixtures import tls_cloud

HOSTS = [f'host-{number}' for number in range(20)]
QUORUM = {'rabbit_quorum_queue': True, 'rabbit_transient_quorum_queue': True}


class ToyAPI(rpc.Interface):
    topic, version = 'toy', '1.0'
    server_argument = 'host'

    @rpc.call(since='1.0')
    def add(self, ctxt, host, first, second):
        """The sum."""


class Toy:
    def add(self, ctxt, host, first, second):
        return first + second


def with_query(url, **query):
    """The URL with more in its query."""
    return f'{url}?{urllib.parse.urlencode(query)}'


class TestCloud(testtools.TestCase):
    """A cloud, and the broker it is on: who asks for what, and what is told to whom, by TLS."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        cls.cloud = tls_cloud.TLSCloud('quorum')
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)
        cls.tls, cls.server = cls.cloud.tls, cls.cloud.brokers['top']

    def setUp(self):
        super().setUp()
        self.anonymous = {'ssl': 1, 'ssl_ca_file': self.tls.ca}
        certificate, key = self.tls.client
        self.known = {**self.anonymous, 'ssl_cert_file': certificate, 'ssl_key_file': key}

    def open(self, url, **options):
        found = conf.make_conf(files=[])
        bus = transport.open_bus(found, url)
        self.addCleanup(bus.cleanup)
        for name, value in options.items():
            found.set_override(name, value, group='oslo_messaging_rabbit')
        return bus

    def serve(self, bus):
        server = ToyAPI.server(bus, HOSTS, Toy())
        server.start(override_pool_size=2)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)

    def test_a_call_goes_through_with_the_certificate_alone(self):
        bus = self.open(with_query(self.server.url, **self.known))
        self.serve(bus)
        self.assertEqual(3, ToyAPI(bus).add(context.admin(), HOSTS[0], 1, 2))
        stranger = ToyAPI(self.open(with_query(self.server.url, **self.anonymous)))
        self.assertRaises(exception.Unavailable, stranger.add, context.admin(), HOSTS[0], 1, 2)

    def test_before_a_cloud_is_started(self):
        found = conf.make_conf(files=[])
        said = []
        url = with_query(self.server.url, **self.known)
        preflight.wait_for_broker(url, found, 0, said.append)
        self.assertEqual([], said)
        for query in (self.anonymous, {}):
            self.assertRaises(
                exception.Unavailable,
                preflight.wait_for_broker,
                with_query(self.server.url, **query),
                found,
                0,
                said.append,
            )

    def test_quorum_queues(self):
        bus = self.open(with_query(self.server.vhost_url('quorum'), **self.known), **QUORUM)
        self.serve(bus)
        caller = ToyAPI(bus)
        for number, host in enumerate(HOSTS):
            self.assertEqual(number + 1, caller.add(context.admin(), host, number, 1))
        found = self.server.ctl('list_queues', '--vhost', 'quorum', 'name', 'type', 'durable')
        queues = [line.split() for line in found.splitlines()]
        self.assertEqual({('quorum', 'true')}, {tuple(queue[1:]) for queue in queues[-21:]})
        names = {queue[0] for queue in queues}
        self.assertLessEqual({f'toy.{host}' for host in HOSTS}, names)
        self.assertTrue(any(name.startswith('reply_') for name in names), names)

    def test_a_boot_and_a_move_to_another_cell(self):
        cloud = self.cloud
        server = cloud.boot('secret', availability_zone='nova:cell1-host1')
        moves = moving.Moving(cloud)
        moves.resize(server, 'm1.small')
        self.assertEqual('cell2-host1', cloud.wait(server, 'VERIFY_RESIZE').compute_host)
        moves.act(server, 'confirmResize', status=204)
        cloud.wait(server)
        self.assertEqual([], cloud.findings())
        url = f'{cloud.outer_url}/compute/v2.1/servers'
        headers = {'X-Auth-Token': cloud.admin.auth_token}
        known = {'verify': cloud.tls.ca, 'headers': headers, 'timeout': 60}
        answer = requests.get(url, cert=cloud.tls.client, **known)
        self.assertEqual([server.id], [found['id'] for found in answer.json()['servers']])
        self.assertRaises(requests.ConnectionError, requests.get, url, **known)


class TestDatabase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.tls = self.useFixture(certificates.Certificates())

    def ask(self, url, text):
        database = transactions.Database(url, threads=1)
        self.addCleanup(database.dispose)
        return database.read(lambda connection: connection.execute(sa.text(text)).one())

    def test_mariadb(self):
        url = self.useFixture(mariadb.MariaDB(tls=self.tls)).create_database('tls')
        certificate, key = self.tls.client
        known = {'ssl_ca': self.tls.ca, 'ssl_cert': certificate, 'ssl_key': key}
        asked = "SHOW STATUS LIKE 'Ssl_version'"
        self.assertIn('TLS', self.ask(with_query(url, **known), asked)[1])
        for query in ({'ssl_ca': self.tls.ca}, {}):
            error = self.assertRaises(
                exception.Unavailable, self.ask, with_query(url, **query), asked
            )
            self.assertIn('Access denied', str(error))

    def test_postgresql(self):
        url = self.useFixture(postgresql.PostgreSQL(tls=self.tls)).create_database('tls')
        certificate, key = self.tls.client
        checked = {'sslmode': 'verify-full', 'sslrootcert': self.tls.ca}
        known = {**checked, 'sslcert': certificate, 'sslkey': key}
        asked = 'SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
        self.assertIn('TLS', self.ask(with_query(url, **known), asked)[0])
        for query in (checked, {'sslmode': 'disable'}):
            self.assertRaises(exception.Unavailable, self.ask, with_query(url, **query), asked)

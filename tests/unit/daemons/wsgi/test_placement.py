"""The placement application: discovery, authentication, databases, many threads."""

import inspect
import sys

import fixtures
from placement import auth
from placement import deploy
import requests
import testtools

from nova_lite import runtime
from nova_lite.daemons.wsgi import placement
from nova_lite.daemons.wsgi import serial
from nova_lite.lab import tuned_placement
from tests.fixtures import http
from tests.fixtures import placement as placement_fixture

ADMIN = {'X-Auth-Token': 'admin', 'OpenStack-API-Version': 'placement 1.36'}


def replaced():
    """Return the names of what is not placement's own in its modules."""
    return [
        f'{name}.{attribute}'
        for name, module in sorted(sys.modules.items())
        if name.partition('.')[0] == 'placement'
        for attribute, value in _attributes(module)
        if _origin(value).partition('.')[0] in ('nova_lite', 'tests')
    ]


def _attributes(module):
    """Yield the names and values of a module, and of the classes that it defines."""
    for name, value in vars(module).items():
        yield name, value
        if inspect.isclass(value) and value.__module__ == module.__name__:
            yield from ((f'{name}.{inner}', each) for inner, each in vars(value).items())


def _origin(value):
    """Return the name of the module that has defined a function or class, or an object's class."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return getattr(value, '__module__', None) or ''
    return type(value).__module__


def chain(application):
    """Return the classes of middleware, from the outside in, down to placement's own handler."""
    found = []
    while application is not None:
        found.append(type(application))
        application = getattr(application, 'application', getattr(application, '_app', None))
    return found


class RealTest(testtools.TestCase):
    """It is placement as it is installed."""

    def test_nothing_is_replaced(self):
        url = f'sqlite:///{self.useFixture(fixtures.TempDir()).join("placement.sqlite")}'
        tuning = tuned_placement.of(is_wanted=True)
        placement.make_app(url, auth_strategy='noauth', tuning=tuning)
        changed = replaced()
        self.assertIn('placement.objects.trait.get_traits_by_provider_id', changed)
        self.assertIn('placement.util.jsonschema', changed)
        placement.make_app(url, auth_strategy='noauth')
        self.assertEqual([], replaced())

    def test_middleware_is_that_of_placement_and_a_lock(self):
        for strategy in ('keystone', 'noauth'):
            conf = placement.make_conf('sqlite://', strategy, keystone={})
            placement.use(conf)
            found = chain(placement.Application(conf)._application)
            self.assertEqual(placement.Rooted, found.pop(0))
            lock = found.index(serial.Serial)
            self.assertEqual(auth.PlacementKeystoneContext, found[lock - 1])
            found.pop(lock)
            self.assertEqual(chain(deploy.deploy(conf)), found)

    def test_tuned_over_a_server(self):
        self.assertRaises(
            ValueError,
            placement.make_app,
            'postgresql+psycopg://nowhere/placement',
            tuning=tuned_placement.of(is_wanted=True),
        )


class DiscoveryTest(testtools.TestCase):
    """Resources that a client may ask for before it has a token."""

    def test_versions(self):
        url = self.useFixture(placement_fixture.Placement(threads=4)).url
        for address in (url, url + '/'):
            version = requests.get(address).json()['versions'][0]
            self.assertEqual(('1.0', '1.39'), (version['min_version'], version['max_version']))

    def test_nothing_else(self):
        url = self.useFixture(placement_fixture.Placement(threads=4)).url
        self.assertEqual(401, requests.get(url + '/resource_providers').status_code)

    def test_links_have_the_prefix(self):
        url = self.useFixture(placement_fixture.Placement(threads=4)).url
        provider = {'uuid': runtime.new_uuid(), 'name': 'host'}
        answer = requests.post(url + '/resource_providers', json=provider, headers=ADMIN)
        hrefs = {link['href'].split('/')[1] for link in answer.json()['links']}
        self.assertEqual({'placement'}, hrefs)


class DatabaseTest(testtools.TestCase):
    """One process, several databases one after the other."""

    def providers(self, app):
        with http.Http({'/': app}) as server:
            answer = requests.get(server.url + '/resource_providers', headers=ADMIN)
            return [item['name'] for item in answer.json()['resource_providers']]

    def create(self, app, name):
        with http.Http({'/': app}) as server:
            answer = requests.post(
                server.url + '/resource_providers', json={'name': name}, headers=ADMIN
            )
            self.assertEqual(200, answer.status_code)

    def make(self, name):
        return placement.make_app(f'sqlite:///{self.directory}/{name}', auth_strategy='noauth')

    def test_keystone_has_a_limit(self):
        conf = placement.make_conf('sqlite://', 'keystone', keystone={})
        self.assertEqual(10, conf.keystone_authtoken.http_connect_timeout)

    def test_each_application_uses_its_own(self):
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.create(self.make('one'), 'first')
        self.create(self.make('two'), 'second')
        self.assertEqual(['first'], self.providers(self.make('one')))
        self.assertEqual(['second'], self.providers(self.make('two')))


class ThreadsTest(testtools.TestCase):
    """On SQLite, many threads at once get answers, not `database is locked`."""

    def test_readers_and_writers(self):
        server = self.useFixture(placement_fixture.Placement(threads=8))
        statuses = []

        def work(number):
            with requests.Session() as session:
                session.headers.update(ADMIN)
                for turn in range(10):
                    body = {'name': f'{number}-{turn}'}
                    statuses.append(
                        session.post(server.url + '/resource_providers', json=body).status_code
                    )
                    statuses.append(
                        session.get(
                            server.url + '/allocation_candidates?resources=VCPU:1'
                        ).status_code
                    )

        threads = [runtime.spawn(work, number) for number in range(8)]
        for thread in threads:
            thread.join()
        self.assertEqual([200] * 160, statuses)

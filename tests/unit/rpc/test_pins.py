"""A newer side of an interface talks to an older one, over the embedded bus."""

import json

from oslo_versionedobjects import fields
import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import rpc
from nova_lite import runtime
from nova_lite import versions
from nova_lite.lab import memory_broker
from nova_lite.objects import base
from nova_lite.rpc import pins
from nova_lite.rpc import serializer
from nova_lite.rpc import transport
from tests.fixtures import releases


@base.Registry.register_if(False)
class Part(base.Object):
    # 1.0: first version
    # 1.1: colour
    VERSION = '1.1'
    fields = {'name': fields.StringField(), 'colour': fields.StringField()}  # noqa: RUF012

    def obj_make_compatible(self, primitive, target_version):
        super().obj_make_compatible(primitive, target_version)
        if versions.pair(target_version) < (1, 1):
            primitive.pop('colour', None)


@base.Registry.register_if(False)
class Whole(base.Object):
    # 1.0: first version
    # 1.1: Part 1.1
    VERSION = '1.1'
    fields = {'parts': fields.ListOfObjectsField('Part')}  # noqa: RUF012


class OlderAPI(rpc.Interface):
    topic, version = 'compute', '1.0'
    server_argument = 'host'

    @rpc.call(since='1.0')
    def add(self, ctxt, host, first):
        """Itself."""


class NewerAPI(rpc.Interface):
    topic, version = 'compute', '1.1'
    server_argument = 'host'

    @rpc.call(since='1.0', added={'second': '1.1'})
    def add(self, ctxt, host, first, second=0):
        """The sum."""

    @rpc.cast(since='1.1')
    def nudge(self, ctxt, host):
        """No answer."""


class Older:
    def __init__(self):
        self.seen = []

    def add(self, ctxt, host, first):
        self.seen.append(first)
        return first


class Newer:
    def __init__(self):
        self.seen = []
        self.nudged = runtime.Event()

    def add(self, ctxt, host, first, second=0):
        self.seen.append((first, second))
        return first + second

    def nudge(self, ctxt, host):
        self.nudged.set()


class PinsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(releases.Releases('Part', 'Whole'))
        self.conf = conf.make_conf(files=[])
        self.name = runtime.new_uuid()
        memory_broker.install()
        self.addCleanup(memory_broker.forget, self.name)
        self.ctxt = context.admin()
        self.older, self.newer = Older(), Newer()
        self.serve(OlderAPI, 'old', self.older)
        self.serve(NewerAPI, 'new', self.newer)

    def open(self):
        bus = transport.open_bus(self.conf, f'{transport.EMBEDDED}{self.name}')
        self.addCleanup(bus.cleanup)
        return bus

    def serve(self, interface, host, manager):
        server = interface.server(self.open(), host, manager)
        server.start(override_pool_size=1)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)

    def client(self, level=None, oldest=None):
        self.conf.set_override('compute', level, group='upgrade_levels')
        return NewerAPI(self.open(), oldest)

    def test_what_an_older_host_knows_goes_through(self):
        client = self.client('1.0')
        self.assertEqual(1, client.add(self.ctxt, 'old', 1))
        self.assertEqual(2, client.add(self.ctxt, 'old', 2, second=0))
        self.assertEqual(3, client.add(self.ctxt, 'new', 3))

    def test_what_it_does_not_know_is_refused_before_it_is_sent(self):
        client = self.client('1.0')
        error = self.assertRaises(exception.TooOld, client.add, self.ctxt, 'new', 1, second=2)
        self.assertEqual('conflict', error.kind)
        self.assertIn('a compute service does not support RPC version 1.1', str(error))
        self.assertRaises(exception.TooOld, client.nudge, self.ctxt, 'new')
        self.assertEqual([], self.newer.seen)
        self.assertFalse(self.newer.nudged.is_set())
        self.assertTrue(client.understands('add', 'first'))
        self.assertFalse(client.understands('add', 'first', 'second'))
        self.assertFalse(client.understands('nudge'))

    def test_without_a_pin_the_older_host_refuses_by_itself(self):
        client = self.client()
        self.assertEqual(1, client.add(self.ctxt, 'old', 1))
        self.assertEqual(3, client.add(self.ctxt, 'new', 1, second=2))
        self.assertRaises(exception.TooOld, client.add, self.ctxt, 'old', 1, second=2)
        self.assertEqual([1], self.older.seen)

    def test_the_oldest_service_decides(self):
        found = [1]
        client = self.client('auto', lambda: found[0])
        self.assertFalse(client.understands('nudge'))
        for found[0] in (2, 3, None):
            self.assertTrue(client.understands('nudge'), found)
        found[0] = 0
        self.assertFalse(client.understands('nudge'))
        versions.RELEASES.pop('1.1')
        self.assertTrue(self.client('auto', lambda: 1 / 0).understands('nudge'))

    def test_a_level_is_a_release_or_a_version(self):
        self.assertEqual('1.1', versions.pin('compute', '1.1').rpc)
        self.assertEqual('1.0', versions.pin('scheduler', '1.1').rpc)
        newest = versions.RELEASES['1.1']['objects']
        self.assertEqual(versions.Pin('1.7', newest), versions.pin('compute', '1.7'))
        for level in ('0.9', 'newest', '1'):
            self.assertRaises(ValueError, versions.pin, 'compute', level)

    def test_a_level_that_means_nothing_is_refused_at_the_start(self):
        pins.check(self.conf)
        for option, level in (('compute', 'newest'), ('scheduler', 'auto')):
            self.conf.set_override(option, level, group='upgrade_levels')
            error = self.assertRaises(ValueError, pins.check, self.conf)
            self.assertIn(f'[upgrade_levels]{option}: {level} is neither', str(error))
            self.conf.clear_override(option, group='upgrade_levels')


class ObjectsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(releases.Releases('Part', 'Whole'))
        known = base.Registry.obj_classes()
        for which in (Part, Whole):
            base.Registry.register(which)
            self.addCleanup(known.pop, which.__name__)
        self.conf = conf.make_conf(files=[])
        self.whole = Whole(parts=[Part(name='p', colour='red')])

    def sent(self, level, entity):
        self.conf.set_override('compute', level, group='upgrade_levels')
        found = serializer.ObjectSerializer(pins.Pins(self.conf, 'compute'))
        return found.serialize_entity(context.admin(), entity)

    def part(self, primitive):
        """(version, data) of the one part of a whole that was sent."""
        self.assertEqual(Whole.__name__, primitive['nova_lite.name'])
        (part,) = primitive['nova_lite.data']['parts']
        return part['nova_lite.version'], part['nova_lite.data']

    def test_they_are_sent_as_the_far_side_knows_them(self):
        found = self.sent('1.1', self.whole)
        self.assertEqual('1.1', found['nova_lite.version'])
        self.assertEqual(('1.1', {'name': 'p', 'colour': 'red'}), self.part(found))
        (found,) = self.sent('1.0', [self.whole])
        self.assertEqual('1.0', found['nova_lite.version'])
        self.assertEqual(('1.0', {'name': 'p'}), self.part(found))
        json.dumps(found)

    def test_what_is_within_a_plain_value_is_too(self):
        found = self.sent('1.0', {'wholes': [self.whole]})
        self.assertEqual(('1.0', {'name': 'p'}), self.part(found['wholes'][0]))

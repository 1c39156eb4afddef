"""Both ends of a declared interface, over the embedded bus."""

import errno
import socket
import ssl

from amqp import exceptions as amqp_exceptions
import fixtures
from kombu import exceptions as kombu_exceptions
import oslo_messaging
import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import rpc
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.objects import selection
from nova_lite.rpc import interface
from nova_lite.rpc import serializer
from nova_lite.rpc import transport


class Fetching:
    """Signatures of one subject."""

    @rpc.call(since='1.0', timeout='long_rpc_timeout')
    def fetch(self, ctxt, host, seconds):
        """One whose timeout is an option."""


class ToyAPI(Fetching, rpc.Interface):
    topic, version = 'toy', '1.1'
    server_argument = 'host'

    @rpc.call(since='1.0')
    def add(self, ctxt, host, first, second=2):
        """The sum."""

    @rpc.call(since='1.0', timeout=3600, silence=2)
    def work(self, ctxt, host, seconds):
        """Work for long, for a caller that does not wait for a dead host."""

    @rpc.cast(since='1.1')
    def nudge(self, ctxt, host, thing):
        """No answer."""


class Toy:
    def __init__(self):
        self.nudged, self.ended = runtime.Event(), runtime.Event()
        self.seen = []

    def add(self, ctxt, host, first, second=2):
        self.seen.append((ctxt.request_id, ctxt.epoch, host))
        if first is None:
            raise exception.InstanceNotFound(instance_id='some')
        if first == 'bug':
            raise KeyError('bug')
        if first == 'lost':
            raise exception.Unavailable(service='The database', reason='lost') from KeyError('x')
        return first + second

    def work(self, ctxt, host, seconds):
        runtime.wait(self.ended, seconds)
        return 'done'

    fetch = work

    def nudge(self, ctxt, host, thing):
        self.seen.append((host, thing))
        self.nudged.set()


# What amqp, kombu and the system raise for a connection to a broker.
LOST = (
    kombu_exceptions.OperationalError('refused'),
    amqp_exceptions.RecoverableConnectionError('unknown error'),
    amqp_exceptions.ConnectionForced('shut down'),
    ConnectionRefusedError(errno.ECONNREFUSED, 'Connection refused'),
    BrokenPipeError(errno.EPIPE, 'Broken pipe'),
    TimeoutError('timed out'),
    socket.gaierror(socket.EAI_AGAIN, 'Temporary failure in name resolution'),
    ssl.SSLEOFError(8, 'EOF occurred in violation of protocol'),
    OSError('Server unexpectedly closed connection'),
    OSError(errno.EHOSTUNREACH, 'No route to host'),
    OSError(errno.ENETUNREACH, 'Network is unreachable'),
    # Another thread has closed the socket.
    OSError(errno.EBADF, 'Bad file descriptor'),
    # The socket did not take a message in time.
    OSError(errno.EAGAIN, 'Resource temporarily unavailable'),
)
# What concerns no connection.
LOCAL = (
    OSError(errno.ENOENT, 'No such file or directory'),
    OSError(errno.EACCES, 'Permission denied'),
    OSError(errno.ENOSPC, 'No space left on device'),
    OSError(errno.EMFILE, 'Too many open files'),
    ChildProcessError(errno.ECHILD, 'No child processes'),
)


class AnyToyAPI(rpc.Interface):
    topic, version = 'any-toy', '1.0'
    server_argument = 'server'

    @rpc.call(since='1.0')
    def name(self, ctxt, server=None):
        """Return the name of the server that answers."""


class AnyToy:
    def name(self, ctxt, server=None):
        return server or 'whoever'


class FencedToyAPI(rpc.Interface):
    topic, version = 'fenced-toy', '1.0'

    @rpc.call(since='1.0', fenced=True)
    def change(self, ctxt):
        """Of a saga's step."""

    @rpc.call(since='1.0')
    def read(self, ctxt):
        """Of anybody."""


class ChangeCalls:
    def change(self, ctxt):
        return 'changed'


class FencedToy:
    """Its fence knows that the saga has an owner with epoch 2. A part of it answers `change`."""

    def __init__(self):
        self.fence = self
        self.parts = (ChangeCalls(),)

    def check(self, ctxt):
        if ctxt.saga is not None and ctxt.epoch < 2:
            raise exception.StaleEpoch(saga=ctxt.saga, seen=2, epoch=ctxt.epoch)

    def read(self, ctxt):
        return 'read'


class OlderToy:
    def add(self, ctxt, host, first):
        return first


class RenamedToy(Toy):
    def nudge(self, ctxt, host, other):
        pass


class InterfaceTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = conf.make_conf(files=[])
        self.name = runtime.new_uuid()
        memory_broker.install()
        self.addCleanup(memory_broker.forget, self.name)
        self.manager = Toy()
        self.bus = self.open()
        self.hosts = [f'host-{number}' for number in range(50)]
        server = ToyAPI.server(self.bus, self.hosts, self.manager)
        server.start(override_pool_size=4)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        self.client = ToyAPI(self.open())
        self.ctxt = context.admin()

    def open(self):
        bus = transport.open_bus(self.conf, f'{transport.EMBEDDED}{self.name}')
        self.addCleanup(bus.cleanup)
        return bus

    def test_one_listener_serves_every_host(self):
        for host in self.hosts:
            self.assertEqual(3, self.client.add(self.ctxt, host, 1))
        self.assertEqual(self.hosts, [host for _id, _epoch, host in self.manager.seen])

    def test_arguments_by_position_and_name(self):
        self.assertEqual(7, self.client.add(self.ctxt, 'host-1', 3, second=4))
        self.assertRaises(TypeError, self.client.add, self.ctxt, 'host-1')
        self.assertRaises(TypeError, self.client.add, self.ctxt, 'host-1', 1, third=3)

    def test_the_context_travels_with_saga_and_epoch(self):
        ctxt = self.ctxt.for_saga('saga', 7)
        self.client.add(ctxt, 'host-1', 1)
        self.assertEqual([(ctxt.request_id, 7, 'host-1')], self.manager.seen)

    def test_errors_of_ours_come_back_as_they_were(self):
        error = self.assertRaises(
            exception.InstanceNotFound, self.client.add, self.ctxt, 'host-1', None
        )
        self.assertEqual('Instance some could not be found.', str(error))
        self.assertIs(exception.InstanceNotFound, type(error))

    def test_other_errors_come_back_as_remote(self):
        error = self.assertRaises(
            exception.RemoteError, self.client.add, self.ctxt, 'host-1', 'bug'
        )
        self.assertIn('KeyError', str(error))

    def test_no_traceback_travels(self):
        """A caller that knows no class of ours gets all that is on the bus."""
        bus = oslo_messaging.get_rpc_transport(
            self.conf, url=transport.driver_url(f'{transport.EMBEDDED}{self.name}')
        )
        self.addCleanup(bus.cleanup)
        target = oslo_messaging.Target(topic='toy', server='host-1', version='1.0')
        client = oslo_messaging.get_rpc_client(
            bus, target, serializer=serializer.ObjectSerializer()
        )
        for first, kind in ((None, 'InstanceNotFound'), ('lost', 'Unavailable'), ('bug', 'Remote')):
            error = self.assertRaises(
                oslo_messaging.RemoteError, client.call, self.ctxt, 'add', host='h', first=first
            )
            self.assertIn(kind, error.exc_type)
            text = ''.join(error.traceback)
            self.assertNotIn(__file__, text)
            self.assertEqual(1, text.count('Traceback'), text)

    def test_services_that_are_away_are_one_line_of_a_cast(self):
        logger = self.useFixture(fixtures.FakeLogger())

        def nudge(ctxt, host, thing):
            raise exception.Unavailable(service='The database', reason='connection refused')

        labels = {'interface': 'ToyAPI', 'method': 'nudge'}
        method = interface._dispatch(ToyAPI.methods['nudge'], nudge, labels)
        self.assertIsNone(method(self.ctxt, host='host-1', thing=1))
        (line,) = logger.output.splitlines()
        self.assertIn('nudge failed: The database is not available', line)

    def test_objects_travel(self):
        thing = selection.Selection(
            service_host='h',
            nodename='n',
            compute_node_uuid=runtime.new_uuid(),
            cell_uuid=runtime.new_uuid(),
        )
        self.client.nudge(self.ctxt, 'host-2', [thing])
        self.assertTrue(runtime.wait(self.manager.nudged, 60))
        ((host, things),) = self.manager.seen
        self.assertEqual('host-2', host)
        self.assertEqual([thing.as_dict()], [each.as_dict() for each in things])

    def test_a_server_refuses_a_manager_that_differs(self):
        for manager in (OlderToy(), RenamedToy()):
            self.assertRaises(TypeError, ToyAPI.server, self.bus, 'host', manager)
        unfenced = FencedToy()
        del unfenced.fence
        partial = FencedToy()
        partial.parts = ()
        for manager in (unfenced, partial):
            self.assertRaises(TypeError, FencedToyAPI.server, self.bus, 'host', manager)

    def test_a_former_owner_of_a_saga_is_refused_by_fenced_methods(self):
        server = FencedToyAPI.server(self.open(), 'one', FencedToy())
        server.start(override_pool_size=1)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        client = FencedToyAPI(self.open())
        former = self.ctxt.for_saga('saga', 1)
        self.assertRaises(exception.StaleEpoch, client.change, former)
        self.assertEqual('read', client.read(former))
        for ctxt in (self.ctxt, self.ctxt.for_saga('saga', 2)):
            self.assertEqual('changed', client.change(ctxt))

    def test_a_server_may_be_named_or_not(self):
        server = AnyToyAPI.server(self.open(), 'one', AnyToy())
        server.start(override_pool_size=1)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        client = AnyToyAPI(self.open())
        self.assertEqual('whoever', client.name(self.ctxt))
        self.assertEqual('one', client.name(self.ctxt, server='one'))
        self.assertRaises(exception.Unavailable, client.name, self.ctxt, server='two')

    def test_a_call_that_nobody_listens_for_fails_at_once(self):
        error = self.assertRaises(exception.Unavailable, self.client.add, self.ctxt, 'stranger', 1)
        self.assertIn('no daemon serves its queue', str(error))
        self.assertIsNone(self.client.nudge(self.ctxt, 'stranger', None))

    def test_only_errors_of_connections_are_an_outage_of_the_bus(self):
        for error in (*LOST, *LOCAL):

            def fail(*_args, error=error, **_kwargs):
                raise error

            expected = exception.BusUnavailable if error in LOST else type(error)
            with self.subTest(repr(error)):
                self.assertRaises(expected, self.client._answer, fail, self.ctxt, 'add', {})

    def test_a_lost_call_ends_with_the_response_timeout(self):
        self.conf.set_override('rpc_response_timeout', 1)
        deaf = ToyAPI.server(self.open(), 'deaf', self.manager)
        deaf.start(override_pool_size=1)
        deaf.stop()
        deaf.wait()
        self.assertRaises(exception.MessagingTimeout, self.client.add, self.ctxt, 'deaf', 1)

    def test_a_timeout_that_is_configured(self):
        self.assertEqual('done', self.client.fetch(self.ctxt, 'host-1', 0))
        self.conf.set_override('long_rpc_timeout', 1)
        self.assertRaises(exception.MessagingTimeout, self.client.fetch, self.ctxt, 'host-1', 60)
        self.manager.ended.set()

    def test_a_call_lives_as_long_as_it_gives_signs_of_life(self):
        self.assertEqual('done', self.client.work(self.ctxt, 'host-1', 3))

    def test_a_process_that_died_with_a_call_is_not_waited_for(self):
        taken = runtime.Event()

        def take():
            queue = memory_broker.broker(self.name).queues[f'{ToyAPI.topic}.dead']
            while not queue:
                runtime.wait(taken, 0.01)
            queue.popleft()
            taken.set()

        server = ToyAPI.server(self.open(), 'dead', self.manager)
        server.start(override_pool_size=1)
        server.stop()
        server.wait()
        thread = runtime.spawn(take)
        began = runtime.monotonic()
        self.assertRaises(exception.MessagingTimeout, self.client.work, self.ctxt, 'dead', 0)
        thread.join()
        self.assertTrue(taken.is_set())
        self.assertLess(runtime.monotonic() - began, self.conf.rpc_response_timeout)

    def test_buses_do_not_see_each_other(self):
        other = transport.open_bus(self.conf, f'{transport.EMBEDDED}{self.name}-other')
        self.addCleanup(other.cleanup)
        manager = Toy()
        server = ToyAPI.server(other, 'host-1', manager)
        server.start(override_pool_size=1)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        ToyAPI(other).add(self.ctxt, 'host-1', 1)
        self.assertEqual(1, len(manager.seen))
        self.assertEqual([], self.manager.seen)

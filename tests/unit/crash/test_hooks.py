"""The hooks of the kill tables fit the daemons as they are."""

import fixtures
import testtools

from nova_lite.rpc import interface
from tests.crash import hooks
from tests.crash import points

SERVER = '5f2d6c3e-4f3e-4a57-9d43-9e3f3d2f1c55'


class Echo(interface.Interface):
    topic, version = 'echo', '1.0'

    @interface.call(since='1.0')
    def say(self, ctxt, instance_uuid):
        """Answer with the server."""


class Manager:
    def __init__(self):
        self.heard = []

    def say(self, ctxt, instance_uuid):
        self.heard.append(instance_uuid)
        return instance_uuid


class MethodsTest(testtools.TestCase):
    def endpoint(self, manager):
        dispatch = hooks._heard(interface._dispatch)
        self.useFixture(fixtures.MonkeyPatch('nova_lite.rpc.interface._dispatch', dispatch))
        return interface._endpoint(Echo, manager)

    def test_a_message_is_delivered_twice(self):
        self.useFixture(fixtures.EnvironmentVariable(hooks.TWICE, 'yes'))
        manager = Manager()
        self.assertEqual(SERVER, self.endpoint(manager).say({}, instance_uuid=SERVER))
        self.assertEqual([SERVER, SERVER], manager.heard)

    def test_a_method_tells_of_a_call(self):
        there = self.useFixture(points.Points())
        endpoint = self.endpoint(Manager())
        after = there.stop_at(
            SERVER, at=hooks.METHOD, method='say', when=hooks.AFTER, answer=hooks.FAIL
        )
        self.assertRaises(hooks.Injected, endpoint.say, {}, instance_uuid=SERVER)
        self.assertEqual('say', after.met['method'])
        self.assertEqual(SERVER, endpoint.say({}, instance_uuid=SERVER))

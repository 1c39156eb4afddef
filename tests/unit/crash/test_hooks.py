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
    def say(self, ctxt, instance_uuid):
        return instance_uuid


class MethodsTest(testtools.TestCase):
    def test_a_method_tells_of_a_call(self):
        there = self.useFixture(points.Points())
        dispatch = hooks._heard(interface._dispatch)
        self.useFixture(fixtures.MonkeyPatch('nova_lite.rpc.interface._dispatch', dispatch))
        endpoint = interface._endpoint(Echo, Manager())
        after = there.stop_at(
            SERVER, at=hooks.METHOD, method='say', when=hooks.AFTER, answer=hooks.FAIL
        )
        self.assertRaises(hooks.Injected, endpoint.say, {}, instance_uuid=SERVER)
        self.assertEqual('say', after.met['method'])
        self.assertEqual(SERVER, endpoint.say({}, instance_uuid=SERVER))

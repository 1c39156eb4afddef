"""A service that accepts connections and never answers, in the request of a user."""

import socket

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import session
from nova_lite.clients import waits
from tests.unit.clients import base


class SilentServiceTest(base.ClientTestCase):
    def setUp(self):
        super().setUp()
        listening = socket.create_server(('127.0.0.1', 0), backlog=20)
        self.addCleanup(listening.close)
        self.point('glance', 'http://127.0.0.1:%d' % listening.getsockname()[1], timeout=1)
        self.glance = session.Neighbour(self.credentials, 'glance', title='image')
        self.patch(waits, 'LEAST_S', 0.1)
        self.ctxt = context.RequestContext(user_id='user', project_id='project', roles=['member'])
        self.ctxt.waited = {}

    def test_all_calls_together_wait_once(self):
        """Before, only the first of these calls took six seconds."""
        began = runtime.monotonic()
        for method in ('GET', 'POST', 'DELETE'):
            self.assertRaises(exception.Unavailable, self.glance.call, self.ctxt, method, '/x')
        self.assertLess(runtime.monotonic() - began, 4)

    def test_the_next_call_has_what_is_left(self):
        limit = waits.Waits(self.ctxt.waited, 'image', 60)
        self.assertEqual((60, False), (limit.limit_s(), limit.are_over()))
        self.ctxt.waited.update(image=20, volume=50)
        self.assertEqual((40, False), (limit.limit_s(), limit.are_over()))
        self.ctxt.waited['image'] = 61
        self.assertEqual((waits.LEAST_S, True), (limit.limit_s(), limit.are_over()))

    def test_a_timeout_below_that_of_a_later_call(self):
        """No call waits longer than the option says, and calls that fail at once are repeated."""
        limit = waits.Waits(self.ctxt.waited, 'image', waits.LEAST_S / 2)
        for waited, is_over in ((0.0, False), (waits.LEAST_S / 4, False), (waits.LEAST_S, True)):
            self.ctxt.waited['image'] = waited
            self.assertEqual(is_over, limit.are_over())
            self.assertLessEqual(limit.limit_s(), waits.LEAST_S / 2)

    def test_where_no_user_waits(self):
        for waited, timeout in ((None, 60), ({}, None)):
            limit = waits.Waits(waited, 'image', timeout)
            self.assertEqual((None, False), (limit.limit_s(), limit.are_over()))

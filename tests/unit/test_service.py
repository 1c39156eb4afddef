"""The daemon's own behaviour, apart from what it serves."""

import fixtures
import testtools

from nova_lite import exception
from nova_lite import service


class ReloadTests(testtools.TestCase):
    def test_what_is_refused_leaves_the_rest(self):
        logger = self.useFixture(fixtures.FakeLogger())
        called = []

        def refuse():
            raise exception.Invalid(reason='no such profile')

        daemon = service.Daemon(
            'compute', None, reloading=[refuse, lambda: called.append('second')]
        )
        daemon.reload()
        self.assertEqual(['second'], called)
        self.assertIn('no such profile', logger.output)

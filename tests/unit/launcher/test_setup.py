"""Setup of a cloud: waiting for its hosts."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.launcher import setup
from tests.fixtures import clock

HOSTS = [f'host-{number}' for number in range(10000)]


class WaitTest(testtools.TestCase):
    """`up` asks seldom while many hosts are missing, and soon once few are."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.Installed(clock.PassingRuntime())).runtime
        self.looks = 0

    def wait(self, rate, **options):
        """Wait for hosts of which so many come in a second. Return the seconds."""
        began = runtime.monotonic()

        def find_missing():
            self.looks += 1
            return set(HOSTS[round(rate * (runtime.monotonic() - began)) :])

        setup._wait(find_missing, 'are missing', deadline=began + 1000, **options)
        return runtime.monotonic() - began

    def test_many(self):
        """The wait ends a tenth of the longest pause after the last host came, at most."""
        for rate in (99, 83, 61):
            self.looks = 0
            self.assertLess(self.wait(rate, longest_s=20), 10000 / rate + 2.1)
            self.assertLess(self.looks, 10000 / rate / 20 + 6)

    def test_few(self):
        self.assertLess(self.wait(100000, longest_s=20), 21)
        self.assertEqual(2, self.looks)

    def test_deadline(self):
        error = self.assertRaises(exception.Unavailable, self.wait, 0, longest_s=20)
        self.assertIn('10000 hosts are missing, for example host-0', str(error))

"""Setup of a cloud: waiting for its hosts."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import setup
from tests.fixtures import clock

HOSTS = [f'host-{number}' for number in range(10000)]


class WaitTest(testtools.TestCase):
    """`up` lists many hosts only when the last one is there."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.Installed(clock.PassingRuntime())).runtime
        self.looks, self.lists = 0, 0

    def wait(self, find, **options):
        """Wait for all hosts. find: returns those that are there after so many seconds.

        Return the seconds.
        """
        began = runtime.monotonic()

        def counted(name=None):
            there = find(runtime.monotonic() - began)
            if name is not None:
                self.looks += 1
                return {name} & there
            self.lists += 1
            return there

        setup._wait(HOSTS, counted, 'are missing', deadline=began + 1000, **options)
        return runtime.monotonic() - began

    def test_many(self):
        for rate in (99, 61):
            self.looks, self.lists = 0, 0
            took = self.wait(
                lambda passed, rate=rate: {*HOSTS[: round(rate * passed)]},
                look_s=0.5,
                one_first=True,
            )
            self.assertLess(took, 10000 / rate + 0.6)
            self.assertEqual(1, self.lists)

    def test_again(self):
        """Hosts that are there are found at once."""
        self.assertEqual(0, self.wait(lambda _: {*HOSTS}, one_first=True))
        self.assertEqual((1, 1), (self.looks, self.lists))

    def test_others_come_later_than_the_last(self):
        late = {HOSTS[7]: 3, HOSTS[9]: 5, HOSTS[-1]: 1}
        took = self.wait(
            lambda passed: {*HOSTS} - {host for host, at in late.items() if passed < at},
            one_first=True,
        )
        self.assertLess(took, 5.2)
        self.assertEqual(2, self.lists)

    def test_few(self):
        """Each look lists all."""
        self.assertLess(self.wait(lambda passed: {*HOSTS[: round(20000 * passed)]}), 0.7)
        self.assertEqual(0, self.looks)

    def test_deadline(self):
        """The error counts hosts that are missing at that time."""
        error = self.assertRaises(
            exception.Unavailable, self.wait, lambda _: {*HOSTS[3:9000]}, one_first=True
        )
        self.assertIn('1003 hosts are missing, for example host-0', str(error))
        self.assertEqual(1, self.lists)

"""Claims: what a node has promised follows from its guests and from builds under way."""

import fixtures
import testtools

from nova_lite import exception
from nova_lite.compute import claims
from nova_lite.virt import model
from nova_lite.virt.sim import driver as sim_driver

LIMITS = {'VCPU': 4, 'MEMORY_MB': 4096, 'DISK_GB': 10}
SMALL = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 0}
BIG = {'VCPU': 4, 'MEMORY_MB': 512, 'DISK_GB': 0}


class TestClaims(testtools.TestCase):
    def setUp(self):
        super().setUp()
        path = f'{self.useFixture(fixtures.TempDir()).path}/guests.sqlite'
        self.driver = sim_driver.SimDriver(path, ['node'], 'instant')
        self.addCleanup(self.driver.close)
        self.claims = claims.Claims(self.driver)

    def spawn(self, uuid):
        spec = model.GuestSpec(uuid, uuid, 'small', vcpus=1, memory_mb=512, disk_gb=0)
        self.driver.spawn('node', spec, key='key')

    def test_reads_guests(self):
        self.spawn('one')
        self.assertEqual(SMALL, self.claims.used('node'))

    def test_adds_up_to_the_limit(self):
        for name in 'abcd':
            self.claims.claim('node', name, SMALL, LIMITS)
        error = self.assertRaises(
            exception.NoCapacity, self.claims.claim, 'node', 'e', SMALL, LIMITS
        )
        self.assertIn('VCPU', error.message)
        self.assertTrue(error.reschedule)
        self.claims.release('node', 'a')
        self.claims.claim('node', 'e', SMALL, LIMITS)

    def test_repeated_claim_counts_once(self):
        self.claims.claim('node', 'a', BIG, LIMITS)
        self.claims.claim('node', 'a', BIG, LIMITS)
        self.assertEqual(BIG, self.claims.used('node'))

    def test_nothing_is_always_to_be_had(self):
        full = {**LIMITS, 'DISK_GB': -1}
        self.claims.claim('node', 'a', SMALL, full)

    def test_refresh_forgets_what_is_gone(self):
        self.spawn('there')
        self.claims.claim('node', 'building', SMALL, LIMITS)
        self.claims.claim('node', 'gone', SMALL, LIMITS)
        before = self.claims.held('node')
        self.claims.refresh('node', self.driver.list_guests('node'), {'building'}, before)
        self.assertEqual(2, self.claims.used('node')['VCPU'])

    def test_refresh_keeps_what_was_promised_since(self):
        self.claims.claim('node', 'arriving', SMALL, LIMITS)
        before = self.claims.held('node')
        guests = self.driver.list_guests('node')
        self.claims.claim('node', 'new', SMALL, LIMITS)
        self.claims.claim('node', 'arriving', dict(SMALL), LIMITS)
        self.claims.refresh('node', guests, set(), before)
        self.assertEqual({'new', 'arriving'}, set(self.claims.held('node')))

    def test_only_an_old_promise_is_released(self):
        self.claims.claim('node', 'old', SMALL, LIMITS)
        self.claims.claim('node', 'anew', SMALL, LIMITS)
        before = self.claims.held('node')
        self.claims.claim('node', 'anew', dict(SMALL), LIMITS)
        for guest in ('old', 'anew', 'nobody'):
            self.claims.release_old('node', guest, before)
        self.assertEqual({'anew'}, set(self.claims.held('node')))

    def test_release_of_the_unknown(self):
        self.claims.release('node', 'nobody')
        self.assertEqual(0, self.claims.used('node')['VCPU'])

"""Faults that are injected into a cloud whose hosts have a driver of another package."""

import testtools

from nova_lite import exception
from nova_lite import incarnation
from nova_lite.lab.control import embedded_faults
from nova_lite.lab.control import faults


class OtherDriverTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        cell = faults.Cell('cell1', 'embedded://cell1', database='sqlite://', hosts=('host',))
        self.faults = embedded_faults.Embedded(
            lambda: [cell], lambda: [object()], incarnation.Incarnation
        )

    def test_of_a_host(self):
        """It is refused, and not recorded."""
        self.assertRaises(exception.NotImplementedHere, self.faults.add, {'verb': 'spawn'})
        self.assertEqual([], self.faults.show()['failures'])

    def test_of_a_request(self):
        """It needs no driver."""
        self.assertEqual(1, self.faults.add({'service': 'placement', 'status': 503}))
        self.faults.heal()
        self.assertEqual([], self.faults.show()['failures'])

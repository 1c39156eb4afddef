"""The table of the real and the tuned placement."""

import testtools

from tools import tuned_placement


class TableTest(testtools.TestCase):
    def test_medians_and_gains(self):
        real = [dict.fromkeys(tuned_placement.FIGURES, value) for value in (9.0, 20.0, 30.0)]
        tuned = [dict.fromkeys(tuned_placement.FIGURES, value) for value in (5.0, 10.0, 10.0)]
        lines = tuned_placement.table({'real': real, 'tuned': tuned}).splitlines()
        self.assertEqual(['20.0', '10.0', '2.00'], lines[1].split()[-3:])
        self.assertEqual(
            ['boots/s,', '16', 'in', 'flight', '20.0', '10.0', '0.50'], lines[3].split()
        )

    def test_a_cloud_needs_two_hosts(self):
        self.assertRaises(SystemExit, tuned_placement.main, ['--hosts', '1'])

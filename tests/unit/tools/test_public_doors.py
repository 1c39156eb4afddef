"""The table of what undocumented names save."""

import testtools

from tools import public_doors


class TableTest(testtools.TestCase):
    def test_more_cpu_in_percent(self):
        measured = {
            'boot-16': {
                public_doors.ALL: [(100, 50), (200, 90), (100, 60)],
                'kombu': [(999, 60), (999, 100), (999, 62)],
            }
        }
        self.assertEqual(
            ['boot-16: 100.0 ms of CPU', '  without kombu: +5.0 % (+4 to +8)'],
            public_doors.table(measured).splitlines(),
        )

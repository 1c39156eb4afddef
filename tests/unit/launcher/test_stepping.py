"""What commands of the debugger refuse before they ask a cloud."""

import testtools

from nova_lite import exception
from nova_lite.launcher import stepping


class ChangeTest(testtools.TestCase):
    def test_not_all_of_a_server(self):
        """Its breakpoints cannot be listed or removed apart from others."""
        point = {'server': 'a', 'kind': None, 'step': None}
        for remove in (None, 'all', 7):
            error = self.assertRaises(
                exception.Invalid, stepping.change, '/none', remove=remove, as_json=False, **point
            )
            self.assertIn('take neither a server nor --kind', str(error))

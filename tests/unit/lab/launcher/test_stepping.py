"""Commands of the debugger: refusals before a cloud is asked, and waits for one."""

import contextlib
import io

import fixtures
import testtools

from nova_lite import exception
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import stepping


class ChangeTest(testtools.TestCase):
    def test_not_all_of_a_server(self):
        """Its breakpoints cannot be listed or removed apart from others."""
        point = {'server': 'a', 'kind': None, 'step': None}
        for remove in (None, 'all', 7):
            error = self.assertRaises(
                exception.Invalid, stepping.change, '/none', remove=remove, as_json=False, **point
            )
            self.assertIn('take neither a server nor --kind', str(error))


class WaitTest(testtools.TestCase):
    def wait(self, state, *, frozen):
        """Wait for a saga in a state. Return the exit code, and what is printed to stderr."""
        directory = self.useFixture(fixtures.TempDir()).path
        places = layout.Layout(layout.Settings(state_dir=directory))
        places.hold()
        self.addCleanup(places.release)
        made = endpoint.Endpoint(directory)
        saga = {'kind': 'resize', 'server': 's', 'uuid': 'u', 'step': 'x', 'before': None}
        made.add('GET', 'saga', lambda _wanted: {**saga, 'state': state}, schema={})
        made.add('GET', 'clock', lambda _none: {'frozen': frozen})
        made.open()
        self.addCleanup(made.close)
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
            code = stepping.wait(directory, 's', timeout_s=0.1, as_json=False)
        return code, printed.getvalue()

    def test_a_frozen_clock_is_reported_once(self):
        code, printed = self.wait('parked', frozen=True)
        self.assertEqual((1, 1), (code, printed.count('is frozen')))
        self.assertIn('nova-lite clock resume', printed)
        self.assertEqual((1, ''), self.wait('parked', frozen=False))
        self.assertEqual((1, ''), self.wait('done', frozen=True))

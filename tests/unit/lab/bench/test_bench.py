"""nova-lite bench: what it does without a cloud."""

import contextlib
import io
import types

import testtools
from testtools import matchers

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import moves
from nova_lite.lab.bench import results
from tests.fixtures import terminal

ARGS = types.SimpleNamespace(
    scenario='live-migrate',
    concurrency=2,
    state_dir='/nowhere',
    also=[],
    count=3,
    waiting=0,
    poll=0.02,
)


class TogetherTest(testtools.TestCase):
    def test_failures_are_counted_too(self):
        """A bar on a terminal ends full, whatever became of each."""

        def act(_measured, uuid):
            if uuid == 'bad':
                raise exception.Conflict(reason='no')

        tty = terminal.Terminal(self)
        measured = results.Measured('live-migrate: to ACTIVE', ARGS.state_dir, ())
        with contextlib.redirect_stderr(tty.stream):
            done = moves.LiveMigrate(None, ARGS).together(measured, ['a', 'bad', 'b'], act)
        self.assertEqual(['a', 'b'], done)
        self.assertEqual(1, len(measured.failures))
        shown = tty.text()
        self.assertIn('live-migrate: to ACTIVE', shown)
        self.assertIn('3/3', shown)


class Deaf(client.Client):
    """A client of a cloud that has gone."""

    def __init__(self):
        self.base, self._headers, self._local = 'http://127.0.0.1:1', {}, runtime.Local()


class ClientTest(testtools.TestCase):
    def test_a_cloud_that_has_gone(self):
        error = self.assertRaises(exception.Unavailable, Deaf().call, 'GET', '/servers')
        self.assertIn('127.0.0.1', str(error))


class SpeedTest(testtools.TestCase):
    def test_figures_tell_how_fast_the_machine_was(self):
        measured = results.Measured('boot', '/nowhere', ())
        measured.begin()
        measured.end(1)
        before, after = measured.as_dict()['arithmetic_ms']
        self.assertThat(before, matchers.GreaterThan(0))
        self.assertThat(after, matchers.GreaterThan(0))
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            measured.print(as_json=False)
        self.assertIn(f'arithmetic: {before:.1f} ms before', shown.getvalue())

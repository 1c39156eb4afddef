"""A stopped saga that is to be lost, and something that comes in between."""

import types

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.control import debugger as debugger_module
from nova_lite.lab.control import stopping
from nova_lite.lab.testclock import clock as test_clock
from nova_lite.saga import breakpoints
from tests.unit.saga import test_engine


class KillHereTest(test_engine.EngineTestCase):
    def setUp(self):
        super().setUp()
        # What happens while the other super-conductor starts.
        self.meanwhile = lambda: None
        self.debugger = debugger_module.Debugger(start_other=lambda: self.meanwhile())
        self.one = self.engine()
        world = types.SimpleNamespace(api_db=self.database, cells=None)
        self.manager = types.SimpleNamespace(world=world, engine=self.one)
        self.debugger.attach(self.manager)
        self.patch(self.one, 'submit', lambda uuid: None)
        self.debugger.find = lambda _saga, step: 1 if step == 'third' else None
        self.one.run(self.uuid)

    def go(self):
        self.debugger.go_on(self.server, breakpoints.GO)

    def kill_here(self):
        self.debugger.kill_here(self.server)

    def test_somebody_lets_it_go_on(self):
        """It is not lost then, whenever the engine asks."""
        self.meanwhile = self.go
        write, asked = self.database.write, []

        def ask(*args):
            asked.append(self.debugger.kills(self.uuid))
            return write(*args)

        self.patch(self.database, 'write', ask)
        self.assertRaises(stopping.NotStopped, self.kill_here)
        self.assertEqual([False], asked)
        self.assertEqual('done', self.one.run(self.uuid))

    def test_a_frozen_clock(self):
        """Requests are answered nevertheless."""
        for name in ('AGAIN_S', 'BEGUN_S'):
            self.patch(stopping, name, 0.05)
        frozen = test_clock.Clock()
        frozen.freeze()
        with runtime.install(frozen):
            self.assertRaises(exception.Unavailable, self.kill_here)

    def test_the_database_fails(self):
        """A later `go` does not lose it."""
        write = self.database.write

        def fail(*_args):
            raise OSError('the disk is full')

        self.patch(self.database, 'write', fail)
        self.assertRaises(OSError, self.kill_here)
        self.patch(self.database, 'write', write)
        self.go()
        self.assertEqual('done', self.one.run(self.uuid))

"""Breakpoints of a cloud of processes, which a super-conductor reads from the API database."""

import os
import signal

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.lab.control import process_debugger
from nova_lite.lab.control import stopping
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from tests.unit.saga import test_engine


class ProcessDebuggerTest(test_engine.EngineTestCase):
    def setUp(self):
        super().setUp()
        conf = conf_module.make_conf(files=[])
        url = self.database.engine.url.render_as_string(hide_password=False)
        conf.set_override('connection', url, 'api_database')
        self.debugger = process_debugger.ProcessDebugger(conf)
        self.addCleanup(self.debugger.close)
        self.patch(kinds, 'KINDS', {**kinds.KINDS, 'toy': test_engine.Toy})
        self.patch(kinds, 'steps', lambda _kind: test_engine.STEPS)

    def engine(self, owner='one'):
        made = super().engine(owner)
        made.debugger = process_debugger.Following(self.database)
        return made

    def stop_it(self):
        self.debugger.add('third', kind='toy')
        self.assertEqual('parked', self.engine().run(self.uuid))

    def test_stopped_and_continued(self):
        self.stop_it()
        shown = self.debugger.show()
        self.assertEqual(['third'], [each['step'] for each in shown['breakpoints']])
        self.assertEqual([self.uuid], [each['uuid'] for each in shown['stopped']])
        self.assertEqual('third', self.debugger.show_saga(uuid=self.uuid)['before'])
        self.debugger.go_on(self.server, breakpoints.STEP)
        self.assertEqual('parked', self.engine('two').run(self.uuid))
        self.assertEqual('fourth', self.debugger.show_saga(uuid=self.uuid)['before'])
        self.debugger.remove()
        self.assertEqual([], self.debugger.show()['breakpoints'])
        self.debugger.go_on(self.server, breakpoints.GO)
        self.assertEqual('done', self.engine('two').run(self.uuid))

    def test_a_service_stops_at_none(self):
        """It has no debugger, and goes on with what is stopped."""
        self.stop_it()
        self.debugger.go_on(self.server, breakpoints.GO)
        self.debugger.add('fourth', kind='toy')
        self.assertEqual('done', super().engine('service').run(self.uuid))

    def test_killed(self):
        """The process that continues the saga dies, and its lease stays."""
        self.stop_it()

        def die():
            pid = os.fork()
            if not pid:
                # The connections of the parent are not shared.
                url = self.database.engine.url.render_as_string(hide_password=False)
                self.database = self.journal.db = transactions.Database(url)
                self.engine('two').run(self.uuid)
                os._exit(0)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        codes = []
        self.patch(self.debugger, '_submit', lambda _uuid: codes.append(die()))
        with runtime.install(runtime.Runtime()):
            lost = self.debugger.kill_here(self.server)
        self.assertEqual([-signal.SIGKILL], codes)
        self.assertEqual('two', lost['lost_by'])
        self.assertNotIn(('third', 'do'), self.world.log)

    def test_one_that_goes_on_is_not_lost(self):
        self.stop_it()
        self.debugger.go_on(self.server, breakpoints.GO)
        self.assertRaises(stopping.NotStopped, self.debugger.kill_here, self.server)
        self.assertEqual('done', self.engine().run(self.uuid))

"""The fixtures for ports and child processes."""

import os
import signal
import socket

import testtools

from tests.fixtures import imported
from tests.fixtures import ports
from tests.fixtures import processes

ECHO_SIGNALS = 'trap "echo got TERM; exit 3" TERM; echo ready; while :; do sleep 0.01; done'


class TestPort(testtools.TestCase):
    def test_two_are_never_the_same(self):
        numbers = {self.useFixture(ports.Port()).number for _ in range(20)}
        self.assertEqual(20, len(numbers))

    def test_given_back_after_cleanup(self):
        with ports.Port() as port:
            first = port.number
        self.assertEqual(first, self.useFixture(ports.Port()).number)

    def test_in_use_is_passed_over(self):
        with ports.Port() as port:
            number = port.number
        with socket.create_server(('127.0.0.1', number)):
            self.assertTrue(ports.listening(number))
            self.assertNotEqual(number, self.useFixture(ports.Port()).number)
        self.assertFalse(ports.listening(number))


class TestDaemon(testtools.TestCase):
    def _daemon(self, script, **kwargs):
        return self.useFixture(processes.Daemon(['sh', '-c', script], name='d', **kwargs))

    def _running(self, script, **kwargs):
        daemon = self._daemon(script, **kwargs)
        daemon.start()
        return daemon

    def test_stop_returns_the_exit_code(self):
        daemon = self._running(ECHO_SIGNALS)
        daemon.wait_for_log('ready', 60)
        self.assertEqual(3, daemon.stop())
        self.assertIn('got TERM', daemon.log_text())

    def test_stop_of_a_deaf_process_kills_and_says_so(self):
        daemon = self._running('trap "" TERM; echo ready; while :; do sleep 0.01; done')
        daemon.wait_for_log('ready', 60)
        self.assertRaises(processes.NotReady, daemon.stop, 0.1)
        self.assertFalse(daemon.running)

    def test_kill_reaches_children(self):
        daemon = self._running('sleep 1000 & echo $!; wait')
        child = int(daemon.wait_for(daemon.log_text, 10, 'child started'))
        daemon.kill()
        daemon.kill()
        self._wait_until_gone(child)

    def test_restart_keeps_log_and_changes_pid(self):
        daemon = self._running(ECHO_SIGNALS)
        daemon.wait_for_log('ready', 60)
        before = daemon.pid
        daemon.restart()
        daemon.wait_for(lambda: daemon.log_text().count('ready') == 2, 10, 'ready again')
        self.assertNotEqual(before, daemon.pid)
        self.assertEqual('%d\n' % daemon.pid, daemon.pid_file.read_text())

    def test_second_start_refused(self):
        daemon = self._running(ECHO_SIGNALS)
        self.assertRaises(RuntimeError, daemon.start)

    def test_waiting_for_a_process_that_ends_says_why(self):
        daemon = self._running('echo no such option; exit 7')
        error = self.assertRaises(processes.NotReady, daemon.wait_for, bool, 10, 'answers')
        self.assertIn('code 7', str(error))
        self.assertIn('no such option', str(error))

    def test_waiting_ends_with_the_time(self):
        daemon = self._running(ECHO_SIGNALS)
        self.assertRaises(processes.NotReady, daemon.wait_for, bool, 0.1, 'never')
        self.assertTrue(daemon.running)

    def test_paused_process_does_nothing(self):
        daemon = self._running('echo x; exec sleep 1000')
        daemon.wait_for_log('x', 60)
        daemon.pause()
        daemon.wait_for(lambda: _state(daemon.pid) == 'T', 10, 'stopped')
        daemon.resume()
        daemon.wait_for(lambda: _state(daemon.pid) != 'T', 10, 'going on')

    def test_environment_is_added(self):
        daemon = self._running('echo $COLOUR; echo $PATH', env={'COLOUR': 'blue'})
        self.assertEqual(0, daemon.wait(60))
        self.assertEqual(['blue', os.environ['PATH']], daemon.log_text().split())

    def test_gone_with_the_test_process(self):
        program = (
            'import os, signal\n'
            'from tests.fixtures import processes\n'
            "d = processes.Daemon(['sleep', '1000'], name='d')\n"
            'd.setUp(); d.start(); print(d.pid, flush=True)\n'
            'os.kill(os.getpid(), signal.SIGKILL)\n'
        )
        outer = self.useFixture(imported.Script(program, name='outer'))
        outer.start()
        self.assertEqual(-signal.SIGKILL, outer.wait(60))
        self._wait_until_gone(int(outer.log_text()))

    def _wait_until_gone(self, pid):
        bystander = self._running(ECHO_SIGNALS)
        bystander.wait_for(lambda: not _alive(pid), 10, 'process %d is gone' % pid)


def _state(pid):
    with open('/proc/%d/stat' % pid) as stat:
        return stat.read().rpartition(')')[2].split()[0]


def _alive(pid):
    try:
        return _state(pid) not in 'ZX'
    except FileNotFoundError:
        return False

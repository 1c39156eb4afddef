"""Tests for test_cases to have played: most of them fail, each in another way."""

import os
import signal
import socket

import testtools

from nova_lite import runtime

FILE = 'cloud/file'


class PlayedTest(testtools.TestCase):
    def test_passes(self):
        print('hours pass')
        before = runtime.now()
        runtime.sleep(1000)
        self.assertGreaterEqual((runtime.now() - before).total_seconds(), 1000)

    def test_fails(self):
        self.assertEqual('expected', 'found')

    def test_has_files_of_its_own(self):
        self.assertFalse(os.path.exists(FILE))
        with open(FILE, 'w') as file:
            file.write('text')

    def test_ends_with_a_signal(self):
        os.kill(int(os.readlink('/proc/self')), signal.SIGKILL)

    def test_ends_its_process(self):
        os._exit(0)

    def test_waits_for_ever(self):
        runtime.wait(runtime.Event())

    def test_never_ends(self):
        while True:
            runtime.sleep(1)

    def test_would_block(self):
        socket.create_connection(('127.0.0.1', 1))

    def test_meets_the_other(self):
        self.meet('one', 'other')

    def test_meets_one(self):
        self.meet('other', 'one')

    def meet(self, mine, others):
        """Wait for another test, with files beside the directories of the tests."""
        with open(f'../{mine}', 'w') as file:
            file.write('is here')
        while not os.path.exists(f'../{others}'):
            pass

    def test_waits_without_a_point(self):
        self.meet('alone', 'nobody')

    def test_is_skipped(self):
        self.skipTest('no reason')

"""The threads of servers within our own processes."""

import gc
import weakref

import fixtures
import requests
import testtools

from nova_lite import runtime
from nova_lite.daemons.wsgi import server

LONG_S = 60
AT_ONCE = 2


class PoolTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        # Requests of /wait are answered when it is set.
        self.opened = runtime.Event()
        self.addCleanup(self.opened.set)
        self.waiting = runtime.Semaphore(0)
        self.threads = []
        self.clients = runtime.executor(8)
        self.addCleanup(self.clients.shutdown)

    def serve(self):
        running = server.InProcess(self.answer, threads=AT_ONCE)
        running.start()
        self.addCleanup(running.stop)
        return running.url

    def answer(self, environ, start_response):
        self.threads.append(runtime.current_thread())
        if environ['PATH_INFO'] == '/wait':
            self.waiting.release()
            self.opened.wait(LONG_S)
        start_response('204 No Content', [])
        return []

    def ask(self, url):
        """Send a request in a thread; return the future of its status."""
        return self.clients.submit(lambda: requests.get(url, timeout=LONG_S).status_code)

    def test_requests_at_the_same_time(self):
        """Each has a thread; those beyond wait for one."""
        url = self.serve()
        asked = [self.ask(f'{url}/wait') for _number in range(AT_ONCE)]
        for _number in range(AT_ONCE):
            self.assertTrue(self.waiting.acquire(timeout=LONG_S))
        asked.append(self.ask(url))
        self.assertEqual(AT_ONCE, len(self.threads))
        self.opened.set()
        self.assertEqual([204] * 3, [each.result(LONG_S) for each in asked])
        self.assertEqual(AT_ONCE, len(set(self.threads)))

    def test_one_after_the_other(self):
        url = self.serve()
        for _number in range(5):
            self.assertEqual(204, self.ask(url).result(LONG_S))
        self.assertLessEqual(len(set(self.threads)), AT_ONCE)

    def test_an_idle_thread_ends(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.daemons.wsgi.thread_pool.IDLE_S', 0.01))
        url = self.serve()
        self.assertEqual(204, self.ask(url).result(LONG_S))
        self.threads[0].join(LONG_S)
        self.assertFalse(self.threads[0].is_alive())
        self.assertEqual(204, self.ask(url).result(LONG_S))
        self.assertEqual(2, len(set(self.threads)))

    def test_nothing_stays_of_a_thread_that_ended(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.daemons.wsgi.thread_pool.IDLE_S', 0.01))
        self.assertEqual(204, self.ask(self.serve()).result(LONG_S))
        ended = self.threads.pop()
        ended.join(LONG_S)
        ended = weakref.ref(ended)
        gc.collect()
        self.assertIsNone(ended())

    def test_the_system_has_no_thread_left(self):
        """The connection waits until there is one, for another connection."""
        refused = runtime.Event()

        def refuse(_thread):
            refused.set()
            raise RuntimeError("can't start new thread")

        url = self.serve()
        with fixtures.MonkeyPatch('cheroot.workers.threadpool.WorkerThread.start', refuse):
            first = self.ask(url)
            self.assertTrue(refused.wait(LONG_S))
        self.assertEqual(204, self.ask(url).result(LONG_S))
        self.assertEqual(204, first.result(LONG_S))

"""Histories that have their start in common: it is lived through once, in a zygote.

A zygote is a process with a history of its own. At one of its scheduling points it waits for
requests. For each it forks a child, which continues there as the history of another seed.
Simulated threads are greenlets of one real thread, so that the fork has all of them.
"""

import collections
import contextlib
import ctypes
import functools
import itertools
import os
import pickle
import random
import signal
import socket
import tempfile

from tests.sim.kernel import core
from tests.sim.kernel import runner
from tests.sim.kernel import streams

# Of no history: what is drawn in the start is not drawn again.
SEED = -1
LIMIT_S = 3600
READY = b'ready'


class Zygotes:
    """The body of histories that begin where one of several starts ends.

    key_of(seed): what the start of that history depends on
    body(key, number, branch): lives through the start, calls `branch()`, which returns in
        the process of a history, and goes on with that; number: of the start, for names
    most: how many are kept; of those that are not held, the one that was used the longest time
        ago is ended for another, and its histories with it
    first(branch): what all starts have in common whose key is not None, lived through once;
        each is then a child of it, in which `branch()` returns what is to be called
    watchdog_s: of starts, see runner.History
    """

    def __init__(self, key_of, body, *, most=None, first=None, watchdog_s=runner.WATCHDOG_S):
        self._key_of, self._body, self.most = key_of, body, most
        self._first, self._watchdog_s = first, watchdog_s
        self._root = None
        self._made = {}
        self._held = collections.Counter()
        self._numbers = itertools.count()

    def start(self, child):
        """Start the process of a runner.Child and return its id."""
        perturbed = child.options.get('perturbed', False)
        with self._dropped_if_failed(child.seed, perturbed, child.pipe) as found:
            return found.fork(child)

    def is_ready(self, seed):
        """Begin the start of a seed's history, and return whether it has ended.

        Raise RuntimeError if it failed.
        """
        with self._dropped_if_failed(seed) as found:
            return found.is_ready()

    @contextlib.contextmanager
    def hold(self, seed):
        """Keep the start of a seed's history meanwhile."""
        key = self._key_of(seed)
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1

    @contextlib.contextmanager
    def _dropped_if_failed(self, seed, perturbed=False, pipe=None):
        """The zygote of a seed, which is dropped if its start fails. pipe: see Zygote"""
        key = self._key_of(seed), perturbed
        found = self._made.pop(key, None)
        if found is None:
            self._make_room()
            found = self._new(key[0], perturbed, pipe)
        # The one that was used last comes last.
        self._made[key] = found
        try:
            yield found
        except RuntimeError:
            del self._made[key]
            raise

    def _make_room(self):
        idle = [key for key in self._made if not self._held[key[0]]]
        if idle and self.most is not None and len(self._made) >= self.most:
            self._made.pop(idle[0]).kill()

    def _new(self, key, perturbed, pipe):
        body = functools.partial(self._body, key, next(self._numbers))
        make = functools.partial(Zygote, watchdog_s=self._watchdog_s, pipe=pipe)
        if self._first is None or key is None:
            return make(body, perturbed)
        if self._root is None:
            self._root = make(self._first, False)
        return make(body, perturbed, within=self._root)

    def close(self):
        """End the zygotes, whose histories have ended."""
        while self._made:
            self._made.popitem()[1].kill()
        if self._root is not None:
            self._root.kill()
            self._root = None


class Zygote:
    """A process that waits where the start of histories ends. body: called with `branch`

    pipe: of a runner.Child, which it must not keep open
    within: the Zygote whose child it is; None for one of this process
    """

    def __init__(self, body, perturbed, *, watchdog_s, pipe=None, within=None):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._is_ready = False

        def live():
            self._socket.close()
            if pipe is not None:
                os.close(pipe)
            body(functools.partial(_branch, theirs))

        self._history = runner.History(
            SEED,
            live if within is None else _Within(within, body, theirs),
            limit_s=LIMIT_S,
            perturbed=perturbed,
            watchdog_s=watchdog_s,
        )
        theirs.close()

    def is_ready(self, wait_s=0):
        """Return whether the start has ended. Raise RuntimeError if it failed."""
        if not self._is_ready:
            if runner.readable([self._socket], wait_s):
                self._receive()
                self._is_ready = True
            elif self._history.ended():
                self._fail()
        return self._is_ready

    def _receive(self):
        answer = self._socket.recv(1 << 10)
        if not answer:
            self._fail()
        return answer

    def _fail(self):
        raise RuntimeError('the start of histories failed: %s' % self.join().failure)

    def fork(self, child, *, body=None, requests=()):
        """Start the process of a runner.Child and return its id.

        body, requests: of another zygote that begins there, and where it is sent requests
        """
        while not self.is_ready(runner.POLL_S):
            pass
        with tempfile.TemporaryFile() as request:
            request.write(pickle.dumps((child.seed, child.options, body)))
            request.flush()
            descriptors = [request.fileno(), child.pipe, child.progress, child.stacks]
            descriptors += [each.fileno() for each in requests]
            socket.send_fds(self._socket, [READY], descriptors)
            return int(self._receive())

    def kill(self):
        """End it. Its socket may be open in others, so it may not notice that it is closed."""
        # First: it is gone at once if it notices.
        self._history.kill()
        self._socket.close()
        self._history.reap()

    def join(self):
        """Wait until it has ended; return its Outcome."""
        return self._history.join()


class _Within:
    """The body of a zygote that is the child of another, as runner.History takes it."""

    def __init__(self, zygote, body, requests):
        self._zygote, self._body, self._requests = zygote, body, requests

    def start(self, child):
        """Start the process of a runner.Child and return its id."""
        return self._zygote.fork(child, body=self._body, requests=[self._requests])


def _branch(requests):
    """Wait for requests; return in the child that is forked for each.

    Return what is to be called there, if that is another zygote; else None.
    """
    kernel = core.active
    # os.getpid returns that of a simulated process.
    parent = ctypes.CDLL(None).getpid()
    # Children are not waited for: their parents see that their pipes are closed.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Once for all children: to release what was written copies much of their memory.
    kernel.journal.begin()
    requests.send(READY)
    while True:
        _, descriptors, _, _ = socket.recv_fds(requests, 1 << 10, 5)
        if not descriptors:
            kernel.end()
        pid = _fork()
        if not pid:
            requests.close()
            # The pipe of the zygote's own outcome, which ends when the zygote does.
            os.close(kernel.pipe)
            return _continue(kernel, descriptors, parent)
        requests.send(b'%d' % pid)
        for descriptor in descriptors:
            os.close(descriptor)


def _fork():
    """Fork without what Python does in a child: simulated threads do not end there."""
    return ctypes.PyDLL(None).fork()


def _continue(kernel, descriptors, parent):
    """Begin the history that is requested; return what else is to be called, or None."""
    request, pipe, progress, stacks, *requests = descriptors
    with open(request, 'rb') as file:
        file.seek(0)
        seed, options, body = pickle.load(file)  # noqa: S301 our own
    child = runner.Child(seed, options, pipe, progress, stacks)
    runner.lay_out(options)
    child.equip(kernel, parent=parent, **runner.reporting(options))
    kernel.begin(seed, **options)
    random.seed(streams.derived(seed, 'random'))
    if body is None:
        return None
    theirs = socket.socket(fileno=requests[0])
    return functools.partial(body, functools.partial(_branch, theirs))

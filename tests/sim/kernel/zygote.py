"""Histories that have their start in common: it is lived through once, in a zygote.

A zygote is a process with a history of its own. At one of its scheduling points it waits for
requests. For each it forks a child, which continues there as the history of another seed.
Simulated threads are greenlets of one real thread, so that the fork has all of them.
"""

import ctypes
import functools
import itertools
import os
import pickle
import random
import select
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
    most: how many are kept; the one that was used the longest time ago is ended for another,
        and its histories with it, so that one runs at a time
    first(branch): what all starts have in common whose key is not None, lived through once;
        each is then a child of it, in which `branch()` returns what is to be called
    """

    def __init__(self, key_of, body, *, most=None, first=None):
        self._key_of, self._body, self._most = key_of, body, most
        self._first = first
        self._root = None
        self._made = {}
        self._numbers = itertools.count()

    def start(self, child):
        """Start the process of a runner.Child and return its id."""
        perturbed = child.options.get('perturbed', False)
        key = self._key_of(child.seed), perturbed
        found = self._made.pop(key, None)
        if found is None:
            if len(self._made) == self._most:
                self._made.pop(next(iter(self._made))).kill()
            found = self._new(key[0], perturbed, child)
        # The one that was used last comes last.
        self._made[key] = found
        return found.fork(child)

    def _new(self, key, perturbed, child):
        body = functools.partial(self._body, key, next(self._numbers))
        if self._first is None or key is None:
            return Zygote(body, perturbed, child)
        if self._root is None:
            self._root = Zygote(self._first, False, child)
        return Zygote(body, perturbed, child, within=self._root)

    def close(self):
        """End the zygotes, whose histories have ended."""
        while self._made:
            self._made.popitem()[1].kill()
        if self._root is not None:
            self._root.kill()
            self._root = None


class Zygote:
    """A process that waits where the start of histories ends. body: called with `branch`

    child: the runner.Child for which it is made; it must not keep its pipe open
    within: the Zygote whose child it is; None for one of this process
    """

    def __init__(self, body, perturbed, child, *, within=None):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def live():
            self._socket.close()
            os.close(child.pipe)
            body(functools.partial(_branch, theirs))

        self._history = runner.History(
            SEED,
            live if within is None else _Within(within, body, theirs),
            limit_s=LIMIT_S,
            perturbed=perturbed,
            watchdog_s=child.watchdog_s,
        )
        theirs.close()
        while not select.select([self._socket], [], [], runner.POLL_S)[0]:
            self._history.ended()
        self._receive()

    def _receive(self):
        answer = self._socket.recv(1 << 10)
        if not answer:
            raise RuntimeError('the start of histories failed: %s' % self.join().failure)
        return answer

    def fork(self, child, *, body=None, requests=()):
        """Start the process of a runner.Child and return its id.

        body, requests: of another zygote that begins there, and where it is sent requests
        """
        with tempfile.TemporaryFile() as request:
            request.write(pickle.dumps((child.seed, child.options, body)))
            request.flush()
            descriptors = [request.fileno(), child.pipe, child.progress, child.stacks]
            descriptors += [each.fileno() for each in requests]
            socket.send_fds(self._socket, [READY], descriptors)
            return int(self._receive())

    def kill(self):
        """End it. Its socket may be open in others, so it would not notice that it is closed."""
        self._socket.close()
        self._history.kill()
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
    on_line = options.pop('on_line', None)
    child.equip(kernel, on_line, parent=parent)
    kernel.begin(seed, **options)
    random.seed(streams.derived(seed, 'random'))
    if body is None:
        return None
    theirs = socket.socket(fileno=requests[0])
    return functools.partial(body, functools.partial(_branch, theirs))

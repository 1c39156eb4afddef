"""Run histories, each in a child process, and collect their outcomes.

The child has what the parent has imported and prepared, and ends without cleaning up: what
killed threads hold and what the history has changed in modules costs nothing. The parent
watches that it makes progress; one that does not, because a library blocks for real or a loop
has no scheduling point, is killed, and the outcome has the stack of where it stood.
"""

import contextlib
import ctypes
import dataclasses
import faulthandler
import functools
import gc
import json
import mmap
import os
import random
import select
import signal
import sys
import tempfile
import threading
import time
import traceback

from tests.sim.kernel import core
from tests.sim.kernel import streams

# Real seconds without a switch between threads after which a history is given up. In the gate a
# history gets only what the processes of higher priority leave of the processors.
WATCHDOG_S = 120
POLL_S = 0.2
DUMP = signal.SIGUSR2
# Of <sys/prctl.h>.
PR_SET_PDEATHSIG = 1


@dataclasses.dataclass
class Outcome:
    """The end of a history. `failure` is '' when it passed, else the finding and its place.

    `choices` are those that had an effect: (stream, number, what); `run` can suppress them.
    `counts` is how often what happened, by what the body calls it.
    `log` and its hash are empty where the history was not to keep one.
    """

    seed: int
    ok: bool
    failure: str = ''
    log_hash: str = ''
    virtual_s: float = 0.0
    real_s: float = 0.0
    cpu_s: float = 0.0
    points: int = 0
    switches: int = 0
    counts: dict = dataclasses.field(default_factory=dict)
    choices: list = dataclasses.field(default_factory=list)
    log: list = dataclasses.field(default_factory=list)


def run(seed, body, **options):
    """Live through one history: call `body()` in its first thread; return its Outcome.

    Options: see History. Without body's return within `limit_s` virtual seconds, with an
    error it raises, or after `kernel.fail`, it has failed.
    """
    history = History(seed, body, **options)
    return history.join()


def run_many(seeds, body, jobs=1, options_of=None, **options):
    """Live through one history per seed, `jobs` at a time; yield outcomes as they come.

    options_of(seed, options): returns the options of one of them
    """
    seeds = iter(seeds)
    running = []
    try:
        yield from _run_all(seeds, body, running, (jobs, options_of, options))
    finally:
        # After an interrupt, or when the caller has found enough.
        for history in running:
            history.kill()


def _run_all(seeds, body, running, settings):
    jobs, options_of, options = settings
    while True:
        while len(running) < jobs and (seed := next(seeds, None)) is not None:
            own = options_of(seed, options) if options_of else options
            running.append(History(seed, body, **own))
        if not running:
            return
        readable([history.pipe for history in running], POLL_S)
        for history in list(running):
            if history.ended():
                running.remove(history)
                yield history.outcome


def readable(files, timeout_s=None):
    """Wait, outside of histories, until some of these can be read or end; return them."""
    return select.select(files, [], [], timeout_s)[0]


class History:
    """A child process and what it has sent so far.

    chooser: a name of choosers.CHOOSERS; suppressed: choices that must have no effect;
    on_line: called with each line of the log, in the child; keeps_log: whether the outcome has
    the log, by default it has; perturbed: lay out memory by chance, so that whatever depends on
    addresses shows
    """

    def __init__(self, seed, body, *, watchdog_s=WATCHDOG_S, **options):
        self.seed = seed
        self.outcome = None
        self._watchdog_s = watchdog_s
        self._received = []
        self._stuck = False
        # Where the child's interpreter writes stacks when it is stuck or crashes.
        self._stacks = tempfile.TemporaryFile()  # noqa: SIM115
        counter = tempfile.TemporaryFile()  # noqa: SIM115
        counter.truncate(mmap.PAGESIZE)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pipe, write = os.pipe()
        child = Child(
            seed, options, write, counter.fileno(), self._stacks.fileno(), watchdog_s=watchdog_s
        )
        self._progress = child.counter()
        start = getattr(body, 'start', None) or functools.partial(self._fork, body)
        self._pid = start(child)
        self._started = self._changed = time.monotonic()
        self._seen = self._progress[0]
        os.close(write)
        counter.close()

    def _fork(self, body, child):
        parent = os.getpid()
        pid = os.fork()
        if not pid:
            os.close(self.pipe)
            _live(child, body, parent)
        return pid

    def ended(self):
        """Read what the child has sent; return whether it has ended."""
        while readable([self.pipe], 0):
            data = os.read(self.pipe, 1 << 20)
            if not data:
                self._finish()
                return True
            self._received.append(data)
        now = time.monotonic()
        if self._progress[0] != self._seen or self._received:
            self._seen, self._changed = self._progress[0], now
        elif now - self._changed > self._watchdog_s:
            os.kill(self._pid, DUMP)
            time.sleep(POLL_S)
            os.kill(self._pid, signal.SIGKILL)
            self._stuck, self._changed = True, now
        return False

    def join(self):
        """Wait until the child has ended; return its Outcome."""
        while self.outcome is None and not self.ended():
            readable([self.pipe], POLL_S)
        return self.outcome

    def kill(self):
        """End it without an outcome, unless it has ended."""
        if self.outcome is None:
            os.kill(self._pid, signal.SIGKILL)
            os.close(self.pipe)

    def reap(self):
        """Wait for the process that was killed, if it is a child of this one."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _finish(self):
        os.close(self.pipe)
        try:
            _, status = os.waitpid(self._pid, 0)
        except ChildProcessError:
            # It is not ours, but a zygote's.
            status = None
        real_s = time.monotonic() - self._started
        if self._received and not self._stuck:
            sent = json.loads(b''.join(self._received))
            self.outcome = Outcome(seed=self.seed, real_s=real_s, **sent)
        else:
            self._stacks.seek(0)
            text = self._stacks.read().decode()
            failure = 'no progress, ended with status %s\n%s' % (status, text)
            self.outcome = Outcome(self.seed, False, failure, real_s=real_s)
        self._stacks.close()


@dataclasses.dataclass
class Child:
    """The arguments of the process of a history. pipe, progress, stacks: descriptors"""

    seed: int
    options: dict
    pipe: int
    progress: int
    stacks: int
    watchdog_s: float = WATCHDOG_S

    def counter(self):
        """The memory in which parent and child count what the child has done."""
        return memoryview(mmap.mmap(self.progress, mmap.PAGESIZE)).cast('Q')

    def equip(self, kernel, *, parent, on_line=None, keeps_log=True):
        """Connect this process to the receiver of reports on a history, given by `Child`.

        on_line, keeps_log: see History
        parent: id of the process that forked this one. This one ends with it, since it may be
            interrupted before it knows of this process
        """
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            # It ended before the kernel was told.
            os._exit(1)
        faulthandler.enable(self.stacks)
        faulthandler.register(DUMP, self.stacks, all_threads=True)
        kernel.progress = self.counter()
        kernel.journal.on_line = on_line
        if not keeps_log and on_line is None:
            # Nobody reads it.
            kernel.log = _nothing
        kernel.pipe = self.pipe
        kernel.on_end = functools.partial(self._send, kernel, keeps_log)

    def _send(self, kernel, keeps_log, failure):
        result = {
            'ok': not failure,
            'failure': failure or '',
            'log_hash': kernel.journal.hash() if keeps_log else '',
            'virtual_s': kernel.elapsed_s(),
            'cpu_s': sum(os.times()[:2]),
            'points': kernel.points(),
            'switches': kernel.switches,
            'choices': kernel.effective_choices(),
            'counts': kernel.journal.counts,
            'log': kernel.journal.lines() if keeps_log else [],
        }
        with open(self.pipe, 'wb') as pipe:
            pipe.write(json.dumps(result).encode())
        sys.stdout.flush()
        os._exit(0)


def _nothing(*_arguments):
    """Stand in for what writes a log."""


def _live(child, body, parent):
    """Live through a history; does not return."""
    # Finalizers must not run at moments that depend on the memory of an interpreter.
    gc.disable()
    options = dict(child.options)
    lay_out(options)
    report = reporting(options)
    kernel = core.Kernel(child.seed, **options)
    child.equip(kernel, parent=parent, **report)
    core.active = kernel
    kernel.start(lambda: _first_thread(kernel, body))


def lay_out(options):
    """Put objects at other addresses if the options of a history say so."""
    if options.pop('perturbed', False):
        _kept.extend(_junk())


def reporting(options):
    """Take those for `Child.equip` from the options of a history; return them."""
    return {name: options.pop(name) for name in ('on_line', 'keeps_log') if name in options}


_kept = []


def _junk():
    """Return objects that leave the free memory in holes and the heap elsewhere."""
    # Seeded by the system once: to ask it 400,000 times takes a second.
    generator = random.Random(random.SystemRandom().getrandbits(64))
    made = [bytearray(generator.randrange(600)) for _ in range(200_000)]
    generator.shuffle(made)
    return made[: len(made) // 2]


def _first_thread(kernel, body):
    root = kernel.running
    main = threading.main_thread()
    main._simulated, main._ident = root, root.number
    threading._active = {root.number: main}
    random.seed(streams.derived(kernel.seed, 'random'))
    try:
        _with_runtime(kernel, body)
    except BaseException:
        kernel.fail(traceback.format_exc())
    kernel.end()


def _with_runtime(kernel, body):
    if 'nova_lite.runtime' not in sys.modules:
        body()
        return
    from nova_lite import runtime
    from tests.sim.kernel import answers

    with runtime.install(answers.Runtime(kernel)):
        body()

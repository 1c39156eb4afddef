"""The locks of `_thread` and `threading`, on the kernel's scheduler.

A lock made while a history runs is a scheduling point: before it is acquired and after it is
released. One made before (of a module, of logging) is none, and each process has its own, as
if each had imported the module itself: a process that is frozen while it holds such a lock
does not stop the others. Models that several processes share need no locks at all.

Whoever may take a lock that is released is up to the chooser, as all who wait become ready.
"""

from tests.sim.kernel import core


def deadline_in(kernel, timeout):
    """Return when the calling thread's wait ends, in true time; None for never."""
    if timeout is None or timeout < 0:
        return None
    return kernel.here.deadline_us(timeout)


def _require_sense(blocking, timeout):
    if not blocking:
        raise ValueError("can't specify a timeout for a non-blocking call")
    if timeout < 0:
        raise ValueError('timeout value must be a non-negative number')


class Lock:
    """`_thread.lock`: whoever may release it."""

    __slots__ = ('__weakref__', '_count', '_holder', '_quiet', '_waiters')
    # The class of those made before the history.
    static: type

    def __new__(cls):
        """Make the kind that fits the moment."""
        kind = cls.static if core.active is None else cls
        lock = object.__new__(kind)
        lock._reset(quiet=False)
        return lock

    def _reset(self, quiet):
        self._holder = None
        self._count = 0
        self._waiters = []
        self._quiet = quiet

    def acquire(self, blocking=True, timeout=-1):
        """Return whether the lock was acquired."""
        if timeout != -1:
            _require_sense(blocking, timeout)
        kernel = core.active
        if not self._quiet:
            # As `kernel.point('acquire')`, which is called where it does more than count: most
            # points are those of locks.
            if kernel.left > 1 and not kernel.hooks:
                kernel.left -= 1
            else:
                kernel.point('acquire')
        me = kernel.running
        if self._holder is None:
            self._holder, self._count = me, 1
            me.home.held[self] = None
            return True
        return self._take(me) or (blocking and self._wait(me, timeout))

    def _wait(self, me, timeout):
        kernel = core.active
        deadline = deadline_in(kernel, timeout)
        while True:
            self._waiters.append(me)
            if not kernel.block('lock of %s' % self._holder.name, deadline):
                if me in self._waiters:
                    self._waiters.remove(me)
                return self._take(me)
            if self._take(me):
                return True

    def _take(self, me):
        if self._holder is not None:
            return False
        self._holder, self._count = me, 1
        me.home.held[self] = None
        return True

    # The arguments are those of `__exit__`.
    def release(self, _kind=None, _error=None, _traceback=None):
        """Release the lock."""
        if self._holder is None:
            raise RuntimeError('release unlocked lock')
        self._free()

    def _free(self):
        del self._holder.home.held[self]
        self._holder = None
        kernel = core.active
        if self._waiters:
            waiters, self._waiters = self._waiters, []
            for thread in waiters:
                kernel.wake(thread)
        if not self._quiet:
            if kernel.left > 1 and not kernel.hooks:
                kernel.left -= 1
            else:
                kernel.point('release')

    def abandon(self, _process):
        """Release the lock of a thread of a process that was killed."""
        self._count = 0
        self._free()

    def locked(self):
        """Return whether anyone holds the lock."""
        return self._holder is not None

    def _at_fork_reinit(self):
        self._reset(self._quiet)

    __enter__, __exit__ = acquire, release
    acquire_lock, release_lock, locked_lock = acquire, release, locked


class RLock(Lock):
    """`_thread.RLock`: its holder may acquire it again."""

    __slots__ = ()

    def _take(self, me):
        if self._holder is me:
            self._count += 1
            return True
        return super()._take(me)

    def release(self, _kind=None, _error=None, _traceback=None):
        if self._holder is not core.active.running:
            raise RuntimeError('cannot release un-acquired lock')
        self._count -= 1
        if not self._count:
            self._free()

    __exit__ = release

    def _is_owned(self):
        return self._holder is core.active.running

    def _recursion_count(self):
        return self._count if self._is_owned() else 0

    def _release_save(self):
        count, self._count = self._count, 0
        self._free()
        return count

    def _acquire_restore(self, count):
        self.acquire()
        self._count = count


class StaticLock(Lock):
    """A lock made before the history: one of its own for each process, without points."""

    __slots__ = ('_own',)
    kind = Lock

    def _reset(self, quiet):
        # Before the history there is one thread and one lock.
        self._own = {}
        self._quiet = True

    def _mine(self):
        kernel = core.active
        process = None if kernel is None else kernel.running.home
        lock = self._own.get(process)
        if lock is None:
            lock = self._own[process] = object.__new__(self.kind if process else SetUp)
            lock._reset(quiet=True)
        return lock

    def acquire(self, blocking=True, timeout=-1):
        return self._mine().acquire(blocking, timeout)

    def release(self, _kind=None, _error=None, _traceback=None):
        self._mine().release()

    def locked(self):
        return self._mine().locked()

    __enter__, __exit__ = acquire, release
    acquire_lock, release_lock, locked_lock = acquire, release, locked

    def __getattr__(self, name):
        """Offer what `kind` has for conditions."""
        return getattr(self._mine(), name)


class StaticRLock(StaticLock):
    """Of the kind that its holder may acquire again."""

    __slots__ = ()
    kind = RLock


class SetUp:
    """A counter in place of a lock while there is only one thread."""

    __slots__ = ('_count',)

    def _reset(self, quiet):
        self._count = 0

    def acquire(self, blocking=True, timeout=-1):
        """Count; a lock that is not released would block whoever comes after."""
        self._count += 1
        return True

    def release(self):
        """Count."""
        if not self._count:
            raise RuntimeError('release unlocked lock')
        self._count -= 1

    def locked(self):
        """Return whether it was acquired."""
        return self._count > 0

    def _is_owned(self):
        return self._count > 0


Lock.static, RLock.static = StaticLock, StaticRLock

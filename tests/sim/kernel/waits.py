"""Condition, Event and the semaphores of `threading`, on the kernel's scheduler.

Shorter in points than the originals, which are made of locks, and the same in each version
of Python.
"""

from tests.sim.kernel import core
from tests.sim.kernel import locks


def _kernel(what):
    kernel = core.active
    if kernel is None:
        raise RuntimeError('%s would block for ever: no history runs' % what)
    return kernel


class Condition:
    """`threading.Condition`."""

    def __init__(self, lock=None):
        self._lock = locks.RLock() if lock is None else lock
        self.acquire, self.release = self._lock.acquire, self._lock.release
        self._waiters = []

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_error):
        self.release()

    def _at_fork_reinit(self):
        self._lock._at_fork_reinit()
        self._waiters.clear()

    def _is_owned(self):
        owned = getattr(self._lock, '_is_owned', None)
        return self._lock.locked() if owned is None else owned()

    def wait(self, timeout=None):
        """Release the lock, wait to be notified, acquire it; return False after `timeout`."""
        if not self._is_owned():
            raise RuntimeError('cannot wait on un-acquired lock')
        kernel = _kernel('Condition.wait')
        deadline = locks.deadline_in(kernel, None if timeout is None else max(0, timeout))
        me = [kernel.running]
        self._waiters.append(me)
        saved = self._released()
        while me and kernel.block('condition', deadline):
            pass
        notified = not me
        if not notified:
            self._waiters.remove(me)
        self._acquired(saved)
        return notified

    def _released(self):
        save = getattr(self._lock, '_release_save', None)
        if save is not None:
            return save()
        self._lock.release()
        return None

    def _acquired(self, saved):
        if saved is None:
            self._lock.acquire()
        else:
            self._lock._acquire_restore(saved)

    def wait_for(self, predicate, timeout=None):
        """Wait until `predicate()` holds, at most `timeout`; return its last value."""
        result = predicate()
        if result:
            return result
        kernel = _kernel('Condition.wait_for')
        process = kernel.here
        end = None if timeout is None else process.monotonic_us() / 10**6 + timeout
        while not result:
            left = None if end is None else end - process.monotonic_us() / 10**6
            if left is not None and left <= 0:
                break
            self.wait(left)
            result = predicate()
        return result

    def notify(self, n=1):
        """Wake `n` of those that wait, the first ones first."""
        if not self._is_owned():
            raise RuntimeError('cannot notify on un-acquired lock')
        waiting = [waiter for waiter in self._waiters if not waiter[0].stopped()]
        woken, self._waiters = waiting[:n], waiting[n:]
        for waiter in woken:
            core.active.wake(waiter.pop())

    def notify_all(self):
        """Wake all that wait."""
        self.notify(len(self._waiters))

    notifyAll = notify_all  # noqa: N815


class Event:
    """`threading.Event`."""

    def __init__(self):
        self._flag = False
        self._waiters = []

    def _at_fork_reinit(self):
        self._waiters.clear()

    def is_set(self):
        """Return whether it was set."""
        return self._flag

    isSet = is_set  # noqa: N815

    def set(self):
        """Set it and wake all that wait."""
        self._flag = True
        kernel = core.active
        if kernel is None:
            return
        waiters, self._waiters = self._waiters, []
        for thread in waiters:
            kernel.wake(thread)
        kernel.point('set')

    def clear(self):
        """Take it back."""
        self._flag = False

    def wait(self, timeout=None):
        """Wait until it is set, at most `timeout`; return whether it is."""
        if self._flag and core.active is None:
            return True
        kernel = _kernel('Event.wait')
        kernel.point('wait')
        if self._flag:
            return True
        deadline = locks.deadline_in(kernel, None if timeout is None else max(0, timeout))
        me = kernel.running
        self._waiters.append(me)
        if not kernel.block('event', deadline) and me in self._waiters:
            self._waiters.remove(me)
        # As the original: set and cleared at once, it still wakes.
        return self._flag or me.woken


class Semaphore:
    """`threading.Semaphore`."""

    def __init__(self, value=1):
        if value < 0:
            raise ValueError('semaphore initial value must be >= 0')
        self._value = value
        self._waiters = []

    def acquire(self, blocking=True, timeout=None):
        """Return whether the semaphore was acquired."""
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        kernel = _kernel('Semaphore.acquire')
        kernel.point('acquire')
        deadline = locks.deadline_in(kernel, timeout)
        me = kernel.running
        while not self._value:
            if not blocking:
                return False
            self._waiters.append(me)
            if not kernel.block('semaphore', deadline):
                if me in self._waiters:
                    self._waiters.remove(me)
                if not self._value:
                    return False
        self._value -= 1
        held = kernel.running.home.held
        held[self] = held.get(self, 0) + 1
        return True

    __enter__ = acquire

    def release(self, n=1):
        """Release it `n` times."""
        if n < 1:
            raise ValueError('n must be one or more')
        kernel = _kernel('Semaphore.release')
        held = kernel.running.home.held
        left = held.pop(self, 0) - n
        if left > 0:
            held[self] = left
        self._add(n)
        kernel.point('release')

    def _add(self, n):
        self._value += n
        waiters, self._waiters = self._waiters, []
        for thread in waiters:
            core.active.wake(thread)

    def abandon(self, process):
        """Release it as often as threads of a process that was killed have acquired it."""
        self._add(process.held.pop(self))

    def __exit__(self, *_error):
        self.release()


class BoundedSemaphore(Semaphore):
    """`threading.BoundedSemaphore`."""

    def __init__(self, value=1):
        super().__init__(value)
        self._most = value

    def release(self, n=1):
        if self._value + n > self._most:
            raise ValueError('Semaphore released too many times')
        super().release(n)

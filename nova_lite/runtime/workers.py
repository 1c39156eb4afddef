"""A pool of threads that end when they have had no work for a while.

Those of Python's own pool stay until the process ends, each with its stack and the memory that
the C library keeps for it. A busy minute would cost tens of megabytes from then on.

The threads are daemons: a process that ends without `shutdown(wait=True)` does not wait for them.
Their work is repeated later, as after a crash.
"""

import collections
from collections.abc import Callable
import functools
import typing

from oslo_log import log

from nova_lite import runtime

LOG = log.getLogger(__name__)
# A thread ends after so long without work.
IDLE_S = 20.0

_Result = typing.TypeVar('_Result')


class _Task:
    """A call, and the future that gets its outcome."""

    def __init__(self, future: runtime.Future[typing.Any], call: Callable[[], typing.Any]) -> None:
        self.future, self._call = future, call

    def run(self) -> None:
        """Make the call and set the future's result, unless the future was cancelled."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._call()
        except BaseException as error:
            self.future.set_exception(error)
            # The traceback of the error refers to this frame.
            del self.future
        else:
            self.future.set_result(result)


class _Worker:
    """A thread of a pool. task: the _Task that it runs next; given: notified when it is set"""

    def __init__(self, lock: runtime.Lock, task: _Task) -> None:
        self.task: _Task | None = task
        self.given = runtime.Condition(lock, idle=True)
        self.thread: runtime.Thread | None = None

    def give(self, task: _Task) -> None:
        """Give the thread a task and wake it. The caller holds the lock."""
        self.task = task
        self.given.notify()


class Executor(runtime.Executor):
    """A pool of at most `max_workers` threads. The thread that idled least gets the next task."""

    def __init__(self, max_workers: int) -> None:
        self._most = max_workers
        # Guards all of the following, and the tasks of workers.
        self._lock = runtime.Lock()
        self._tasks: collections.deque[_Task] = collections.deque()
        self._workers: list[_Worker] = []
        # The workers that wait for a task. The last one has waited least.
        self._idle: list[_Worker] = []
        self._is_shut_down = False

    def submit(
        self, call: Callable[..., _Result], /, *args: typing.Any, **kwargs: typing.Any
    ) -> runtime.Future[_Result]:
        """Call a function in a thread; return the future of its result."""
        future: runtime.Future[_Result] = runtime.Future()
        task = _Task(future, functools.partial(call, *args, **kwargs))
        with self._lock:
            if self._is_shut_down:
                raise RuntimeError('The pool of threads is shut down')
            if self._idle:
                self._idle.pop().give(task)
            elif len(self._workers) >= self._most or not self._start(task):
                self._tasks.append(task)
        return future

    def _start(self, task: _Task) -> bool:
        """Start a thread for a task. Return False if no thread can be started but some are busy."""
        worker = _Worker(self._lock, task)
        try:
            worker.thread = runtime.spawn(self._work, worker, name='worker')
        except RuntimeError:
            if not self._workers:
                raise
            return False
        self._workers.append(worker)
        return True

    def _work(self, worker: _Worker) -> None:
        while self._wait(worker):
            self._run(worker)

    def _run(self, worker: _Worker) -> None:
        """Run the task of a worker. Keep no reference to it while the thread waits for the next."""
        task, worker.task = worker.task, None
        if task is not None:
            task.run()

    def _wait(self, worker: _Worker) -> bool:
        """Wait until the worker has a task. Return False if its thread is to end instead."""
        if worker.task is not None:
            return True
        with self._lock:
            if self._tasks:
                worker.task = self._tasks.popleft()
            elif not self._is_shut_down:
                self._idle.append(worker)
                worker.given.wait_for(lambda: worker.task or self._is_shut_down, IDLE_S)
                if worker.task is None:
                    self._idle.remove(worker)
            if worker.task is None:
                self._workers.remove(worker)
                return False
        return True

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls.

        wait: return only when all threads have ended
        cancel_futures: cancel the calls that have not begun; otherwise they are made
        """
        with self._lock:
            self._is_shut_down = True
            cancelled = list(self._tasks) if cancel_futures else []
            if cancel_futures:
                self._tasks.clear()
            for worker in self._idle:
                worker.given.notify()
            threads = [worker.thread for worker in self._workers if worker.thread is not None]
        for task in cancelled:
            task.future.cancel()
        for thread in threads if wait else ():
            thread.join()


class Line:
    """Calls that one thread makes, one after the other. most: number of calls that may wait"""

    def __init__(self, most: int) -> None:
        self._thread, self._most = Executor(1), most
        self._lock = runtime.Lock()
        self._waiting = 0
        self.is_closed = False

    def put(self, call: Callable[..., object], /, *args: typing.Any) -> bool:
        """Make a call soon; after `close` never. Return False if too many calls wait."""
        with self._lock:
            if self.is_closed:
                return True
            if self._waiting >= self._most:
                return False
            self._waiting += 1
            self._thread.submit(self._make, call, *args)
            return True

    def _make(self, call: Callable[..., object], *args: typing.Any) -> None:
        try:
            call(*args)
        except Exception:
            # The future of the call, which has the error, is not read.
            LOG.exception('A call in a thread has failed: %r', call)
        finally:
            with self._lock:
                self._waiting -= 1

    def close(self) -> None:
        """Drop the calls that wait and all later calls."""
        with self._lock:
            self.is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def finish(self, last: Callable[[], object], seconds: float) -> None:
        """Make the calls that wait and then `last`. Wait at most `seconds`; raise its error."""
        with self._lock:
            if self.is_closed:
                return
            self.is_closed = True
            ended = self._thread.submit(last)
        runtime.wait_all([ended], seconds)
        self._thread.shutdown(wait=False)
        if ended.done():
            ended.result()

"""The worker of ThreadPoolExecutor, the same in each version of Python.

Python 3.12 asks its queue once more than 3.11 does; that alone would make another schedule of
every seed.
"""

from concurrent.futures import thread as original
import queue


def worker(executor_reference, work_queue, initializer, initargs):
    """Run what is submitted, as `concurrent.futures.thread._worker` does."""
    if initializer is not None:
        try:
            initializer(*initargs)
        except BaseException:
            original._base.LOGGER.critical('Exception in initializer:', exc_info=True)
            executor = executor_reference()
            if executor is not None:
                executor._initializer_failed()
            return
    while True:
        item = _next(executor_reference, work_queue)
        if item is not None:
            item.run()
            del item
            continue
        executor = executor_reference()
        if original._shutdown or executor is None or executor._shutdown:
            if executor is not None:
                executor._shutdown = True
            # The next worker ends, too.
            work_queue.put(None)
            return
        del executor


def _next(executor_reference, work_queue):
    try:
        return work_queue.get_nowait()
    except queue.Empty:
        executor = executor_reference()
        if executor is not None:
            executor._idle_semaphore.release()
        del executor
        return work_queue.get(block=True)


def replacements():
    """Yield (module, {name: replacement}) for the versions whose worker has this signature."""
    names = original._worker.__code__.co_varnames[: original._worker.__code__.co_argcount]
    if names == worker.__code__.co_varnames[: worker.__code__.co_argcount]:
        yield original, {'_worker': worker}

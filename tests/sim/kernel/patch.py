"""Replace what can block, choose or read a clock, before anything else is imported.

`apply` is to be called first in an interpreter of its own (`reexecute`). Outside of a history
every replacement does what the original did, but for locks, which only count, and threads,
which cannot be started.
"""

import _queue
import _thread
from concurrent.futures import _base as futures
import importlib._bootstrap
import itertools
import logging
import os
import queue
import sys
import threading
import types

from tests.sim.kernel import clocks
from tests.sim.kernel import core
from tests.sim.kernel import guards
from tests.sim.kernel import local
from tests.sim.kernel import locks
from tests.sim.kernel import pool
from tests.sim.kernel import waits

HASH_SEED = '0'
# The types of locks that modules made when they were imported before `apply`.
REAL_LOCKS = {type(_thread.allocate_lock()): locks.Lock, type(_thread.RLock()): locks.RLock}


def reexecute():
    """Start this program again if the hashes of strings are not the same in every run."""
    if os.environ.get('PYTHONHASHSEED') == HASH_SEED:
        return
    environment = dict(os.environ, PYTHONHASHSEED=HASH_SEED)
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def apply():
    """Replace the primitives of the standard library in this interpreter."""
    early = [name for name in ('nova_lite', 'oslo_config', 'sqlalchemy') if name in sys.modules]
    if early:
        raise RuntimeError('imported before the kernel: %s' % ', '.join(early))
    replaced = {}
    for owner, replacements in (
        *clocks.replacements(),
        *guards.replacements(),
        *pool.replacements(),
        (_thread, _thread_replacements()),
        (threading, _threading_replacements()),
        (threading.Thread, {'start': _start, 'join': _join, 'is_alive': _is_alive}),
        (threading.Thread, {'__hash__': _number}),
        (futures.Future, {'__hash__': _number}),
        (queue, {'SimpleQueue': queue._PySimpleQueue}),
        (_queue, {'SimpleQueue': queue._PySimpleQueue}),
    ):
        for name, replacement in replacements.items():
            original = getattr(owner, name, None)
            if name != '__hash__':
                replaced[id(original)] = original, replacement
            setattr(owner, name, replacement)
    clocks.patch_types()
    # It takes the locks of several futures in the order of their addresses.
    futures.id = _number
    _patch_imported(replaced)
    for handler in logging._handlerList:
        handler().createLock()
    # The import system asks this name for the locks of modules.
    importlib._bootstrap._thread = types.SimpleNamespace(
        allocate_lock=lambda: _quiet(locks.Lock),
        RLock=lambda: _quiet(locks.RLock),
        get_ident=_get_ident,
    )


def _patch_imported(replaced):
    """Replace what modules imported so far have taken from those changed, and their locks."""
    replaced.pop(id(None), None)
    for name, module in list(sys.modules.items()):
        if name.startswith('tests.sim'):
            continue
        for key, value in list(vars(module).items()):
            original, replacement = replaced.get(id(value), (None, None))
            if original is value is not None:
                setattr(module, key, replacement)
            elif type(value) in REAL_LOCKS:
                setattr(module, key, REAL_LOCKS[type(value)]())


_numbers = itertools.count(1)


def _number(instance):
    """Return a hash that is the same in each run, unlike an address: pools keep sets."""
    number = instance.__dict__.get('_number')
    if number is None:
        number = instance._number = next(_numbers)
    return number


def _thread_replacements():
    return {
        'allocate_lock': locks.Lock,
        'allocate': locks.Lock,
        'lock': locks.Lock,
        'LockType': locks.Lock,
        'RLock': locks.RLock,
        'get_ident': _get_ident,
        'get_native_id': _get_ident,
        'start_new_thread': _start_new_thread,
        'start_new': _start_new_thread,
        '_local': local.Local,
    }


def _threading_replacements():
    return {
        'RLock': locks.RLock,
        '_PyRLock': locks.RLock,
        'Condition': waits.Condition,
        'Event': waits.Event,
        'Semaphore': waits.Semaphore,
        'BoundedSemaphore': waits.BoundedSemaphore,
        'active_count': _active_count,
        'enumerate': _enumerate,
    }


def _start_new_thread(function, args, kwargs=None):
    thread = threading.Thread(target=function, args=args, kwargs=kwargs or {}, daemon=True)
    thread.start()
    return thread.ident


def _quiet(kind):
    """Return a lock as if it had been made before the history."""
    lock = object.__new__(kind.static)
    lock._reset(quiet=True)
    return lock


_real_ident = _thread.get_ident


def _get_ident():
    kernel = core.active
    return _real_ident() if kernel is None else kernel.running.number


# Methods of threading.Thread


def _start(self):
    if self._started.is_set():
        raise RuntimeError('threads can only be started once')
    kernel = core.active
    if kernel is None:
        raise RuntimeError('thread %s started outside of a history' % self.name)
    kernel.point('start')
    thread = kernel.add_thread(lambda: _bootstrap(self), self.name, kernel.running.process)
    self._simulated = thread
    self._ident = self._native_id = thread.number
    threading._active[thread.number] = self
    self._started.set()


def _bootstrap(self):
    try:
        self.run()
    except SystemExit:
        return
    except BaseException as error:
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), self)))
        core.active.fail('thread %s failed: %s: %s' % (self.name, type(error).__name__, error))
    finally:
        del threading._active[self._ident]


def _join(self, timeout=None):
    thread = getattr(self, '_simulated', None)
    if thread is None:
        raise RuntimeError('cannot join thread before it is started')
    kernel = core.active
    if thread is kernel.running:
        raise RuntimeError('cannot join current thread')
    kernel.point('join')
    deadline = None
    if timeout is not None:
        deadline = kernel.running.process.deadline_us(max(0, timeout))
    if not thread.done:
        thread.joiners.append(kernel.running)
        kernel.block('end of %s' % thread.name, deadline)
        if kernel.running in thread.joiners:
            thread.joiners.remove(kernel.running)


def _is_alive(self):
    thread = getattr(self, '_simulated', None)
    if thread is None:
        return self is threading._main_thread
    return not thread.done


def _enumerate():
    kernel = core.active
    if kernel is None:
        return list(threading._active.values())
    home = kernel.running.home
    return [
        thread
        for thread in threading._active.values()
        if getattr(getattr(thread, '_simulated', None), 'home', None) is home
    ]


def _active_count():
    return len(_enumerate())

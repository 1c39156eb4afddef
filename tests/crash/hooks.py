"""Hooks of a daemon under test: it reports to the test where it is.

Before and after each step of a saga and each method called over the bus it asks the
test by a Unix socket whether to go on, and waits for the answer. Nothing of this is in
the daemons themselves: `tests.crash.daemons` start them with these hooks.
"""

import dataclasses
import functools
import json
import os
import socket

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga as saga_module
from nova_lite.api.servers import create_accept
from nova_lite.lifecycle import intents
from nova_lite.rpc import interface
from nova_lite.superconductor import manager as super_module

SOCKET = 'NOVA_LITE_TEST_POINTS'
TWICE = 'NOVA_LITE_TEST_TWICE'
BEFORE, AFTER = WHENS = ('before', 'after')
STEP, UNDO, METHOD, ACCEPT = 'step', 'undo', 'method', 'accept'
# What the API does before it answers that a move is accepted.
RECORD, BEGIN = ACCEPTING = ('record the saga', 'accept the move')
# And before it answers that servers are accepted.
STORE = 'store the servers'
GO, FAIL = 'go', 'fail'


class Injected(exception.NovaLiteError):
    """A failure that a test asked for."""

    msg = 'Injected: %(where)s'


def install():
    """Put the hooks into this process."""
    if os.environ.get(SOCKET):
        super_module.SuperConductor.make_saga = _telling(super_module.SuperConductor.make_saga)
        intents._record = _accepting(intents._record, RECORD)
        intents.begin = _accepting(intents.begin, BEGIN)
        create_accept.accept = _storing(create_accept.accept)
    if os.environ.get(SOCKET) or os.environ.get(TWICE):
        interface._dispatch = _heard(interface._dispatch)


def ask(**where):
    """Report to the test where this process is, and obey its answer."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ[SOCKET])
        line.sendall(json.dumps({**where, 'pid': os.getpid()}).encode() + b'\n')
        answer = line.makefile().readline().strip()
    if answer == FAIL:
        raise Injected(where=where)


# ---- sagas ----


def _telling(make_saga):
    """make_saga, whose sagas tell of each step."""

    @functools.wraps(make_saga)
    def make(self, record):
        saga = make_saga(self, record)
        plan = saga.steps
        saga.steps = lambda: tuple(_told(saga, step) for step in plan())
        return saga

    return make


def _told(saga, step):
    changes = {'do': _around(step.do, saga, step, STEP)}
    if step.undo is not None:
        changes['undo'] = _around(step.undo, saga, step, UNDO)
    return dataclasses.replace(step, **changes)


def _around(act, saga, step, what):
    where = {'at': what, 'uuid': saga.instance_uuid, 'kind': saga.kind, 'step': step.id}

    def told():
        ask(**where, when=BEFORE)
        result = act()
        if not isinstance(result, saga_module.Pending):
            ask(**where, when=AFTER)
        return result

    return told


# ---- the API ----


def _accepting(act, name):
    """One of the functions of `intents`, which tells of what it does."""

    @functools.wraps(act)
    def told(api_db, cell, ctxt, intent):
        where = {'at': ACCEPT, 'uuid': intent.instance_uuid, 'kind': intent.kind, 'step': name}
        ask(**where, when=BEFORE)
        result = act(api_db, cell, ctxt, intent)
        ask(**where, when=AFTER)
        return result

    return told


def _storing(accept):
    """create_accept.accept, which tells of what it does."""

    @functools.wraps(accept)
    def told(req, plan, *args):
        where = {'at': ACCEPT, 'uuid': plan.uuids[0], 'kind': 'create', 'step': STORE}
        ask(**where, when=BEFORE)
        result = accept(req, plan, *args)
        ask(**where, when=AFTER)
        return result

    return told


# ---- methods called over the bus ----


def _heard(dispatch):
    """_dispatch, whose methods tell of each call that is about a server."""

    @functools.wraps(dispatch)
    def make(declared, implementation, labels):
        method = dispatch(declared, implementation, labels)
        if os.environ.get(TWICE):
            method = delivered_twice(method)
        if not os.environ.get(SOCKET):
            return method

        @functools.wraps(method)
        def told(ctxt, **arguments):
            where = {'at': METHOD, 'uuid': _server_of(arguments), 'method': declared.__name__}
            if where['uuid'] is None:
                return method(ctxt, **arguments)
            ask(**where, when=BEFORE)
            result = method(ctxt, **arguments)
            ask(**where, when=AFTER)
            return result

        return told

    return make


def _server_of(arguments):
    if 'instance' in arguments:
        return arguments['instance'].uuid
    if 'instance_uuid' in arguments:
        return arguments['instance_uuid']
    return next(iter(arguments.get('instance_uuids') or arguments.get('uuids') or ()), None)


def delivered_twice(method):
    """Return a method that runs in two threads at once, as if its message came twice."""

    @functools.wraps(method)
    def twice(ctxt, **arguments):
        with runtime.executor(1) as other:
            second = other.submit(method, ctxt, **arguments)
            try:
                return method(ctxt, **arguments)
            finally:
                # The result of the second one is not returned.
                second.exception()

    return twice

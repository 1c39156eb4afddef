"""What libraries do again for each request or message, though it never changes in a history.

None of it is a scheduling point, so that schedules stay the same.
"""

import functools
import inspect

from oslo_messaging._drivers import impl_rabbit
from oslo_middleware import base
from oslo_policy import policy


def install():
    """Have this process take them."""
    inspect.getfullargspec = base.getfullargspec = _remembered(inspect.getfullargspec)
    policy.Enforcer.load_rules = _once(policy.Enforcer.load_rules)
    # No transport has a socket.
    impl_rabbit.Connection.set_transport_socket_timeout = _nothing


def _remembered(original):
    """Return a function that keeps the answers of `original`: one for all methods of a function."""
    known = {}

    @functools.wraps(original)
    def answer(function):
        key = getattr(function, '__func__', function)
        if key not in known:
            known[key] = original(function)
        return known[key]

    return answer


def _once(original):
    """Return a method that loads rules when there are none: no history changes a file of them."""

    @functools.wraps(original)
    def load_rules(enforcer, force_reload=False):
        if force_reload or not enforcer.rules:
            original(enforcer, force_reload)

    return load_rules


def _nothing(_connection, _timeout=None):
    pass

"""Code of libraries that histories execute often, replaced by shorter code with the same results.

Most results are equal for each request or message of a history, and are kept. The locks of metrics
were scheduling points, a sixth of all. They are left out: nothing else runs during an addition.
"""

from collections import abc
import functools
import inspect

from keystoneauth1 import _utils as keystoneauth_utils
from oslo_middleware import base
from oslo_policy import policy
from prometheus_client import values as metric_values
from requests import utils as requests_utils
import sqlalchemy as sa

from nova_lite.dialects import sqlite_pool
from tests.sim.world import pools
from tests.sim.world import statements

# Times that are kept: each token has two.
TIMES = 256


def replace(owner, name, made):
    """Replace what a library has under a name by `made(it)`; raise AttributeError without it.

    Another version may have another name, or none.
    """
    setattr(owner, name, made(getattr(owner, name)))


@functools.cache
def install():
    """Install the shortcuts in this process and those forked from it."""
    inspect.getfullargspec = _remembered(inspect.getfullargspec)
    replace(base, 'getfullargspec', lambda _former: inspect.getfullargspec)
    replace(policy.Enforcer, 'load_rules', _once)
    # The end of a token is read before each request that sends it.
    replace(keystoneauth_utils, 'parse_isotime', functools.lru_cache(TIMES))
    # Mappings are all that is sent. A Protocol is looked through for each parameter.
    replace(requests_utils, '_SupportsItems', lambda _former: abc.Mapping)
    replace(metric_values.MutexValue, 'inc', lambda _former: _add)
    replace(sa.pool, 'QueuePool', lambda _former: pools.Pool)
    replace(sqlite_pool, 'close_rested', lambda _former: _nothing)
    replace(sa.Connection, '_execute_clauseelement', statements.planned)


def _nothing(_pool):
    """Leave it to pools.Pool to close idle connections."""


def _add(value, amount):
    value._value += amount


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

"""Undocumented names of keystoneauth1 that we use."""

import collections.abc
import contextlib
import datetime
import typing

from keystoneauth1.access import access

from nova_lite.private_apis import guard

LIBRARY = guard.Library('keystoneauth1', lowest='5.12', newest='5.18.1')

with LIBRARY.declared():
    _times = LIBRARY.module('keystoneauth1._utils')

    LIBRARY.has(access, 'utils')
    LIBRARY.takes(_times, 'from_utcnow', 'seconds')


@contextlib.contextmanager
def clock(now: collections.abc.Callable[[], datetime.datetime]) -> typing.Iterator[None]:
    """Make keystoneauth1 and keystonemiddleware ask `now` whether a token has expired.

    now: returns the time of day in UTC without a zone
    """
    if not LIBRARY.is_used:
        # Tokens expire by the clock of the machine.
        yield
        return
    before = _times.from_utcnow
    _times.from_utcnow = lambda **parts: now() + datetime.timedelta(**parts)
    try:
        yield
    finally:
        _times.from_utcnow = before

"""Casts that wait for their bus, so that no request does.

A request records what it was asked for before it casts, so an audit or a sweep finds what is
lost with the process. While a bus does not answer its casts wait here, in their order; another
bus has a lane of its own.
"""

import collections.abc
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import workers

LOG = log.getLogger(__name__)

# Casts that wait for one bus. Further ones are refused.
MOST = 1000
# How long a cast is kept for a bus that does not take it, and how often it is tried.
KEEP_S, RETRY_S = 300, 1.0
DROPPED = 'Cast %s was dropped. An audit or a sweep continues the work.'

Send: typing.TypeAlias = collections.abc.Callable[[], object]


class Lane:
    """The casts to one bus, sent one after the other by a thread."""

    def __init__(self, stopping: runtime.Event) -> None:
        self._stopping = stopping
        self._thread = workers.Executor(1)
        self._lock = runtime.Lock()
        self._waiting, self._is_closed = 0, False

    def put(self, ctxt: context.RequestContext, name: str, send: Send) -> None:
        """Send a cast soon. Raise Unavailable if too many wait.

        name: the method's; send: raises Unavailable while the bus does not take it
        """
        with self._lock:
            if self._waiting >= MOST:
                raise exception.Unavailable(
                    service='The message bus', reason=f'{MOST} casts are waiting for it'
                )
            if self._is_closed:
                # Of a request that has not ended. What it was asked for is on record.
                LOG.info(DROPPED, name)
                return
            self._waiting += 1
            self._thread.submit(self._deliver, ctxt, name, send, runtime.monotonic() + KEEP_S)

    def _deliver(
        self, ctxt: context.RequestContext, name: str, send: Send, deadline: float
    ) -> None:
        try:
            with ctxt.bound():
                self._insist(name, send, deadline)
        finally:
            with self._lock:
                self._waiting -= 1

    def _insist(self, name: str, send: Send, deadline: float) -> None:
        """Send a cast, again and again until its time is up."""
        tries = 0
        while not self._stopping.is_set():
            try:
                send()
                return
            except exception.Unavailable as error:
                tries += 1
                if tries == 1:
                    LOG.warning('Cannot cast %s: %s. Retrying for %s s.', name, error, KEEP_S)
                if runtime.monotonic() >= deadline:
                    break
            except Exception:
                LOG.exception('Cannot cast %s. An audit or a sweep continues the work.', name)
                return
            runtime.wait(self._stopping, RETRY_S)
        LOG.warning(DROPPED, name)

    def close(self) -> None:
        """Drop the casts that wait, and those that still come."""
        with self._lock:
            self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)


class Outbox:
    """The lanes of a process."""

    def __init__(self) -> None:
        self._stopping = runtime.Event()
        self._lanes: list[Lane] = []

    def lane(self) -> Lane:
        """Return a new lane, for a client of one bus."""
        made = Lane(self._stopping)
        self._lanes.append(made)
        return made

    def close(self) -> None:
        """Drop the casts that wait."""
        self._stopping.set()
        for lane in self._lanes:
            lane.close()

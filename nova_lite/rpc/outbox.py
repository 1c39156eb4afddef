"""Casts that wait for their bus, so that no request has to wait.

A request records its intent before it casts, so an audit or a sweep continues the work if the
process dies. While a bus does not answer, its casts wait in a lane, in their order. Each bus has
its own lane.
"""

import collections.abc
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.runtime import workers

LOG = log.getLogger(__name__)

# Maximum number of casts that wait for one bus. Further casts are refused.
MOST = 1000
# Seconds that a cast is kept for a bus that does not accept it, and seconds between two tries.
KEEP_S, RETRY_S = 300, 1.0
DROPPED = 'Cast %s was dropped. An audit or a sweep continues the work.'

Send: typing.TypeAlias = collections.abc.Callable[[], object]


class Lane:
    """The casts to one bus, sent one after the other by a thread."""

    def __init__(self, stopping: runtime.Event) -> None:
        self._stopping = stopping
        self._line = workers.Line(MOST)

    def put(self, ctxt: context.RequestContext, name: str, send: Send) -> None:
        """Send a cast soon. Raise Unavailable if too many wait.

        name: the method's name
        send: function that sends the cast; raises Unavailable while the bus does not accept it
        """
        if self._line.is_closed:
            # The context of a request, which is recorded and may still be in progress.
            LOG.info(DROPPED, name)
            return
        if not self._line.put(self._deliver, ctxt, name, send, runtime.monotonic() + KEEP_S):
            raise exception.Unavailable(
                service='The message bus', reason=f'{MOST} casts are waiting for it'
            )

    def _deliver(
        self, ctxt: context.RequestContext, name: str, send: Send, deadline: float
    ) -> None:
        with ctxt.bound():
            self._insist(name, send, deadline)

    def _insist(self, name: str, send: Send, deadline: float) -> None:
        """Try to send a cast until `deadline`."""
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
        """Drop the waiting casts and all later ones."""
        self._line.close()


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

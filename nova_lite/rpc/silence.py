"""A bus that accepts connections but does not answer: senders fail at once.

The first sender waits for a confirmation until its timeout. A thread then tries the bus until it
answers, so that no other sender waits.
"""

import collections.abc

from oslo_log import log
import oslo_messaging

from nova_lite import runtime

LOG = log.getLogger(__name__)

RETRY_S = 1.0


class BusSilent(oslo_messaging.MessageDeliveryFailure):  # type: ignore[misc]  # is not typed
    """The bus has not confirmed a message in time. It may still deliver the message."""


class Silence:
    """The knowledge that a bus does not answer.

    ask: function that returns if the bus answers, and raises one of `errors` if it does not
    """

    def __init__(
        self,
        ask: collections.abc.Callable[[], None],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self._ask, self._errors = ask, errors
        self._lock = runtime.Lock()
        self._answers = runtime.Event()
        self._answers.set()
        self._stopping = runtime.Event()

    def require_answers(self) -> None:
        """Raise BusSilent while the bus is known not to answer."""
        if not self._answers.is_set():
            raise BusSilent('it does not answer')

    def note(self) -> None:
        """Record that the bus does not answer, and try it until it does."""
        with self._lock:
            if not self._answers.is_set() or self._stopping.is_set():
                return
            self._answers.clear()
        LOG.warning('The message bus does not answer. Requests that need it fail at once.')
        runtime.spawn(self._watch, name='silent-bus')

    def _watch(self) -> None:
        while not runtime.wait(self._stopping, RETRY_S):
            try:
                self._ask()
            except self._errors:
                continue
            LOG.info('The message bus answers again')
            break
        self._answers.set()

    def stop(self) -> None:
        """End the thread that tries the bus."""
        self._stopping.set()

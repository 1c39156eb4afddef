"""Wait for something outside of a history. No virtual time passes, and nothing else runs."""

import select

READ, WRITE = select.POLLIN, select.POLLOUT


class Descriptor:
    """A socket or pipe to something outside."""

    def __init__(self, number):
        self._number = number
        self._poll = select.poll()

    def ready(self, events, within_ms=None):
        """Return those of READ and WRITE that are possible, 0 after so many milliseconds.

        All of them are when the other end is closed: whoever tries finds out.
        """
        self._poll.register(self._number, events)
        found = self._poll.poll(within_ms)
        if not found:
            return 0
        return found[0][1] & events or events


def pause(milliseconds):
    """Spend time outside."""
    select.poll().poll(milliseconds)

"""Policy of retries that sagas and builds share: takeovers, pauses, and when to give up.

Both have a journal and a sweep of their own. An owner has a lease, by the clock of the
database. When it has expired, another owner takes over under a newer epoch. A service that
does not answer is asked again, after pauses that double. An error that none of our services
raised is a defect: it does not go away by itself.
"""

import logging

from nova_lite import exception

# A wait or a lease that ends later was written before the clock was set back.
LONGEST_WAIT_S = 900
LONGEST_LEASE_S = 3600
# A saga whose step, or cleaning, has failed so often in a row needs attention. A step
# before the pivot is given up then, if a service does not answer.
MANY_ATTEMPTS = 8
# A build that meets a defect is buried if it has failed so often, refusals included. Takeovers
# (its builder was restarted or killed, a service does not answer) are not counted.
MOST_DEFECTS = 3
_MOST_DOUBLINGS = 20


def pause_s(attempts: int, first_s: float, longest_s: float) -> float:
    """Return seconds to wait after that many attempts: first_s, twice as long, ... longest_s."""
    return min(longest_s, first_s * float(1 << min(attempts, _MOST_DOUBLINGS)))


def is_defect(error: BaseException) -> bool:
    """Return whether none of our services raised this."""
    return not isinstance(error, exception.NovaLiteError)


def level(attempts: int) -> int:
    """Return the level of the log for a failure: ERROR from MANY_ATTEMPTS on."""
    return logging.WARNING if attempts < MANY_ATTEMPTS else logging.ERROR


def exc_info(error: BaseException, attempts: int) -> BaseException | None:
    """Return the error if its traceback is worth a place in the log, else None.

    It is for a defect, at the attempts 1, 2, 4, 8, ...
    """
    return None if attempts & (attempts - 1) or not is_defect(error) else error

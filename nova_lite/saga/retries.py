"""The policy of retries of sagas and builds: takeovers, pauses, and when to give up.

Sagas and builds each have a journal and a sweep. An owner has a lease, by the clock of the
database. After it has expired, another owner takes over under a newer epoch. Calls of a
service that does not answer are repeated after pauses that double. An error that none of our
services raised is a defect, which repetition does not mend.
"""

import logging

from nova_lite import exception

# Longest wait or lease in seconds. If one ends later, the clock was set back after it was written.
LONGEST_WAIT_S = 900
LONGEST_LEASE_S = 3600
# After so many failures in a row of a step or of its cleaning, an operator should look at the
# saga. A step before the pivot is given up then if a service does not answer.
MANY_ATTEMPTS = 8
# A build that meets a defect is buried after so many failures, refusals included. Takeovers
# (its builder was restarted or killed, a service does not answer) are not counted.
MOST_DEFECTS = 3
_MOST_DOUBLINGS = 20


def pause_s(attempts: int, first_s: float, longest_s: float) -> float:
    """Return seconds to wait after that many attempts: first_s, twice as long, ... longest_s."""
    return min(longest_s, first_s * float(1 << min(attempts, _MOST_DOUBLINGS)))


def is_defect(error: BaseException) -> bool:
    """Return whether the error is a defect: none of our services raised it."""
    return not isinstance(error, exception.NovaLiteError)


def level(attempts: int) -> int:
    """Return the log level of a failure: WARNING, and ERROR from MANY_ATTEMPTS on."""
    return logging.WARNING if attempts < MANY_ATTEMPTS else logging.ERROR


def exc_info(error: BaseException, attempts: int) -> BaseException | None:
    """Return the error if its traceback is to be logged, else None.

    The traceback of a defect is logged at the attempts 1, 2, 4, 8, ...
    """
    return None if attempts & (attempts - 1) or not is_defect(error) else error

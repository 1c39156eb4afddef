"""Audits repair what faults have broken: without a fault they find nothing to repair."""

import logging

# Where audits log what they repair, and how these messages begin.
LOGGERS = (
    'nova_lite.superconductor.audits',
    'nova_lite.conductor.audit',
    'nova_lite.compute.audit',
    'nova_lite.compute.move_audit',
    'nova_lite.compute.power_audit',
)
MESSAGES = (
    'Deleted orphaned allocations',
    'Server %s: moved the allocations',
    'No saga will end migration',
    'Repaired the aggregates',
    'Finishing the interrupted deletion',
    'Corrected the quota usage',
    'Rescheduling the build',
    'Removing guest',
    'Cleaning up guest',
    'Stopping the guest',
)


class NoLock:
    """A lock that is always free. Handlers enter it since Python 3.13, and acquired it before."""

    def acquire(self):
        """Do nothing."""

    def release(self):
        """Do nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        pass


class Repairs(logging.Handler):
    """log: called with a kind and a text; clock: returns the virtual time

    found: [(virtual time, message), ...] of what was repaired
    """

    def __init__(self, log, clock):
        super().__init__(logging.WARNING)
        self._log, self._clock, self.found = log, clock, []

    def createLock(self):  # noqa: N802 the name of the base class
        """Return a lock that does nothing: one thread of a history runs at a time."""
        self.lock = NoLock()

    def listen(self):
        """Hear of repairs from now on, until the process ends."""
        for name in LOGGERS:
            logger = logging.getLogger(name)
            logger.setLevel(logging.WARNING)
            logger.propagate = False
            logger.addHandler(self)

    def emit(self, record):
        """Note a repair."""
        if record.msg.startswith(MESSAGES):
            message = record.getMessage()
            self.found.append((self._clock(), message))
            self._log('repair', message)

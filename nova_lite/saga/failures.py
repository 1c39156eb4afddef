"""Errors of steps: their meaning, and their form in the journal."""

import traceback

from nova_lite import exception
from nova_lite.saga import journal


def is_transient(error: Exception) -> bool:
    """Return whether to repeat a step that raised the error, because a service did not answer."""
    return bool(getattr(error, 'transient', False))


def is_final(error: Exception) -> bool:
    """Return whether a step that raised the error would raise it again."""
    return bool(getattr(error, 'final', False))


def is_outage(error: Exception) -> bool:
    """Return whether the error means that the service of the step could not be reached."""
    return bool(getattr(error, 'outage', False))


def is_gone(error: Exception) -> bool:
    """Return whether the cell or host of the step is not mapped, so that no saga can change it."""
    return bool(getattr(error, 'gone', False))


def is_unknown(error: Exception) -> bool:
    """Return whether the pivot that raised the error may have taken place.

    An error of ours, which the pivot's own checks raise before the COMMIT, means that it did not.
    After any other error (such as that of a database that stops at the COMMIT) the outcome is
    unknown. The pivot is then repeated, which changes nothing if it has taken place.
    """
    return not isinstance(error, exception.NovaLiteError) or error.transient


def describe(error: Exception) -> journal.Failure:
    """Return an error as the journal keeps it and as faults show it.

    An error that is not ours may have any text, so faults show only its class.
    """
    name = type(error).__name__
    message = (
        error.message if isinstance(error, exception.NovaLiteError) else f'Unexpected error: {name}'
    )
    return {
        'type': name,
        'message': message,
        'kind': getattr(error, 'kind', 'internal'),
        'traceback': ''.join(traceback.format_exception(error))[-4000:],
    }

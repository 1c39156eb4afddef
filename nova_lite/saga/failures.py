"""Errors of steps: their meaning, and their form in the journal."""

import traceback

from nova_lite import exception
from nova_lite.saga import journal


def is_transient(error: Exception) -> bool:
    """Return whether a step that raised this is repeated, because a service did not answer."""
    return bool(getattr(error, 'transient', False))


def is_final(error: Exception) -> bool:
    """Return whether a step that raised this would raise it again."""
    return bool(getattr(error, 'final', False))


def is_outage(error: Exception) -> bool:
    """Return whether a step that raised this has learnt nothing of the service it needs."""
    return bool(getattr(error, 'outage', False))


def is_unknown(error: Exception) -> bool:
    """Return whether the pivot that raised this may have taken place.

    Only an error of ours that its own checks raise, before the COMMIT, says that it did
    not. Of any other (a database that stops at COMMIT, a driver that words it as it
    likes) the outcome is found out by doing the pivot again, which changes nothing twice.
    """
    return not isinstance(error, exception.NovaLiteError) or error.transient


def describe(error: Exception) -> journal.Failure:
    """Return an error as the journal keeps it and as faults show it.

    What an error says that is none of ours may be anything: faults show its class.
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

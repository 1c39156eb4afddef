"""The base of all errors, and the families that decide about the answer of the API."""

import typing

# The module of every error of this package, whose name crosses RPC. Files may be divided further.
_PACKAGE = __name__.rpartition('.')[0]


class NovaLiteError(Exception):
    """Base. `msg` is a template filled from the keyword arguments.

    reschedule: another host might succeed; may also be set on an instance of the error
    transient: the request may succeed a moment later
    final: the request would fail again
    outage: the far side cannot be reached; accepted work waits until it can be
    gone: the cell or host has no mapping, so that nothing there can be changed
    """

    __module__ = _PACKAGE
    kind = 'internal'
    reschedule = False
    transient = False
    outage = False
    final = False
    gone = False
    msg = 'An unknown error occurred.'

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(_PACKAGE + '.'):
            cls.__module__ = _PACKAGE

    def __init__(self, message: str | None = None, **kwargs: typing.Any) -> None:
        self.kwargs = kwargs
        self.message = message if message is not None else self.msg % kwargs
        super().__init__(self.message)


class Invalid(NovaLiteError):
    """The request is not valid. Answered with 400."""

    kind = 'invalid'
    msg = 'Bad request: %(reason)s'


class Forbidden(NovaLiteError):
    """The caller does not have the permission. Answered with 403."""

    kind = 'forbidden'
    msg = 'Not authorized.'


class NotFound(NovaLiteError):
    """The object does not exist, or not for this caller. Answered with 404."""

    kind = 'not_found'
    msg = 'Resource could not be found.'


class Conflict(NovaLiteError):
    """The object is in a state that does not allow the request. Answered with 409."""

    kind = 'conflict'
    msg = 'Conflict: %(reason)s'


class Unavailable(NovaLiteError):
    """A required service does not answer. Answered with 503.

    The reason names hosts and addresses: it is for logs (`str`), while `message`
    is what users read.
    """

    kind = 'unavailable'
    transient = True
    msg = '%(service)s is not available.'

    def __str__(self) -> str:
        reason = self.kwargs.get('reason')
        return f'{self.message.rstrip(".")}: {reason}' if reason else self.message


class NotImplementedHere(NovaLiteError):
    """The driver or the deployment does not support the request. Answered with 501."""

    kind = 'not_implemented'
    msg = 'Not implemented: %(reason)s'


class AlreadyExists(Conflict):
    msg = '%(what)s %(key)s already exists.'


class NoUniqueMatch(Conflict):
    msg = "Multiple %(what)s match name '%(name)s'. Use an ID to be more specific."


class StateChanged(Conflict):
    """A compare-and-swap was lost: another writer changed the row first."""

    msg = '%(what)s %(key)s is no longer in the expected state: %(detail)s'

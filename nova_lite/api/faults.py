"""Errors to HTTP answers: the only table from a kind of error to code and key.

Source: reference/nova/api-surface 1. An error that is none of ours is a bug: its
traceback goes to the log, its class's name into the answer.
"""

import json

import falcon
from oslo_log import log
import webob
import webob.exc

from nova_lite import exception

LOG = log.getLogger(__name__)

CODES = {
    'invalid': 400,
    'unauthorized': 401,
    'forbidden': 403,
    'not_found': 404,
    'not_acceptable': 406,
    'conflict': 409,
    'gone': 410,
    'too_large': 413,
    'media_type': 415,
    'internal': 500,
    'not_implemented': 501,
    'unavailable': 503,
}

MEDIA = 'application/json; charset=UTF-8'
KEYS = {
    400: 'badRequest',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'itemNotFound',
    405: 'badMethod',
    409: 'conflictingRequest',
    413: 'overLimit',
    415: 'badMediaType',
    429: 'overLimit',
    501: 'notImplemented',
    503: 'serviceUnavailable',
}

# Codes that any operation may answer without saying so: the token, the version,
# the transport, and what is broken on our side.
UNDECLARED = frozenset((401, 406, 413, 415, 500, 503))

UNEXPECTED = (
    'Unexpected API Error. Please report this to the operators of this cloud and attach the '
    'API log if possible.\n%s'
)


class NotOffered(exception.NotFound):
    """The operation exists, but not at this microversion."""

    msg = 'API version %(version)s is not supported on this method.'


class NoSuchUrl(exception.NotFound):
    msg = 'The resource could not be found.'


class NoRoute(NoSuchUrl):
    """No operation has the method and path of the request."""


class NoSuchAction(exception.Invalid):
    msg = 'There is no such action: %(action)s'


class MalformedBody(exception.Invalid):
    msg = 'Malformed request body: %(reason)s'


class MalformedUrl(exception.Invalid):
    msg = 'Malformed request URL: %(reason)s'


class UnsupportedContentType(exception.NovaLiteError):
    kind = 'media_type'
    msg = 'Unsupported Content-Type'


class TooLarge(exception.NovaLiteError):
    kind = 'too_large'
    msg = 'Request is too large.'


class Unauthorized(exception.NovaLiteError):
    kind = 'unauthorized'
    msg = 'The request you have made requires authentication.'


class Gone(exception.NovaLiteError):
    kind = 'gone'
    msg = 'This resource is no longer available. No forwarding address is given.'


def describe(error: Exception) -> tuple[int, str]:
    """Return (code, message) for an exception. Log unexpected ones."""
    if isinstance(error, exception.NovaLiteError):
        code = CODES[error.kind]
        if code == 500:
            LOG.error('Request failed: %s', error, exc_info=error)
            return code, UNEXPECTED % type(error)
        if code == 503:
            LOG.warning('Cannot serve the request: %s', error)
        return code, error.message
    if isinstance(error, falcon.HTTPError):
        return error.status_code, error.description or error.title
    LOG.error('Unexpected exception in API method', exc_info=error)
    return 500, UNEXPECTED % type(error)


def body_of(code: int, message: str) -> str:
    """Return the JSON text of an error answer."""
    return json.dumps({KEYS.get(code, 'computeFault'): {'code': code, 'message': message}})


def unrouted(environ: dict[str, object]) -> webob.Response:
    """Return the answer of nova's framework, not of nova itself: in the form that is preferred."""
    return webob.Request(environ).get_response(webob.exc.HTTPNotFound())

"""Errors of the simulated services, in the form of each service.

A Fault has the HTTP status, a message and, for the network service, the type name that its
clients read.
"""

import html
import http
import json

JSON = 'application/json'
HTML = 'text/html; charset=UTF-8'


class Fault(Exception):
    """A response that is not a success."""

    status = 500
    kind = 'HTTPInternalServerError'

    def __init__(
        self, message: str, kind: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or self.kind
        self.headers = headers or {}


class BadRequest(Fault):
    status, kind = 400, 'HTTPBadRequest'


class Unauthorized(Fault):
    status, kind = 401, 'HTTPUnauthorized'


class Forbidden(Fault):
    status, kind = 403, 'PolicyNotAuthorized'


class NotFound(Fault):
    status, kind = 404, 'HTTPNotFound'


class NotAllowed(Fault):
    status, kind = 405, 'HTTPMethodNotAllowed'


class NotAcceptable(Fault):
    status, kind = 406, 'HTTPNotAcceptable'


class Conflict(Fault):
    status, kind = 409, 'HTTPConflict'


class PreconditionFailed(Fault):
    status, kind = 412, 'HTTPPreconditionFailed'


class TooLarge(Fault):
    status, kind = 413, 'HTTPRequestEntityTooLarge'


class UnsupportedMediaType(Fault):
    status, kind = 415, 'HTTPUnsupportedMediaType'


class Unavailable(Fault):
    status, kind = 503, 'HTTPServiceUnavailable'


def of_status(status: int, message: str) -> Fault:
    """Return a fault for a bare status code, as the router raises them."""
    fault = Fault(message)
    fault.status = status
    known = (kind for kind in Fault.__subclasses__() if kind.status == status)
    fault.kind = next(known, Fault).kind
    return fault


def title_of(status: int) -> str:
    """Return the reason phrase of a status code."""
    return http.HTTPStatus(status).phrase


def _identity(fault: Fault) -> tuple[str, str]:
    if fault.status == NotAllowed.status:
        return JSON, json.dumps({'message': fault.message})
    return JSON, json.dumps(
        {'error': {'code': fault.status, 'message': fault.message, 'title': title_of(fault.status)}}
    )


def _image(fault: Fault) -> tuple[str, str]:
    title = f'{fault.status} {title_of(fault.status)}'
    text = html.escape(fault.message, quote=False)
    return HTML, (
        f'<html>\n <head>\n  <title>{title}</title>\n </head>\n <body>\n'
        f'  <h1>{title}</h1>\n  {text}<br /><br />\n\n\n </body>\n</html>'
    )


def _network(fault: Fault) -> tuple[str, str]:
    return JSON, json.dumps(
        {'NeutronError': {'type': fault.kind, 'message': fault.message, 'detail': ''}}
    )


VOLUME_KEYS = {
    400: 'badRequest',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'itemNotFound',
    405: 'badMethod',
    406: 'notAcceptable',
    409: 'conflictingRequest',
    413: 'overLimit',
    415: 'badMediaType',
    503: 'serviceUnavailable',
}


def _volume(fault: Fault) -> tuple[str, str]:
    key = VOLUME_KEYS.get(fault.status, 'computeFault')
    return JSON, json.dumps({key: {'code': fault.status, 'message': fault.message}})


FORMATS = {
    'identity': _identity,
    'image': _image,
    'network': _network,
    'volume': _volume,
    'share': _volume,
}


def body_of(fault: Fault, service: str | None) -> tuple[str, str]:
    """Return (media type, text) of the response body with which `service` reports a fault."""
    return FORMATS.get(service or 'identity', _identity)(fault)

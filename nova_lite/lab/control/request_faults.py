"""Faults of requests to the other services: requests are refused, delayed, or lose their answers.

A fault counts the requests that match it. A service executes a request whose answer is lost.
"""

import collections.abc
import dataclasses
import fnmatch
import functools
import http
import json
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.daemons.wsgi import server
from nova_lite.lab.console import injected_faults as console
from nova_lite.simcloud import faults as simcloud
from nova_lite.virt.sim import rules

LOG = log.getLogger(__name__)

PLACEMENT = 'placement'
SERVICES = (PLACEMENT, 'network', 'volume', 'image', 'identity', 'share')
LONGEST_S = 3600
ANY = '*'
# The key that only entries of faults of requests have.
SERVICE = 'service'
SCHEMA = schemas.Schema(
    schema_parts.whole(
        {
            SERVICE: {'enum': list(SERVICES)},
            'request': {
                'type': 'string',
                'pattern': rf'^({console.REQUEST.pattern})\Z',
                'maxLength': 255,
            },
            'status': {'enum': [int(each) for each in http.HTTPStatus if each >= 400]},
            'delay': {'type': 'number'},
            'lost': {'const': True},
            'first': {'type': 'integer', 'minimum': 1},
            'nth': {'type': 'integer', 'minimum': 1},
            'probability': {'type': 'number'},
        },
        required=[SERVICE],
    ),
    place='fault',
)
# The keys that limit how often a fault strikes. An entry has at most one of these keys.
LIMITS = ('first', 'nth', 'probability')
# The error code that makes clients of placement try again.
CODES = {http.HTTPStatus.CONFLICT: 'placement.concurrent_update'}

Environ: typing.TypeAlias = dict[str, typing.Any]
Start: typing.TypeAlias = collections.abc.Callable[..., typing.Any]
Application: typing.TypeAlias = collections.abc.Callable[
    [Environ, Start], collections.abc.Iterable[bytes]
]


@dataclasses.dataclass
class Fault:
    """A fault of the requests whose method and path match a pattern.

    request: pattern of `METHOD /path`, where the path is below that of the service
    status: status of an answer that replaces the answer of the service, or None
    lost: whether the answer of the service is not sent
    limit: which of the matching requests the fault strikes; count: number of matching requests
    over: set when the fault is removed, which ends its delays
    """

    number: int
    service: str
    request: str
    status: int | None
    delay_s: float
    lost: bool
    limit: rules.Limit
    count: int = 0
    over: runtime.Event = dataclasses.field(default_factory=runtime.Event)

    def strikes(self, service: str, request: str) -> bool:
        """Count a request, `METHOD /path`. Return whether the fault strikes the request."""
        if self.service != service or not fnmatch.fnmatchcase(request, self.request):
            return False
        self.count += 1
        seed = f'{self.number}/{self.count}'
        return self.limit.strikes(self.count, functools.partial(runtime.seeded_random, seed))


def parse(number: int, entry: dict[str, typing.Any]) -> Fault:
    """Return the Fault of an entry with the keys of SCHEMA. Raise Invalid."""
    SCHEMA.check(entry)
    delay_s, status, lost = entry.get('delay', 0.0), entry.get('status'), entry.get('lost', False)
    if 'delay' in entry and not 0 < delay_s <= LONGEST_S:
        raise exception.Invalid(reason=f'delay must be above 0 and at most {LONGEST_S} seconds')
    if status and lost:
        raise exception.Invalid(reason='status and lost exclude each other. Omit one of them')
    if not (status or lost or delay_s):
        raise exception.Invalid(reason='one of status, delay and lost must be given')
    limits = {name: entry[name] for name in LIMITS if name in entry}
    if len(limits) > 1:
        raise exception.Invalid(reason=f'only one of {" and ".join(limits)} may be given')
    # The schema accepts NaN.
    if not 0 <= limits.get('probability', 0) <= 1:
        raise exception.Invalid(reason='probability must be from 0 to 1')
    return Fault(
        number=number,
        service=entry[SERVICE],
        request=entry.get('request', ANY),
        status=None if status is None else int(status),
        delay_s=delay_s,
        lost=lost,
        limit=rules.Limit(**limits),
    )


class RequestFaults:
    """Injects faults between clients and applications of this process."""

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        self._faults: tuple[Fault, ...] = ()

    def inject(self, faults: collections.abc.Iterable[Fault]) -> None:
        """Replace all injected faults. The first fault that strikes a request is used."""
        with self._lock:
            former, self._faults = self._faults, tuple(faults)
            kept = {fault.number for fault in self._faults}
        for fault in former:
            if fault.number not in kept:
                fault.over.set()

    def around(self, application: Application, service: str | None = None) -> Application:
        """Return an application with the faults of a service.

        service: None for the service that the path of a request names
        """

        def answer(environ: Environ, start_response: Start) -> collections.abc.Iterable[bytes]:
            fault = self._find(environ, service) if self._faults else None
            if fault is None:
                return application(environ, start_response)
            return _spoil(fault, application, environ, start_response)

        return answer

    def _find(self, environ: Environ, service: str | None) -> Fault | None:
        """Return the first fault that strikes a request, or None."""
        path = environ.get('PATH_INFO', '')
        if service is None:
            service, _slash, rest = path.removeprefix('/').partition('/')
            path = f'/{rest}'
        request = f'{environ["REQUEST_METHOD"]} {path}'
        with self._lock:
            for fault in self._faults:
                if fault.strikes(service, request):
                    LOG.warning('Fault %s of %s: %s', fault.number, service, request)
                    return fault
        return None


def _spoil(
    fault: Fault, application: Application, environ: Environ, start_response: Start
) -> collections.abc.Iterable[bytes]:
    if fault.delay_s:
        runtime.wait(fault.over, fault.delay_s)
    if fault.status is not None:
        return _refuse(
            fault.service, fault.status, f'Injected fault {fault.number}.', start_response
        )
    if not fault.lost:
        return application(environ, start_response)
    answer = application(environ, lambda _status, _headers, _error=None: lambda _data: None)
    for _part in answer:
        pass
    if close := getattr(answer, 'close', None):
        close()
    environ[server.CUT]()
    # The connection is cut, so this answer is not sent.
    return _refuse(fault.service, 503, 'lost', start_response)


def _refuse(
    service: str, status: int, text: str, start_response: Start
) -> collections.abc.Iterable[bytes]:
    """Answer with an error in the format of a service."""
    phrase = http.HTTPStatus(status).phrase
    if service == PLACEMENT:
        code = CODES.get(http.HTTPStatus(status), 'placement.undefined_code')
        error = {'status': status, 'title': phrase, 'detail': text, 'code': code}
        kind, body = 'application/json', json.dumps({'errors': [error]})
    else:
        kind, body = simcloud.body_of(simcloud.of_status(status, text), service)
    data = body.encode()
    headers = [('Content-Type', kind), ('Content-Length', str(len(data)))]
    start_response(f'{status} {phrase}', headers)
    return [data]

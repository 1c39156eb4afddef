"""The registry: one declaration per API operation.

    @server_action('os-start', policy=policies.servers.START, guard=transitions.START,
                   success=202, faults=(404, 409))
    def start(req, server): ...

A handler takes the request and, if the path has `{server_id}`, the server.
It returns the body of the answer (a dict), an Answer, or None for an empty body.
"""

from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import importlib
import pkgutil
import typing

from nova_lite.api import microversion
from nova_lite.api import schema
from nova_lite.api import schema_parts

# The body of an answer.
Body: typing.TypeAlias = dict[str, typing.Any]
T = typing.TypeVar('T')
H = typing.TypeVar('H', bound=Callable[..., typing.Any])


@dataclasses.dataclass
class Answer:
    """A handler's result with a status or headers in addition to the body."""

    body: typing.Any = None
    status: int | None = None
    headers: dict[str, str] = dataclasses.field(default_factory=dict)


class Versions(typing.Generic[T]):
    """Values by the first microversion for which they are valid."""

    def __init__(self, values: Mapping[str, typing.Any], make: Callable[[typing.Any], T]) -> None:
        self._values = sorted(
            ((microversion.parse(first), make(value)) for first, value in values.items()),
            key=lambda pair: pair[0],
            reverse=True,
        )

    def at(self, version: microversion.Version) -> T | None:
        """Return the value at `version`; None before the first value."""
        for first, value in self._values:
            if first <= version:
                return value
        return None

    def firsts(self) -> list[microversion.Version]:
        """Return the microversions at which the value changes, oldest first."""
        return [first for first, _value in reversed(self._values)]


@dataclasses.dataclass(eq=False)
class Operation:
    """The declaration of one operation; see `operation` for the fields."""

    method: str
    path: str
    handler: Callable[..., 'Result']
    action: str | None
    policy: typing.Any
    guard: typing.Any
    precheck: Callable[..., object] | None
    body: Versions[schema.Schema] | None
    query: Versions[schema.Query]
    since: microversion.Version
    until: microversion.Version
    success: int
    faults: frozenset[int]
    lock: bool
    load: bool | str
    view: Callable[[typing.Any, typing.Any], Body] | None

    def offered(self, version: microversion.Version) -> bool:
        """Return whether the operation exists at `version`."""
        return self.since <= version <= self.until

    def __str__(self) -> str:
        return f'{self.method} {self.path}' + (f' ({self.action})' if self.action else '')


# The type of results of handlers.
Result: typing.TypeAlias = Answer | Body | None
Handler: typing.TypeAlias = Callable[..., Result]
OPERATIONS: list[Operation] = []

# The body of an action whose value does not matter.
ANY_VALUE = {'2.1': schema_parts.ANY}
# Operations without a declared query ignore query parameters. From 2.102 on, operations
# that only read refuse them.
ANY_QUERY = {'2.1': {'type': 'object', 'properties': {}, 'additionalProperties': True}}
_NO_QUERY = {
    **ANY_QUERY,
    '2.102': {'type': 'object', 'properties': {}, 'additionalProperties': False},
}
_OPTIONS = {
    'action': None,
    'policy': None,
    'guard': None,
    'precheck': None,
    'body': None,
    'query': None,
    'since': '2.1',
    'until': str(microversion.MAXIMUM),
    'success': 200,
    'faults': (),
    'lock': None,
    'load': None,
    'view': None,
}


def operation(method: str, path: str, **options: typing.Any) -> Callable[[H], H]:
    """Declare the decorated function as the handler of an operation.

    action: the body's one key, for `.../action` paths
    policy: a rule's name, or a function of the request that returns one; None
        if the handler calls the enforcer itself (`req.authorize`)
    guard: transitions.Transition or a function of the request that returns one
    precheck: function(req, server) that refuses arguments, or what the server has, before the
        lock and the state count
    body: {first microversion: schema of the whole body}; None takes anything
    query: {first microversion: schema of {name: [values]}}, see types.query
    since, until: microversions that have the operation
    success: status code; faults: error codes that may be answered
    lock: refuse a locked server to all but administrators; default: if guarded
    load: False passes the id in req.args instead of loading the server; 'deleted'
        loads deleted servers too
    view: function(req, result) -> body
    """
    unknown = set(options) - set(_OPTIONS)
    if unknown:
        raise TypeError(f'{method} {path}: unknown options {sorted(unknown)}')
    given = {**_OPTIONS, **options}

    def declare(function: H) -> H:
        OPERATIONS.append(
            Operation(
                method=method,
                path=path,
                handler=function,
                action=given['action'],
                policy=given['policy'],
                guard=given['guard'],
                precheck=given['precheck'],
                body=None if given['body'] is None else Versions(given['body'], schema.Schema),
                query=Versions(given['query'] or _unasked(method), schema.Query),
                since=microversion.parse(given['since']),
                until=microversion.parse(given['until']),
                success=given['success'],
                faults=frozenset(given['faults']),
                lock=given['guard'] is not None if given['lock'] is None else given['lock'],
                load='{server_id}' in path if given['load'] is None else given['load'],
                view=given['view'],
            )
        )
        return function

    return declare


def server_action(
    name: str, *, body: Mapping[str, schema.Source] | None = ANY_VALUE, **options: typing.Any
) -> Callable[[H], H]:
    """Declare the handler of an action of servers.

    name: the one key of the request's body
    body: {first microversion: schema of the value of that key}; None takes any body
    options: see `operation`
    """
    if body is not None:
        body = {first: schema_parts.body(name, value) for first, value in body.items()}
    return operation('POST', '/servers/{server_id}/action', action=name, body=body, **options)


def _unasked(method: str) -> dict[str, schema.Source]:
    return _NO_QUERY if method == 'GET' else ANY_QUERY


def load_all() -> list[Operation]:
    """Import every module of the API, so that each operation is declared."""
    load('nova_lite.api')
    return OPERATIONS


def load(name: str) -> None:
    """Import a package and every module of it."""
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(package.__path__):
        full = f'{name}.{module.name}'
        importlib.import_module(full)
        if module.ispkg:
            load(full)

"""Declare an RPC interface once; get its client and its server from it.

The methods of an `Interface` subclass are signatures: `@call` waits for the
result, `@cast` does not. `since` is the interface version that brought a method,
`added` those that brought arguments later, `fenced` those of sagas, and nothing else
says it. A server refuses to start when its manager lacks a method or names a parameter
otherwise.
"""

import collections.abc
import functools
import inspect
import typing

from oslo_log import log
import oslo_messaging
from oslo_messaging.rpc import server as rpc_server

from nova_lite import context
from nova_lite import exception
from nova_lite import metrics
from nova_lite import versions
from nova_lite import workers
from nova_lite.private_apis import messaging
from nova_lite.rpc import driver
from nova_lite.rpc import outbox
from nova_lite.rpc import pins
from nova_lite.rpc import serializer

LOG = log.getLogger(__name__)

LONG = 1800
TRIES = 2
PING, PING_S = 'nova_lite_ping', 4
REQUIRED = inspect.Parameter.empty
# The broker returns a call that no queue takes, so the caller does not wait for the reply.
ROUTED = oslo_messaging.TransportOptions(at_least_once=True)

Arguments: typing.TypeAlias = dict[str, typing.Any]
# {argument: the version that brought it}
Added: typing.TypeAlias = dict[str, str]
# A signature with what `_declare` says of it; functions have no such attributes by type.
Declared: typing.TypeAlias = typing.Any
Method: typing.TypeAlias = typing.Callable[..., typing.Any]
F = typing.TypeVar('F', bound=Method)


class Decorator(typing.Protocol):
    """Leaves a declaration's signature as it is."""

    def __call__(self, function: F, /) -> F:
        """Return the same function."""


def _declare(
    kind: str,
    since: str,
    added: Added | None,
    *,
    timeout: float | str | None = None,
    silence: float | None = None,
    fenced: bool = False,
) -> Decorator:
    def decorate(function: F) -> F:
        declared: Declared = function
        declared.rpc_kind, declared.rpc_since, declared.rpc_added = kind, since, added or {}
        declared.rpc_timeout, declared.rpc_silence = timeout, silence
        declared.rpc_fenced = fenced
        return function

    return decorate


def call(
    since: str,
    timeout: float | str | None = None,
    *,
    silence: float | None = None,
    added: Added | None = None,
    fenced: bool = False,
) -> Decorator:
    """Return a method whose caller waits, at most `timeout` seconds, for its result.

    timeout: a name is that of an option in [DEFAULT]; None: rpc_response_timeout there
    silence: with a longer timeout the far side sends signs of life, and the call fails when
        there was none for so many seconds: a process that died with the call is not waited
        for. None, and at most: [DEFAULT]rpc_response_timeout
    added: {argument: the version that brought it}. Its default means what the method
        did before: sent only when it is another, which older servers cannot be asked.
    fenced: of a saga's step: the manager's `fence.check(ctxt)` comes first, and refuses
        who has lost the saga to another owner
    """
    return _declare('call', since, added, timeout=timeout, silence=silence, fenced=fenced)


def cast(since: str, added: Added | None = None) -> Decorator:
    """Return a method whose caller does not wait and learns nothing. added: see `call`."""
    return _declare('cast', since, added)


def _stub(name: str, declared: Declared) -> Method:
    signature = inspect.signature(declared)

    @functools.wraps(declared)
    def method(
        self: 'Interface', ctxt: context.RequestContext, *args: typing.Any, **kwargs: typing.Any
    ) -> typing.Any:
        bound = signature.bind(self, ctxt, *args, **kwargs)
        arguments = dict(list(bound.arguments.items())[2:])
        return self._send(declared, ctxt, name, arguments)

    return method


def _needs(declared: Declared, arguments: collections.abc.Iterable[str]) -> str:
    """Return the interface version without which these arguments cannot be sent."""
    brought = [declared.rpc_added[name] for name in arguments if name in declared.rpc_added]
    needs: str = max([declared.rpc_since, *brought], key=versions.pair)
    return needs


def _without_defaults(declared: Declared, arguments: Arguments) -> Arguments:
    """Return the arguments without later additions that have their default value."""
    if not declared.rpc_added:
        return arguments
    parameters = inspect.signature(declared).parameters
    return {
        name: value
        for name, value in arguments.items()
        if name not in declared.rpc_added or value != parameters[name].default
    }


class Interface:
    """Base of every interface. An instance is a client onto one bus.

    topic: queue name; version: newest version of the declaration
    server_argument: the argument that names the server to send to (one queue
        per host); None sends to whichever server takes it first
    """

    topic: str
    version: str
    server_argument: str | None = None
    methods: dict[str, Declared] = {}

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.methods = {
            name: value for name, value in vars(cls).items() if hasattr(value, 'rpc_kind')
        }
        for name, declared in cls.methods.items():
            setattr(cls, name, _stub(name, declared))

    def __init__(
        self,
        transport: oslo_messaging.Transport,
        oldest: pins.Oldest | None = None,
        *,
        casts: outbox.Lane | None = None,
    ) -> None:
        """oldest: see pins.Pins; casts: sends casts without a wait by the caller"""
        self._casts = casts
        self._pins = pins.Pins(transport.conf, self.topic, oldest)
        self._client = oslo_messaging.get_rpc_client(
            transport,
            oslo_messaging.Target(topic=self.topic, version='1.0'),
            version_cap=self.version,
            serializer=serializer.ObjectSerializer(self._pins),
        )

    def understands(self, method: str, *arguments: str) -> bool:
        """Return whether the far side supports a method with these arguments."""
        pin = self._pins.now()
        needs = _needs(self.methods[method], arguments)
        return pin is None or versions.pair(needs) <= versions.pair(pin.rpc)

    def require(self, method: str, *arguments: str) -> None:
        """Raise TooOld unless the far side understands this."""
        if not self.understands(method, *arguments):
            needs = _needs(self.methods[method], arguments)
            raise exception.TooOld(service=self.topic, method=method, since=needs)

    def _send(
        self, declared: Declared, ctxt: context.RequestContext, name: str, arguments: Arguments
    ) -> typing.Any:
        arguments = _without_defaults(declared, arguments)
        needs = _needs(declared, arguments)
        self.require(name, *arguments)
        server = arguments.get(self.server_argument) if self.server_argument else None
        timeout = declared.rpc_timeout
        if isinstance(timeout, str):
            timeout = self._client.conf[timeout]
        # oslo.messaging would try without end, and hold the caller's thread.
        options = {'version': needs, 'retry': TRIES}
        if server is not None:
            options['server'] = server
        if timeout:
            options['timeout'] = timeout
            silence = self._client.conf.rpc_response_timeout
            if declared.rpc_silence:
                silence = min(silence, declared.rpc_silence)
            if timeout > silence:
                options['call_monitor_timeout'] = silence
        is_call = declared.rpc_kind == 'call'
        client = self._client.prepare(transport_options=ROUTED if is_call else None, **options)
        send = client.call if is_call else client.cast
        labels = {'interface': type(self).__name__, 'method': name, 'side': 'client'}

        def now() -> typing.Any:
            with metrics.timed(metrics.RPC, **labels):
                return self._answer(send, ctxt, name, arguments)

        if is_call or self._casts is None:
            return now()
        self._casts.put(ctxt, name, now)
        return None

    def _answer(
        self, send: Method, ctxt: context.RequestContext, name: str, arguments: Arguments
    ) -> typing.Any:
        try:
            return send(ctxt, name, **arguments)
        except exception.NovaLiteError as error:
            # oslo.messaging raises a subclass whose text carries the far side's
            # traceback; callers and users are shown the plain error.
            raise type(error).__bases__[0](error.message, **error.kwargs) from None
        except oslo_messaging.MessagingTimeout as error:
            raise exception.MessagingTimeout(
                service=self.topic, reason='no reply', method=name, topic=self.topic
            ) from error
        except oslo_messaging.MessageUndeliverable as error:
            raise exception.Unavailable(
                service=self.topic, reason='no daemon serves its queue'
            ) from error
        except oslo_messaging.MessageDeliveryFailure as error:
            raise exception.BusUnavailable(service='The message bus', reason=error) from error
        except oslo_messaging.RemoteError as error:
            if error.exc_type == 'UnsupportedVersion':
                raise exception.TooOld(
                    service=self.topic, method=name, since=_needs(self.methods[name], arguments)
                ) from error
            raise exception.RemoteError(type=error.exc_type, value=error.value) from error

    def require_answers(self, server: str | None = None) -> None:
        """Send a server a message. Raise BusUnavailable unless the bus confirms it.

        No reply of the server is awaited: it may be restarting.
        """
        options = {} if server is None else {'server': server}
        client = self._client.prepare(retry=TRIES, **options)
        self._answer(client.cast, context.admin(), PING, {})

    def ping(self, server: str | None = None, timeout: float | None = PING_S) -> typing.Any:
        """Ask a server for a sign of life, over the bus; raises as any call does."""
        options = {} if server is None else {'server': server}
        client = self._client.prepare(
            transport_options=ROUTED, timeout=timeout, retry=TRIES, **options
        )
        return self._answer(client.call, context.admin(), PING, {})

    @classmethod
    def server(
        cls,
        transport: oslo_messaging.Transport,
        servers: str | collections.abc.Iterable[str],
        manager: object,
        *,
        callers: pins.Pins | None = None,
    ) -> '_Server':
        """Return an oslo.messaging server that answers for `servers` with `manager`.

        servers: one name or many; many share a single listener. The caller
        starts it (`start(override_pool_size=threads)`) and stops it.
        callers: Pins of those who get the answers; None: none is older than the server
        Raise TypeError when manager and declaration differ.
        """
        names = [servers] if isinstance(servers, str) else list(servers)
        endpoint = _endpoint(cls, manager)
        target = oslo_messaging.Target(
            topic=cls.topic, server=driver.Queues(names[0], _queues(cls, names))
        )
        dispatcher = oslo_messaging.RPCDispatcher(
            [endpoint, _Ping()],
            serializer.ObjectSerializer(callers),
            access_policy=oslo_messaging.ExplicitRPCAccessPolicy,
        )
        return _Server(transport, target, dispatcher, 'threading')


class _Ping:
    """The methods of all servers besides their interfaces."""

    @oslo_messaging.expose  # type: ignore[untyped-decorator]  # is not typed
    def nova_lite_ping(self, ctxt: context.RequestContext) -> str:
        return 'pong'


class _Server(rpc_server.RPCServer):  # type: ignore[misc]  # is not typed
    """An RPC server with our own thread pool, whose idle threads sleep."""

    def __init__(self, *args: typing.Any) -> None:
        super().__init__(*args)
        messaging.use_executor(self, workers.Executor)


def _queues(interface: type[Interface], names: list[str]) -> list[str]:
    """Return the queues that servers of these names consume: those that callers may send to."""
    argument = interface.server_argument
    if argument is None:
        return [interface.topic]
    own = [f'{interface.topic}.{name}' for name in names]
    named = [inspect.signature(method).parameters for method in interface.methods.values()]
    always = all(argument in found and found[argument].default is REQUIRED for found in named)
    return own if always else [interface.topic, *own]


def _endpoint(interface: type[Interface], manager: object) -> object:
    """Return an object with just the declared methods, each wrapped once."""
    endpoint = type(f'{interface.__name__}Endpoint', (), {})()
    endpoint.target = oslo_messaging.Target(version=interface.version)
    for name, declared in interface.methods.items():
        labels = {'interface': interface.__name__, 'method': name}
        found = implementation(interface, manager, name)
        setattr(endpoint, name, _dispatch(declared, found, labels))
    return endpoint


def implementation(interface: type[Interface], manager: object, name: str) -> Method:
    """Return the method of that name, behind the manager's fence if it is declared as fenced.

    It is the manager's, or that of one of its `parts`, if it has any.
    Raises TypeError when manager and declaration differ.
    """
    declared = interface.methods[name]
    answering = (manager, *getattr(manager, 'parts', ()))
    methods = (getattr(each, name) for each in answering if hasattr(each, name))
    found: Method | None = next(methods, None)
    if found is None:
        raise TypeError(f'{type(manager).__name__} has no {interface.__name__}.{name}')
    wanted = _parameters(declared)[1:]
    bound = getattr(found, '__func__', None)
    takes = _parameters(found) if bound is None else _parameters(bound)[1:]
    if wanted != takes:
        raise TypeError(
            f'{type(manager).__name__}.{name} takes {takes}, {interface.__name__} declares {wanted}'
        )
    if not declared.rpc_fenced:
        return found
    if not hasattr(manager, 'fence'):
        raise TypeError(f'{type(manager).__name__} has no fence for {interface.__name__}.{name}')

    @functools.wraps(found)
    def fenced(ctxt: context.RequestContext, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        manager.fence.check(ctxt)
        return found(ctxt, *args, **kwargs)

    return fenced


@functools.cache
def _parameters(function: typing.Callable[..., typing.Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _dispatch(declared: Declared, implementation: Method, labels: dict[str, str]) -> Method:
    """Return what every received call goes through.

    Errors of ours are an answer: oslo.messaging gets them as expected, without
    a traceback in the log. The error of a cast has no one to go to but the log.
    oslo.messaging sends the traceback and the causes of an error, so they are removed first.
    """

    @functools.wraps(implementation)
    def method(ctxt: context.RequestContext, **arguments: typing.Any) -> typing.Any:
        try:
            with metrics.timed(metrics.RPC, **labels, side='server'):
                return implementation(ctxt, **arguments)
        except exception.NovaLiteError as error:
            if declared.rpc_kind == 'cast':
                away = isinstance(error, exception.Unavailable)
                LOG.error('%s failed: %s', implementation.__name__, error, exc_info=not away)
                return None
            kind = type(error).__name__
            LOG.debug('%s answers with %s: %s', implementation.__name__, kind, error)
            answer = error.with_traceback(None)
            answer.__cause__ = answer.__context__ = None
        except Exception as error:
            # A bug of ours. The caller must not take a KeyError here for one of its own.
            LOG.exception('%s failed', implementation.__name__)
            if declared.rpc_kind == 'cast':
                return None
            answer = exception.RemoteError(type=type(error).__name__, value=str(error))
        try:
            raise answer
        except exception.NovaLiteError:
            raise oslo_messaging.ExpectedException() from None

    exposed: Method = oslo_messaging.expose(method)
    return exposed

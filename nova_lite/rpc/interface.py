"""Declare an RPC interface once, and get its client and its server from the declaration.

The methods of an `Interface` subclass, and of its other bases, are signatures: a `@call` waits for
the result, a `@cast` does not. Only the decorators have the versions: `since` is the interface
version that added a method, `added` those that added arguments. `fenced` marks methods of sagas.
"""

import collections.abc
import functools
import inspect
import typing

from oslo_log import log
import oslo_messaging

from nova_lite import context
from nova_lite import exception
from nova_lite import metrics
from nova_lite import versions
from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import outbox
from nova_lite.rpc import ping
from nova_lite.rpc import pins
from nova_lite.rpc import plain
from nova_lite.rpc import serializer
from nova_lite.runtime import workers

LOG = log.getLogger(__name__)

LONG = 1800
TRIES = 2
# End of the names of classes of errors that oslo.messaging makes for a caller.
REMOTE = '_Remote'
REQUIRED = inspect.Parameter.empty
# The broker returns a call for which there is no queue, so that the caller does not wait.
ROUTED = oslo_messaging.TransportOptions(at_least_once=True)

Arguments: typing.TypeAlias = dict[str, typing.Any]
# {argument: the interface version that added it}
Added: typing.TypeAlias = dict[str, str]
# A signature with the attributes that `_declare` sets, which functions do not have by type.
Declared: typing.TypeAlias = typing.Any
Method: typing.TypeAlias = typing.Callable[..., typing.Any]
F = typing.TypeVar('F', bound=Method)


class Decorator(typing.Protocol):
    """The type of a decorator that does not change the signature of a declaration."""

    def __call__(self, function: F, /) -> F:
        """Return `function` itself."""


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

    timeout: seconds, or the name of an option in [DEFAULT]; None: [DEFAULT]rpc_response_timeout
    silence: with a longer timeout the server sends RPC heartbeats, and the call fails if none
        arrives for so many seconds, for example because the process has died. The default and the
        maximum are [DEFAULT]rpc_response_timeout
    added: {argument: the interface version that added it}. The default value of such an argument
        must mean the former behaviour. It is only sent with another value, and not to older servers
    fenced: the method belongs to steps of sagas. The manager's `fence.check(ctxt)` runs first, and
        refuses a former owner of the saga
    """
    return _declare('call', since, added, timeout=timeout, silence=silence, fenced=fenced)


def cast(since: str, added: Added | None = None) -> Decorator:
    """Return a method whose caller neither waits nor gets a result. added: see `call`."""
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
    """Return the lowest interface version that has all of the arguments."""
    brought = [declared.rpc_added[name] for name in arguments if name in declared.rpc_added]
    needs: str = max([declared.rpc_since, *brought], key=versions.pair)
    return needs


def _without_defaults(declared: Declared, arguments: Arguments) -> Arguments:
    """Return the arguments without those of `added` that have their default value."""
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
    server_argument: the argument that names the server (one queue per host); None: any server of
        the topic gets the message
    """

    topic: str
    version: str
    server_argument: str | None = None
    methods: dict[str, Declared] = {}

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        owners = [cls, *(base for base in cls.__bases__ if not issubclass(base, Interface))]
        found = [each for owner in owners for each in vars(owner).items()]
        cls.methods = {name: value for name, value in found if hasattr(value, 'rpc_kind')}
        for name, declared in cls.methods.items():
            setattr(cls, name, _stub(name, declared))

    def __init__(
        self,
        transport: oslo_messaging.Transport,
        oldest: pins.Oldest | None = None,
        *,
        casts: outbox.Lane | None = None,
    ) -> None:
        """Create a client. oldest: see pins.Pins; casts: an outbox.Lane, or None to send at once"""
        self._casts = casts
        self._pins = pins.Pins(transport.conf, self.topic, oldest)
        self._client = oslo_messaging.get_rpc_client(
            transport,
            oslo_messaging.Target(
                topic=self.topic, version='1.0', exchange=buses.of(transport).exchange
            ),
            version_cap=self.version,
            serializer=serializer.ObjectSerializer(self._pins),
        )

    def understands(self, method: str, *arguments: str) -> bool:
        """Return whether the far side supports a method with these arguments."""
        pin = self._pins.now()
        needs = _needs(self.methods[method], arguments)
        return pin is None or versions.pair(needs) <= versions.pair(pin.rpc)

    def require(self, method: str, *arguments: str) -> None:
        """Raise TooOld unless the far side supports a method with these arguments."""
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
        # oslo.messaging would retry without limit, and block the caller's thread.
        options = {'version': needs, 'retry': TRIES}
        if server is not None:
            options['server'] = server
        if timeout:
            options['timeout'] = timeout
            silence = self._client.conf.rpc_response_timeout
            silence = min(silence, declared.rpc_silence or silence)
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
            # oslo.messaging raises a subclass whose text contains the traceback of the
            # server; callers and users get the plain error.
            kind = type(error)
            plain_kind = kind.__bases__[0] if kind.__name__.endswith(REMOTE) else kind
            raise plain_kind(error.message, **error.kwargs) from None
        except oslo_messaging.MessagingTimeout as error:
            raise exception.MessagingTimeout(
                service=self.topic, reason='no reply', method=name, topic=self.topic
            ) from error
        except oslo_messaging.MessageUndeliverable as error:
            raise exception.Unavailable(
                service=self.topic, reason='no daemon serves its queue'
            ) from error
        except (oslo_messaging.MessageDeliveryFailure, *buses.LOST) as error:
            if not buses.is_of_connection(error):
                raise
            raise exception.BusUnavailable(service='The message bus', reason=error) from error
        except oslo_messaging.RemoteError as error:
            if error.exc_type == 'UnsupportedVersion':
                raise exception.TooOld(
                    service=self.topic, method=name, since=_needs(self.methods[name], arguments)
                ) from error
            raise exception.RemoteError(type=error.exc_type, value=error.value) from error

    def require_answers(self, server: str | None = None) -> None:
        """Send a message to a server. Raise BusUnavailable unless the bus confirms it.

        Do not wait for a reply of the server, which may be restarting.
        """
        options = {} if server is None else {'server': server}
        client = self._client.prepare(retry=TRIES, **options)
        self._answer(client.cast, context.admin(), ping.NAME, {})

    def ping(self, server: str | None = None, timeout: float | None = ping.WAIT_S) -> typing.Any:
        """Call a server, which replies at once. Raise the errors of a call."""
        options = {} if server is None else {'server': server}
        client = self._client.prepare(
            transport_options=ROUTED, timeout=timeout, retry=TRIES, **options
        )
        return self._answer(client.call, context.admin(), ping.NAME, {})

    @classmethod
    def server(
        cls,
        transport: oslo_messaging.Transport,
        servers: str | collections.abc.Iterable[str],
        manager: object,
        *,
        callers: pins.Pins | None = None,
    ) -> typing.Any:
        """Return an oslo.messaging server that answers for `servers` with `manager`.

        servers: one name or many, which share a listener. The caller starts and stops it
        manager: its `queues_renewed`, if it has one, is the `renewed` of buses.Queues
        callers: Pins of the callers, for the replies; None: no caller is older than the server
        Raise TypeError if manager and declaration differ.
        """
        names = [servers] if isinstance(servers, str) else list(servers)
        endpoint = _endpoint(cls, manager)

        def make(target: oslo_messaging.Target) -> typing.Any:
            return oslo_messaging.get_rpc_server(
                transport,
                target,
                [endpoint, ping.Endpoint()],
                executor='threading',
                serializer=serializer.ObjectSerializer(callers),
                access_policy=oslo_messaging.ExplicitRPCAccessPolicy,
            )

        bus = buses.of(transport)
        if not bus.shares:
            targets = [oslo_messaging.Target(bus.exchange, cls.topic, server=n) for n in names]
            return plain.Servers(targets, make)
        renewed = getattr(manager, 'queues_renewed', lambda: None)
        queues = buses.Queues(names[0], _queues(cls, names), renewed)
        made = make(oslo_messaging.Target(topic=cls.topic, server=queues))
        # Our own thread pool, whose idle threads sleep.
        messaging.use_executor(made, workers.Executor)
        return made


def _queues(interface: type[Interface], names: list[str]) -> list[str]:
    """Return the queues of servers, which are exactly those to which callers may send."""
    argument = interface.server_argument
    if argument is None:
        return [interface.topic]
    own = [f'{interface.topic}.{name}' for name in names]
    named = [inspect.signature(method).parameters for method in interface.methods.values()]
    always = all(argument in found and found[argument].default is REQUIRED for found in named)
    return own if always else [interface.topic, *own]


def _endpoint(interface: type[Interface], manager: object) -> object:
    """Return an object that has only the declared methods, each wrapped by `_dispatch`."""
    endpoint = type(f'{interface.__name__}Endpoint', (), {})()
    endpoint.target = oslo_messaging.Target(version=interface.version)
    for name, declared in interface.methods.items():
        labels = {'interface': interface.__name__, 'method': name}
        found = implementation(interface, manager, name)
        setattr(endpoint, name, _dispatch(declared, found, labels))
    return endpoint


def implementation(interface: type[Interface], manager: object, name: str) -> Method:
    """Return the method of the manager, or of one of its `parts`, with its fence if it is fenced.

    Raises TypeError if manager and declaration differ.
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
    """Return the function that handles received calls of a method.

    Errors of ours are replies: oslo.messaging gets them as expected errors, and logs no
    traceback. The error of a cast is only logged. oslo.messaging would send the traceback and the
    causes of an error, so they are removed.
    """

    @functools.wraps(implementation)
    def method(ctxt: context.RequestContext, **arguments: typing.Any) -> typing.Any:
        try:
            with metrics.timed(metrics.RPC, **labels, side='server'):
                return implementation(ctxt, **arguments)
        except exception.NovaLiteError as error:
            if declared.rpc_kind == 'cast':
                away = isinstance(error, exception.Unavailable)
                LOG.error('%s failed: %s', labels['method'], error, exc_info=not away)
                return None
            kind = type(error).__name__
            LOG.debug('%s answers with %s: %s', labels['method'], kind, error)
            answer = error.with_traceback(None)
            answer.__cause__ = answer.__context__ = None
        except Exception as error:
            # A bug of ours. The caller must not take a KeyError of this process for its own.
            LOG.exception('%s failed', labels['method'])
            if declared.rpc_kind == 'cast':
                return None
            answer = exception.RemoteError(type=type(error).__name__, value=str(error))
        try:
            raise answer
        except exception.NovaLiteError:
            raise oslo_messaging.ExpectedException() from None

    exposed: Method = oslo_messaging.expose(method)
    return exposed

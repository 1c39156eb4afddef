"""Calls of hosts by the steps of a saga.

A host is down while its compute service does not report, or is forced down. It may also have been
removed from the cloud. `ServerCell.require_up_or_fail` is for steps that do not wait for the host.

A step that reads the cell before it calls a host reads the host's service in the same transaction,
see `with_services`.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.cell import services
from nova_lite.moves import scope as scopes

LOG = log.getLogger(__name__)

# The type of a step's result, which is made of the reply of a host.
Reply: typing.TypeAlias = saga.Pending | saga.Data | None
# A method of a compute.
Method: typing.TypeAlias = Callable[..., saga.Data]
# {host: its compute service or None}
Known: typing.TypeAlias = Mapping[str, rows.Row | None]
T = typing.TypeVar('T')
# Maximum number of seconds between two polls of a step, so that it notices a deletion or an abort.
LONGEST_POLL_S = 5.0


class HostRemoved(exception.NotFound):
    """The host was removed from the cloud. A move tries another destination, if that is allowed."""

    reschedule = True
    msg = (
        'Host %(host)s has no compute service: it was removed from the cloud. Choose another host. '
        'If this one is to stay, restart its compute service and run '
        '"nova-lite-manage cell_v2 discover_hosts".'
    )


def read(
    scope: scopes.Scope, function: Callable[..., T], *args: typing.Any, hosts: Iterable[str]
) -> tuple[T, Known]:
    """Run a function that reads the cell. Return its result, and {host: its service or None}."""
    return scope.read(with_services, function, *args, hosts=hosts)


def with_services(
    connection: sa.Connection,
    function: Callable[..., T],
    *args: typing.Any,
    hosts: Iterable[str],
    **kwargs: typing.Any,
) -> tuple[T, Known]:
    """Return the result of a function of the cell, and {host: its compute service or None}."""
    result = function(connection, *args, **kwargs)
    return result, services_of(connection, hosts)


def services_of(connection: sa.Connection, hosts: Iterable[str]) -> Known:
    """Return {host: its compute service or None} of hosts of the cell."""
    return {host: services.find(connection, host) for host in hosts}


def answer(reply: saga.Data, host: str) -> Reply:
    """Return the result of a step from the reply of a move method of a host's compute."""
    if 'pending' in reply:
        wake_in = min(reply['pending'], LONGEST_POLL_S)
        return saga.Pending(wake_in=wake_in, detail=f'{host} works')
    return {name: value for name, value in reply.items() if name != 'done'} or None


def ask(
    scope: scopes.Scope,
    method: Method,
    /,
    *,
    known: Known | None = None,
    **arguments: typing.Any,
) -> Reply:
    """Call a method of a compute for a step. Return a Pending, or the reply.

    Raise as `require_up_or_retry`. An undo also calls a host that is down, but raises
    ServiceIsDown for a host that is forced down or removed, and for a host that is down and does
    not answer: `compute.move_audit` of that host removes guests when it is back.

    known: see `require_up_or_retry`
    """
    host = arguments['host']
    if not scope.undoing:
        require_up_or_retry(scope, host, known=known)
    elif _is_given_up(_service(scope, host)):
        raise _down(host)
    return _call(scope, method, arguments)


def ask_one_that_is_up(
    scope: scopes.Scope,
    method: Method,
    /,
    *,
    known: Known | None = None,
    **arguments: typing.Any,
) -> Reply:
    """Call a method as `ask`, but raise as `require_not_forced_down`, also in an undo."""
    require_not_forced_down(scope, arguments['host'], known=known)
    return _call(scope, method, arguments)


def _call(scope: scopes.Scope, method: Method, arguments: saga.Data) -> Reply:
    host = arguments['host']
    try:
        return answer(method(scope.ctxt, **arguments), host)
    except exception.Unavailable as error:
        if scope.undoing and is_down(scope, _service(scope, host)):
            raise _down(host) from error
        raise


@contextlib.contextmanager
def unless_deleted(scope: scopes.Scope) -> Iterator[None]:
    """Ignore a failed effect on a guest whose server is gone: the deletion may interrupt it.

    The caller must remove the objects that the effect should have removed.
    """
    try:
        yield
    except exception.DriverError as error:
        if not scope.is_gone():
            raise
        LOG.info('Saga %s: server %s is being deleted: %s', scope.uuid, scope.instance_uuid, error)


def _down(host: str) -> exception.ServiceIsDown:
    return exception.ServiceIsDown(binary=services.COMPUTE, host=host)


def require_up_or_retry(scope: scopes.Scope, host: str, *, known: Known | None = None) -> None:
    """Raise HostRemoved, or Unavailable, which repeats the step, while a host of any cell is down.

    A call to a host that hangs would hold a thread until it times out.

    known: {host: service}, see `with_services`, of those that this step has read
    """
    _require_up_or_retry(scope, host, _service(scope, host, known))


def require_up_or_fail(scope: scopes.Scope, host: str, known: Known) -> None:
    """Raise ServiceIsDown or HostUnheard as `services.require_up`. known: see `with_services`"""
    service = known[host]
    if service is None:
        raise _down(host)
    services.require_up(service, scope.world.conf.service_down_time)


def require_not_forced_down(scope: scopes.Scope, host: str, *, known: Known | None = None) -> None:
    """Raise ServiceIsDown for a host that is forced down, otherwise as `require_up_or_retry`.

    A host that is down without being forced may report again soon, for example after its
    conductor was restarted.
    """
    service = _service(scope, host, known)
    if service is not None and _is_given_up(service):
        raise _down(host)
    _require_up_or_retry(scope, host, service)


def _require_up_or_retry(scope: scopes.Scope, host: str, service: rows.Row | None) -> None:
    if service is None:
        raise HostRemoved(host=host)
    try:
        services.require_up(service, scope.world.conf.service_down_time)
    except exception.ServiceIsDown as error:
        raise exception.Unavailable(service=services.COMPUTE, reason=f'{host} is not up') from error


def _service(scope: scopes.Scope, host: str, known: Known | None = None) -> rows.Row | None:
    """Return the compute service of a host of any cell, or None. known: see `with_services`"""
    found = (known or {}).get(host) or scope.read(services.find, host)
    if found is not None:
        return found
    try:
        cell = scope.world.cells.of_host(host)
    except exception.HostMappingNotFound:
        return None
    return cell.db.read(services.find, host)


def _is_given_up(service: rows.Row | None) -> bool:
    """Return whether a host is forced down or removed, so that it will not report."""
    return service is None or service.forced_down


def is_down(scope: scopes.Scope, service: rows.Row | None) -> bool:
    """Return whether a host is known to be down, or has no compute service."""
    down_s = scope.world.conf.service_down_time
    return service is None or services.is_down(service, down_s)

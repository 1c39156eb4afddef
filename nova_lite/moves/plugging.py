"""Wait in a step of a move until the destination has plugged the server's ports.

The saga is parked. An event from the network service wakes it through the API; without an
event it polls every few seconds. The state of the wait is in the network service or in the
migration's record, so a restart loses nothing. Source: reference/nova/moves 3 and 4.2.
"""

from collections.abc import Callable
import datetime
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import plugging
from nova_lite.clients import session
from nova_lite.db import database_clock
from nova_lite.db import rows
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from nova_lite.moves import asking
from nova_lite.moves import scope as scopes

LOG = log.getLogger(__name__)

# The new network_info, or a Pending.
Plugged: typing.TypeAlias = session.Jsons | saga.Skipped | saga.Pending

# {'host', 'since', 'made'}: the destination, the begin of the wait, the intermediate result.
AWAITED = saga.Result('ports-awaited', saga.Data)
HYBRID = 'ovs_hybrid_plug'


def plugged(
    scope: scopes.Scope,
    host: str,
    plug: Callable[[str], session.Jsons | saga.Skipped],
    *,
    is_on: bool,
    may_fail: bool = True,
) -> Plugged:
    """Return network_info when a host has plugged a server's ports, or Pending.

    plug: function of the host that activates the bindings and returns network_info
    is_on: whether the guest will be started; if not, the step does not wait
    may_fail: False if the move cannot be undone, so that the guest starts in any case
    Raise VirtualInterfaceCreateException.
    """

    def look(info: session.Jsons) -> session.Jsons:
        return plugging.reread(scope.world.network, scope.ctxt, scope.instance_uuid, info)

    info = _made(scope, host) or plug(host)
    if isinstance(info, saga.Skipped) or not info or not is_on:
        return info
    if plugging.down(info) and scope.is_gone():
        return info
    info, waits = _wait(scope, host, info, look=look, may_fail=may_fail)
    if waits:
        _keep(scope, host, info)
    return waits or info


def has_made(scope: scopes.Scope, host: str) -> bool:
    """Return whether the step has done its work on a host, and waits for ports."""
    return bool(_made(scope, host))


def plugged_before(
    scope: scopes.Scope, host: str, row: rows.Row, made: asking.Reply
) -> asking.Reply:
    """Return the result of a step's work when a host has plugged the ports, or Pending.

    The host does not have the guest yet, so the step waits only for ports that are plugged through
    a Linux bridge. Other ports are plugged when the guest starts. Raise
    VirtualInterfaceCreateException.
    row: the server's row; made: the result of the step's work, not used if `has_made`
    """
    made = _made(scope, host) or made
    vifs = [vif for vif in row.network_info or () if _is_hybrid(vif)]
    is_wanted = scope.world.conf.compute.live_migration_wait_for_vif_plug
    if isinstance(made, saga.Pending) or not vifs or not is_wanted:
        return made
    migration = scope.read(migrations.get, scope.uuid)
    if live_migrations.ABORT in migration.data:
        # Do not wait, because the source will refuse to copy the guest.
        return made
    events = live_migrations.plugged(migration, host)

    def look(info: session.Jsons) -> session.Jsons:
        return plugging.with_events(info, events)

    _info, waits = _wait(scope, host, [{**vif, 'active': False} for vif in vifs], look=look)
    if waits:
        _keep(scope, host, made)
    return waits or made


def _is_hybrid(vif: session.Json) -> bool:
    return bool((vif.get('details') or {}).get(HYBRID))


def _wait(
    scope: scopes.Scope,
    host: str,
    info: session.Jsons,
    *,
    look: Callable[[session.Jsons], session.Jsons],
    may_fail: bool = True,
) -> tuple[session.Jsons, saga.Pending | None]:
    """Return (the current network_info, Pending or None)."""
    conf, seconds = scope.world.conf, scope.world.conf.vif_plugging_timeout
    if not seconds or not plugging.down(info):
        return info, None
    try:
        info = look(info)
        if not plugging.down(info):
            return info, None
        left_s = seconds - _waited_s(scope, host)
        if left_s <= 0:
            raise plugging.timed_out(info, seconds)
    except exception.VirtualInterfaceCreateException as error:
        if may_fail and conf.vif_plugging_is_fatal:
            raise
        LOG.warning(
            'Server %s starts on host %s without all of its ports: %s',
            scope.instance_uuid,
            host,
            error,
        )
        return info, None
    ports = ', '.join(plugging.down(info))
    wake_in = min(left_s, asking.LONGEST_POLL_S)
    return info, saga.Pending(wake_in=wake_in, detail=f'host {host} plugs port {ports}')


def _awaited(scope: scopes.Scope, host: str) -> saga.Data | None:
    """Return the stored state of the wait for a host, or None."""
    awaited = scope.results.get(AWAITED)
    return awaited if awaited and awaited['host'] == host else None


def _made(scope: scopes.Scope, host: str) -> typing.Any:
    """Return the result of the step's work for a host at the begin of the wait, or None."""
    awaited = _awaited(scope, host)
    return awaited and awaited['made']


def _waited_s(scope: scopes.Scope, host: str) -> float:
    """Return for how many seconds the step has waited, by the clock of the database."""
    awaited = _awaited(scope, host)
    if awaited is None:
        return 0
    since = datetime.datetime.fromisoformat(awaited['since'])
    return (scope.world.api_db.read(database_clock.read) - since).total_seconds()


def _keep(scope: scopes.Scope, host: str, made: typing.Any) -> None:
    awaited = _awaited(scope, host)
    since = (
        awaited['since'] if awaited else scope.world.api_db.read(database_clock.read).isoformat()
    )
    scope.results[AWAITED] = {'host': host, 'since': since, 'made': made}

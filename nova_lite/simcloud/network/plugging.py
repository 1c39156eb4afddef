"""The time at which ports become ACTIVE on their hosts, and the events for Nova.

Without rules every port is ACTIVE as soon as it is bound. The answer to the request shows
this, so no event is sent. With rules a port is DOWN until its host has plugged it. The status
follows from the clock and survives a restart of this process; a pending event does not.
"""

import dataclasses
import datetime
from typing import Protocol

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import database
from nova_lite.simcloud.network import bindings
from nova_lite.simcloud.network import tables

PLUGS = tables.plugs
EVENT = 'network-vif-plugged'
COMPLETED, FAILED, LOST = 'completed', 'failed', 'lost'
ACTIVE, DOWN, ERROR = 'ACTIVE', 'DOWN', 'ERROR'
OVS = 'ovs'


@dataclasses.dataclass(frozen=True)
class Plug:
    """The future of a port that is bound to a host.

    delay_s: until it is plugged; outcome: COMPLETED, FAILED or LOST (it stays DOWN)
    """

    delay_s: float
    outcome: str


class Rules(Protocol):
    """Rules for plugging. network, port: their names"""

    def draw(self, *, host: str, network: str, port: str) -> Plug | None:
        """Return what happens to a port that is bound to a host; None: ACTIVE at once."""

    def is_hybrid(self, *, host: str, network: str, port: str) -> bool:
        """Return whether the host plugs the port through a Linux bridge, before its guest runs."""


class Instant:
    """Ports are ACTIVE as soon as they are bound, including those that waited before."""

    def __init__(self, db):
        db.change(database.delete, PLUGS)

    def bound(self, db, port_id):
        """Do nothing after the active binding of a port was changed."""

    def prepared(self, db, port_id, host):
        """Do nothing after an inactive binding was made."""

    def statuses(self, conn, ids):
        """Return {port id: its status on its host}, of those that are not ACTIVE."""
        return {}


class Plugging:
    """Ports become ACTIVE according to rules. events: sends events to Nova"""

    def __init__(self, rules, events):
        self._rules, self._events = rules, events

    def bound(self, db, port_id):
        """Decide what happens to a port after its active binding was changed."""
        drawn = db.change(self._bind, port_id)
        if drawn is not None:
            self._notify(*drawn)

    def _bind(self, conn, port_id):
        """Return (port, Plug) if the host now has to plug the port, else None."""
        port = database.find(conn, tables.ports, id=port_id)
        if port is None:
            return None
        active = bindings.active_of(port_id, bindings.of_port(conn, port_id))
        is_bound = (
            active['host']
            and active['vif_type'] != bindings.UNBOUND
            and port['device_owner'].startswith('compute:')
        )
        if is_bound:
            self._say_hybrid(conn, port, active)
        known = database.find(conn, PLUGS, port_id=port_id)
        if known and known['host'] == active['host']:
            return None
        database.delete(conn, PLUGS, port_id=port_id)
        if not is_bound:
            return None
        drawn = self._rules.draw(**_subject(conn, port, active['host']))
        # Ports without a rule are recorded, too, so that a later change does not draw again.
        plug = drawn or Plug(0, COMPLETED)
        ready_at = runtime.naive_now() + datetime.timedelta(seconds=plug.delay_s)
        database.insert(
            conn,
            PLUGS,
            port_id=port_id,
            host=active['host'],
            outcome=plug.outcome,
            ready_at=ready_at,
        )
        return drawn and (port, drawn)

    def prepared(self, db, port_id, host):
        """Notify Nova of a port that a host plugs before its guest moves there."""
        drawn = db.change(self._prepare, port_id, host)
        if drawn is not None:
            self._notify(*drawn)

    def _prepare(self, conn, port_id, host):
        port = database.find(conn, tables.ports, id=port_id)
        binding = database.find(conn, tables.bindings, port_id=port_id, host=host)
        if port is None or binding is None or not self._say_hybrid(conn, port, binding):
            return None
        plug = self._rules.draw(**_subject(conn, port, host))
        return None if plug is None else (port, plug)

    def _say_hybrid(self, conn, port, binding):
        """Complete the vif_details of a binding. Return whether they say hybrid plugging."""
        if binding['vif_type'] != OVS:
            return False
        hybrid = self._rules.is_hybrid(**_subject(conn, port, binding['host']))
        details = {**binding['vif_details'], 'ovs_hybrid_plug': hybrid}
        database.save(conn, tables.bindings, binding, vif_details=details)
        return hybrid

    def _notify(self, port, plug):
        if plug.outcome != LOST:
            concerned = [(port['device_id'], port['id'])]
            self._events.send(EVENT, concerned, status=plug.outcome, after_s=plug.delay_s)

    def statuses(self, conn, ids):
        """Return {port id: its status on its host}, of those that are not ACTIVE."""
        now = runtime.naive_now()
        found = database.grouped(conn, PLUGS.c.port_id, ids)
        statuses = {port_id: _status(row, now) for port_id, (row,) in found.items()}
        return {port_id: status for port_id, status in statuses.items() if status != ACTIVE}


def make(db, rules, events):
    """Return what plugs ports by rules, which may be None."""
    return Instant(db) if rules is None else Plugging(rules, events)


def _subject(conn, port, host):
    network = database.find(conn, tables.networks, id=port['network_id'])
    return {'host': host, 'network': network['name'], 'port': port['name']}


def _status(row, now):
    if row['outcome'] == LOST or now < row['ready_at']:
        return DOWN
    return ERROR if row['outcome'] == FAILED else ACTIVE


def is_down():
    """Return the condition that a port has yet to be plugged, or cannot be."""
    waits = sa.or_(PLUGS.c.outcome == LOST, PLUGS.c.ready_at > runtime.naive_now())
    return sa.exists().where(PLUGS.c.port_id == tables.ports.c.id, waits)


def is_broken():
    """Return the condition that plugging a port has failed."""
    return sa.exists().where(
        PLUGS.c.port_id == tables.ports.c.id,
        PLUGS.c.outcome == FAILED,
        PLUGS.c.ready_at <= runtime.naive_now(),
    )

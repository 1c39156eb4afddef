"""The time at which ports become ACTIVE on their hosts, and the events for Nova.

Without rules, every port is ACTIVE as soon as it is bound. The answer to the request shows this,
so no event is sent. With rules, a port is DOWN until its host has plugged it. The status follows
from the clock and survives a restart of this process; a pending event does not.
"""

import datetime
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.dialects import shapes
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud.network import binding_records
from nova_lite.simcloud.network import tables

PLUGS = tables.plugs
EVENT = 'network-vif-plugged'
COMPLETED, FAILED, LOST = 'completed', 'failed', 'lost'
ACTIVE, DOWN, ERROR = 'ACTIVE', 'DOWN', 'ERROR'
OVS = 'ovs'


# The fate of a port that is bound to a host: the seconds until it is plugged, and the outcome:
# COMPLETED, FAILED, or LOST (the port stays DOWN).
Plug: typing.TypeAlias = tuple[float, str]


class Rules(typing.Protocol):
    """Rules for plugging ports. host, network, port: their names"""

    def draw(self, *, host: str, network: str, port: str) -> Plug | None:
        """Return the fate of a port that is bound to a host; None: the port is ACTIVE at once."""

    def is_hybrid(self, *, host: str, network: str, port: str) -> bool:
        """Return whether the host plugs the port through a Linux bridge, before its guest runs."""


class Instant:
    """Makes ports ACTIVE as soon as they are bound, including ports that are still waiting."""

    def __init__(self, db: database.Database) -> None:
        db.change(lambda conn: database.delete(conn, PLUGS))

    def bound(self, db: database.Database, port_id: str) -> None:
        """Do nothing after the active binding of a port was changed."""

    def prepared(self, db: database.Database, port_id: str, host: str) -> None:
        """Do nothing after an inactive binding was made."""

    def statuses(self, conn: sa.Connection, ids: list[str]) -> dict[str, str]:
        """Return {port id: its status on its host}, of those that are not ACTIVE."""
        return {}


class ByRules:
    """Makes ports ACTIVE according to rules, and sends events to Nova."""

    def __init__(self, rules: Rules, events: external_events.Sender) -> None:
        self._rules, self._events = rules, events

    def bound(self, db: database.Database, port_id: str) -> None:
        """Draw the fate of a port whose active binding was changed, and notify Nova of it."""
        drawn = db.change(self._bind, port_id)
        if drawn is not None:
            self._notify(*drawn)

    def _bind(self, conn: sa.Connection, port_id: str) -> tuple[database.Row, Plug] | None:
        """Return (port, fate) if the host now has to plug the port, else None."""
        port = database.find(conn, tables.ports, id=port_id)
        if port is None:
            return None
        active = binding_records.active_of(port_id, binding_records.of_port(conn, port_id))
        is_bound = (
            active['host']
            and binding_records.is_bound(active)
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
        # Ports without a rule are recorded too, so that a later change does not draw again.
        delay_s, outcome = drawn or (0, COMPLETED)
        ready_at = runtime.naive_now() + datetime.timedelta(seconds=delay_s)
        database.insert(
            conn,
            PLUGS,
            port_id=port_id,
            host=active['host'],
            outcome=outcome,
            ready_at=ready_at,
        )
        return (port, drawn) if drawn else None

    def prepared(self, db: database.Database, port_id: str, host: str) -> None:
        """Notify Nova of a port that a host plugs before the guest of the port moves there."""
        drawn = db.change(self._prepare, port_id, host)
        if drawn is not None:
            self._notify(*drawn)

    def _prepare(
        self, conn: sa.Connection, port_id: str, host: str
    ) -> tuple[database.Row, Plug] | None:
        port = database.find(conn, tables.ports, id=port_id)
        binding = database.find(conn, tables.bindings, port_id=port_id, host=host)
        if port is None or binding is None or not self._say_hybrid(conn, port, binding):
            return None
        plug = self._rules.draw(**_subject(conn, port, host))
        return None if plug is None else (port, plug)

    def _say_hybrid(self, conn: sa.Connection, port: database.Row, binding: database.Row) -> bool:
        """Write whether a binding is plugged in hybrid mode to its vif_details, and return it."""
        if binding['vif_type'] != OVS:
            return False
        hybrid = self._rules.is_hybrid(**_subject(conn, port, binding['host']))
        details = {**binding['vif_details'], 'ovs_hybrid_plug': hybrid}
        database.save(conn, tables.bindings, binding, vif_details=details)
        return hybrid

    def _notify(self, port: database.Row, plug: Plug) -> None:
        delay_s, outcome = plug
        if outcome != LOST:
            concerned = [(port['device_id'], port['id'])]
            self._events.send(EVENT, concerned, status=outcome, after_s=delay_s)

    def statuses(self, conn: sa.Connection, ids: list[str]) -> dict[str, str]:
        """Return {port id: its status on its host}, of those that are not ACTIVE."""
        now = runtime.naive_now()
        found = database.grouped(conn, PLUGS.c.port_id, ids)
        statuses = {port_id: _status(row, now) for port_id, (row,) in found.items()}
        return {port_id: status for port_id, status in statuses.items() if status != ACTIVE}


Plugging: typing.TypeAlias = Instant | ByRules


def make(db: database.Database, rules: Rules | None, events: external_events.Sender) -> Plugging:
    """Return the object that plugs ports: by `rules`, or at once without rules."""
    return Instant(db) if rules is None else ByRules(rules, events)


def _subject(conn: sa.Connection, port: database.Row, host: str) -> dict[str, str]:
    network = database.get(conn, tables.networks, id=port['network_id'])
    return {'host': host, 'network': network['name'], 'port': port['name']}


def _status(row: database.Row, now: datetime.datetime) -> str:
    if row['outcome'] == LOST or now < row['ready_at']:
        return DOWN
    return ERROR if row['outcome'] == FAILED else ACTIVE


def is_down() -> shapes.Condition:
    """Return the condition that a port is not plugged yet, or will never be."""
    waits = sa.or_(PLUGS.c.outcome == LOST, PLUGS.c.ready_at > runtime.naive_now())
    return sa.exists().where(PLUGS.c.port_id == tables.ports.c.id, waits)


def is_broken() -> shapes.Condition:
    """Return the condition that plugging a port has failed."""
    return sa.exists().where(
        PLUGS.c.port_id == tables.ports.c.id,
        PLUGS.c.outcome == FAILED,
        PLUGS.c.ready_at <= runtime.naive_now(),
    )

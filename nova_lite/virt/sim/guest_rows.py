"""Guests, as rows of the file of simulated hosts have them."""

import json
import sqlite3

from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import plugged


def guest_of(row: sqlite3.Row) -> model.Guest:
    """Return the guest of a row."""
    spec = json.loads(row['spec'])
    return model.Guest(
        uuid=row['uuid'],
        node=row['node'],
        role=model.Role(row['role']),
        power_state=states.PowerState(row['power_state']),
        spec=model.GuestSpec.from_dict(spec),
        rescued=row['rescue_image'] is not None,
        move=row['move'],
        started_at=row['started_at'],
        plugged=plugged.times(spec),
    )


def of_node(tx: sqlite3.Connection, node: str) -> list[model.Guest]:
    """Return all guests of a node, in any model.Role."""
    rows = tx.execute('SELECT * FROM guests WHERE node = ?', (node,)).fetchall()
    return [guest_of(row) for row in rows]

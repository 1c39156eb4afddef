"""Cut a simulated host's power, or restore it, without its compute daemon.

This is the management controller of a simulated host: an operator fences the host with it before an
evacuation, and a test makes one host of many fail. The compute process of the file may run at the
same time; its hypervisor is then no longer up (`Driver.up_nodes`).
"""

import contextlib
import os
import sqlite3

from nova_lite import runtime
from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import jobs
from nova_lite.virt.sim import store


def power_off(path: str, node: str) -> None:
    """Stop the node at once: its guests are shut down, its jobs fail.

    Raises FileNotFoundError if `path` holds no hosts.
    """
    with _opened(path) as opened, opened.write() as tx:
        now = opened.now()
        for row in store.running_jobs(tx, node):
            jobs.settle(tx, node, row['guest'], now)
        lost = model.JobError(model.POWER_LOST, f'{node} was powered off.')
        for row in store.running_jobs(tx, node):
            jobs.interrupt(tx, row, lost, now)
        tx.execute(
            'UPDATE guests SET power_state = ?, started_at = NULL WHERE node = ? AND role = ?',
            (states.PowerState.SHUTDOWN, node, model.Role.RESIDENT),
        )
        # What waited for a guest's memory was in memory itself.
        incoming = tx.execute(
            'SELECT * FROM guests WHERE node = ? AND role = ?', (node, model.Role.INCOMING)
        )
        for row in incoming.fetchall():
            store.delete_guest(tx, row)
        _switch(tx, node, 0)


def power_on(path: str, node: str) -> None:
    """Boot the node. Its guests stay shut down until they are started."""
    with _opened(path) as opened, opened.write() as tx:
        powered, _booted_at = store.node_power(tx, node)
        if not powered:
            _switch(tx, node, 1)


def list_off(path: str) -> list[str]:
    """Return the names of the nodes that are powered off."""
    with _opened(path) as opened, opened.read() as tx:
        return sorted(store.nodes_off(tx))


def _opened(path: str) -> contextlib.closing[store.Store]:
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    return contextlib.closing(store.Store(path))


def _switch(tx: sqlite3.Connection, node: str, powered: int) -> None:
    tx.execute(
        'INSERT INTO nodes VALUES (?, ?, ?)'
        ' ON CONFLICT (node) DO UPDATE SET powered = excluded.powered,'
        ' booted_at = excluded.booted_at',
        (node, powered, runtime.timestamp()),
    )

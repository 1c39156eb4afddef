"""Readings of a cloud that does not run, for tests of the live page."""

import datetime
import types

from nova_lite.lab.page import reading

AT = datetime.datetime.fromisoformat('2026-01-02T03:04:05')
NO_FAULTS = {
    'failures': [],
    'hosts_off': [],
    'databases_down': [],
    'buses_cut': [],
    'buses_frozen': [],
}


def cell(name, *, is_cell0=False, disabled=False):
    return types.SimpleNamespace(name=name, is_cell0=is_cell0, disabled=disabled)


def compute(host, *, disabled=False):
    return types.SimpleNamespace(host=host, disabled=disabled)


def server(name, host, **values):
    return types.SimpleNamespace(
        **{
            'uuid': f'uuid-of-{name}',
            'name': name,
            'host': host,
            'vm_state': 'active',
            'task_state': None,
            **values,
        }
    )


def move(server_name, source, dest, **values):
    return types.SimpleNamespace(
        **{
            'uuid': f'move-of-{server_name}',
            'instance_uuid': f'uuid-of-{server_name}',
            'name': server_name,
            'migration_type': 'live-migration',
            'status': 'running',
            'source_compute': source,
            'dest_compute': dest,
            'cross_cell_move': False,
            'memory_total': None,
            'memory_remaining': None,
            'updated_at': AT,
            **values,
        }
    )


def saga(**values):
    return types.SimpleNamespace(
        **{
            'uuid': 'saga',
            'kind': 'live-migration',
            'instance_uuid': 'uuid-of-web',
            'state': 'running',
            'direction': 'forward',
            'position': 1,
            'step': 'first',
            'waits_on': None,
            'data': {'_plan': {'version': 1, 'steps': ['first', 'second']}},
            'error': None,
            'epoch': 1,
            'owner': 'super',
            'created_at': AT,
            'finished_at': None,
            **values,
        }
    )


def here(*hosts, up=None, servers=(), moves=(), names=None, **values):
    """A CellReading with these hosts, on nodes of their names."""
    counts = {}
    for each in servers:
        by_state = counts.setdefault(each.host, {})
        by_state[each.vm_state] = by_state.get(each.vm_state, 0) + 1
    return reading.CellReading(
        **{
            'computes': [compute(host) for host in hosts],
            'up': frozenset(hosts if up is None else up),
            'nodes': {host: host for host in hosts},
            'counts': counts,
            'servers': list(servers),
            'moves': list(moves),
            'names': names or {},
            **values,
        }
    )


def whole(cells, *, sagas=(), zones=None, loads=None, stale=None):
    """A Reading. cells: [(Cell, CellReading or None), ...]"""
    return reading.Reading(
        cells=list(cells),
        sagas=list(sagas),
        zones=zones or {},
        default_zone='nova',
        loads=loads or {},
        stale=stale or {},
    )

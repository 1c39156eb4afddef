"""The document that the live page shows: plain values, made of a Reading without I/O.

Of more than MOST_HOSTS hosts it has the sums of each cell and zone, and how many hosts are
loaded how much; `details` lists the hosts of a cell or zone.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import datetime
import typing

from nova_lite import cells as cells_module
from nova_lite import states
from nova_lite.lab.page import placement_rows
from nova_lite.lab.page import reading as reading_module
from nova_lite.lab.timeline import saga_states
from nova_lite.lab.timeline import story
from nova_lite.moves import kinds
from nova_lite.moves import places
from nova_lite.saga import breakpoints
from nova_lite.saga import journal
from nova_lite.saga import step

# A change that the scripts of the page do not understand has another number.
FORMAT = 2
MOST_HOSTS = 300
# A host is loaded 0 to 10 %, 10 to 20 %, ...: the last contains what is overcommitted.
LEVELS = 10
# UNKNOWN: of a host whose cell does not answer.
UP, DOWN, DISABLED, OFF, UNKNOWN = 'up', 'down', 'disabled', 'off', 'unknown'
MOST_TEXT = 300

Json: typing.TypeAlias = dict[str, typing.Any]


def make(reading: reading_module.Reading, faults: Json, audit: Json | None) -> Json:
    """Return the document.

    faults: as the launcher's Faults.show returns them; audit: the last one of `nova-lite
    verify`, as it is recorded
    """
    listed = list(hosts(reading, faults['hosts_off']))
    names = {
        uuid: name
        for _cell, found in reading.cells
        if found is not None
        for uuid, name in found.names.items()
    }
    return {
        'format': FORMAT,
        'cells': [
            _cell(cell, reading, listed, faults)
            for cell, _found in reading.cells
            if not cell.is_cell0
        ],
        'zones': list(_zones(listed)),
        'hosts': listed if len(listed) <= MOST_HOSTS else None,
        'servers': _servers(reading, host_states(listed)),
        'states': _states(reading),
        # Without it no host has a load.
        'placement_answers': reading.loads is not None,
        'moves': _moves(reading),
        'more_moves': any(
            found is not None and len(found.moves) > reading_module.MOST_MOVES
            for _cell, found in reading.cells
        ),
        'sagas': [_saga(row, names.get(row.instance_uuid)) for row in reading.sagas],
        'more_sagas': sum(row.finished_at is None for row in reading.sagas)
        > reading_module.MOST_SAGAS,
        'faults': faults,
        'audit': audit,
    }


def hosts(reading: reading_module.Reading, off: Iterable[str]) -> Iterator[Json]:
    """Yield the hosts of all cells, also the last known of those that do not answer.

    off: hosts whose power was cut
    """
    powerless = frozenset(off)
    for cell, found in reading.cells:
        if found is None:
            continue
        for service in found.computes:
            name = service.host
            yield {
                'name': name,
                'cell': cell.name,
                'zone': reading.zones.get(name, reading.default_zone),
                'state': UNKNOWN
                if cell.name in reading.stale
                else _state(service, name in found.up, name in powerless),
                'servers': sum(found.counts.get(name, {}).values()),
                'load': (reading.loads or {}).get(found.nodes.get(name, name), {}),
            }


def host_states(listed: Iterable[Json]) -> dict[str, str]:
    """Return {name: state} of hosts of the page."""
    return {host['name']: host['state'] for host in listed}


def _state(service: typing.Any, is_up: bool, is_off: bool) -> str:
    if is_off:
        return OFF
    if not is_up:
        return DOWN
    return DISABLED if service.disabled else UP


def share(load: placement_rows.Load, name: str) -> float:
    """Return which part of a class of resources is allocated, 0 for a host without any."""
    used, most = load.get(name, (0, 0))
    return used / most if most else 0.0


def _cell(
    cell: cells_module.Cell,
    reading: reading_module.Reading,
    listed: list[Json],
    faults: Json,
) -> Json:
    here = [host for host in listed if host['cell'] == cell.name]
    return {
        'name': cell.name,
        'answers': cell.name not in reading.stale,
        # When a cell that does not answer had the values of this document.
        'known_at': time_of(reading.stale.get(cell.name)),
        'disabled': cell.disabled,
        'database_down': cell.name in faults['databases_down'],
        'bus_cut': cell.name in faults['buses_cut'],
        'bus_frozen': cell.name in faults['buses_frozen'],
        'hosts': len(here),
        'up': sum(host['state'] in (UP, DISABLED) for host in here),
        'servers': sum(host['servers'] for host in here),
    }


def _zones(listed: list[Json]) -> Iterator[Json]:
    """Yield the sums of the hosts of each cell and zone."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for host in listed:
        groups.setdefault((host['cell'], host['zone']), []).append(host)
    for (cell, zone), here in sorted(groups.items()):
        yield {
            'cell': cell,
            'zone': zone,
            'hosts': len(here),
            'up': sum(host['state'] in (UP, DISABLED) for host in here),
            'servers': sum(host['servers'] for host in here),
            'load': {name: _sum(here, name) for name in placement_rows.CLASSES.values()},
            'levels': {name: _levels(here, name) for name in placement_rows.CLASSES.values()},
        }


def _sum(here: list[Json], name: str) -> tuple[int, int]:
    loads = [host['load'].get(name, (0, 0)) for host in here]
    return sum(used for used, _most in loads), sum(most for _used, most in loads)


def _levels(here: list[Json], name: str) -> list[int]:
    """Return how many hosts are loaded in each tenth."""
    counts = [0] * LEVELS
    for host in here:
        counts[min(LEVELS - 1, int(share(host['load'], name) * LEVELS))] += 1
    return counts


def server(cell: str, row: typing.Any, of_hosts: Mapping[str, str]) -> Json:
    """Return a server of the page. row: of reading.SERVER; of_hosts: as `host_states`"""
    return {
        'uuid': row.uuid,
        'name': row.name,
        'cell': cell,
        'host': row.host,
        # A server on a host that has failed has the states of before.
        'host_state': of_hosts.get(row.host),
        'vm_state': row.vm_state,
        'task_state': row.task_state,
    }


def _servers(reading: reading_module.Reading, of_hosts: Mapping[str, str]) -> list[Json]:
    return [
        server(cell.name, row, of_hosts)
        for cell, found in reading.cells
        if found is not None
        for row in found.servers
    ]


def _states(reading: reading_module.Reading) -> dict[str, int]:
    """Return {vm state: number of servers} of all cells."""
    counts: dict[str, int] = {}
    for _cell, found in reading.cells:
        for by_state in found.counts.values() if found is not None else ():
            for state, number in by_state.items():
                counts[state] = counts.get(state, 0) + number
    return dict(sorted(counts.items()))


def _moves(reading: reading_module.Reading) -> list[Json]:
    """Return the moves. One between cells has a record in both, and is listed once."""
    found: dict[str, Json] = {}
    # A cell that answers has the newer record.
    for cell, here in sorted(reading.cells, key=lambda each: each[0].name in reading.stale):
        for row in here.moves if here is not None else ():
            found.setdefault(
                row.uuid,
                {
                    'uuid': row.uuid,
                    'server': row.instance_uuid,
                    'name': row.name,
                    'type': row.migration_type,
                    'status': row.status,
                    'waits_for_user': row.status == states.MigrationStatus.FINISHED,
                    'since': time_of(row.updated_at),
                    'is_stale': cell.name in reading.stale,
                    'source': row.source_compute,
                    'dest': row.dest_compute,
                    'cross_cell': row.cross_cell_move,
                    'copied': _copied(row),
                },
            )
    return list(found.values())


def _copied(row: typing.Any) -> float | None:
    """Return which part of a guest's memory was copied, None for a move that copies none."""
    if not row.memory_total or row.memory_remaining is None:
        return None
    part: float = 1 - row.memory_remaining / row.memory_total
    return round(min(1.0, max(0.0, part)), 3)


def _saga(row: typing.Any, name: str | None) -> Json:
    error = row.error and f'{row.error["type"]}: {row.error["message"]}'[:MOST_TEXT]
    mark = _mark(row)
    return {
        'uuid': row.uuid,
        'kind': saga_states.kind_of(row),
        'server': row.instance_uuid,
        'name': name,
        'state': saga_state(row),
        'stopped': None if mark is None else breakpoints.place(mark),
        'direction': row.direction,
        'position': row.position,
        'steps': row.data.get(step.PLAN, {}).get('steps', []),
        'step': row.step,
        'waits_on': row.waits_on,
        'waits_for': _waits_for(row),
        'owner': row.owner,
        'epoch': row.epoch,
        'error': error,
        'created_at': time_of(row.created_at),
        'finished_at': time_of(row.finished_at),
    }


def _waits_for(row: typing.Any) -> str | None:
    """Return the daemon or service that a waiting saga waits for, None for another saga."""
    if row.state != journal.PARKED or row.waits_on is None or _mark(row) is not None:
        return None
    source, dest = story.hosts_of(row)
    ends: story.Ends = {places.SOURCE: (source, None), places.DEST: (dest, None)}
    daemon, _cell = story.place_of(kinds.steps(row.kind).get(row.waits_on), ends)
    return daemon


def saga_state(row: typing.Any) -> str:
    """Return the state of a saga, which a debugger may have stopped. row: with state and data"""
    state: str = row.state
    return state if _mark(row) is None else breakpoints.STOPPED


def _mark(row: typing.Any) -> breakpoints.Mark | None:
    return breakpoints.stopped(row.data) if row.state == journal.PARKED else None


def time_of(value: datetime.datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec='milliseconds') + 'Z'

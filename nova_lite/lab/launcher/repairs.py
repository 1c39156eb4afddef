"""The repair of a server of a cloud, from the databases of the cloud."""

import typing

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.lab import server_names
from nova_lite.saga import step
from nova_lite.states import repairs

# The fields of the JSON of `nova-lite repair-guide`.
Guide: typing.TypeAlias = dict[str, typing.Any]


def find(conf: cfg.ConfigOpts, server: str) -> Guide:
    """Return the guide to the repair of a server. Raise NoServer, NoUniqueMatch.

    conf: of a control daemon; server: name or uuid
    """
    uuid = server_names.find(lambda: conf, server, required=True)
    with server_names.cells_of(conf) as cells:
        cell = cells.of_instance(uuid)
        row = cell.db.read(instances.get, uuid)
        found = cells.api_db.read(sagas.every, instance_uuid=uuid)
        situation = _situation(conf, cell, row, found)
    repair = repairs.of(situation)
    names = {'server': uuid, 'host': row.host, 'migration': _migration(found)}
    return {
        'server': uuid,
        'state': row.vm_state,
        'task': row.task_state,
        'host': row.host,
        'repair': repair.name,
        'title': repair.title,
        'needed': repair.is_needed,
        'commands': [command.format(**names) for command in repair.commands],
    }


def _situation(
    conf: cfg.ConfigOpts, cell: cells_module.Cell, row: rows.Row, found: typing.Sequence[rows.Row]
) -> repairs.Situation:
    """Return the states of a server. found: its sagas, newest first"""
    down = row.host is not None and not cell.db.read(
        services.is_host_up, row.host, conf.service_down_time
    )
    failure = found[0].data.get(step.LEFT_AS, {}).get('name') if found else None
    return repairs.Situation(
        vm_state=row.vm_state,
        task_state=row.task_state,
        on_host=row.host is not None,
        host_down=down,
        is_moving=any(saga.active_for for saga in found),
        failure=failure,
    )


def _migration(found: typing.Sequence[rows.Row]) -> str | None:
    """Return the uuid of the migration of the newest saga. found: sagas, newest first"""
    return next((saga.arguments.get('migration_uuid') or saga.uuid for saga in found), None)

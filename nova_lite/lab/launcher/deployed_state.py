"""The state of a deployment: whether its API listens, and which cells and services are down."""

import typing

from nova_lite import cells as cells_module
from nova_lite.db import rows
from nova_lite.db.cell import services
from nova_lite.lab import server_names
from nova_lite.lab.launcher import which_cloud


def read(cloud: which_cloud.Cloud) -> dict[str, typing.Any]:
    """Return the state, the address of the API, the cells and unhealthy parts, as JSON."""
    conf = cloud.conf()
    with server_names.cells_of(conf) as cells:
        answers, silent = cells_module.split(cells.scatter(services.every))
        names = [cell.name for cell in cells.every(cell0=False)]
    down = [
        f'{row.binary} of {row.host} in {cell.name} does not report'
        for cell, found in answers.items()
        for row in found
        if _is_down(row, conf.service_down_time)
    ]
    return {
        'state': cloud.state(),
        'config_dir': cloud.directory,
        'compute_api': f'{conf.api.listen}:{conf.api.port}',
        'cells': names,
        'services': sum(len(found) for found in answers.values()),
        'unhealthy': sorted(down) + [f'database of cell {cell.name}' for cell in silent],
    }


def _is_down(row: rows.Row, down_time_s: int) -> bool:
    return row.forced_down or not services.is_up(row, down_time_s)

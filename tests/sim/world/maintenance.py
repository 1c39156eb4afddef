"""Programs that an administrator runs beside the daemons, and that may be killed."""

import argparse

from nova_lite import conf as conf_module
from nova_lite.manage import archive as archive_module
from nova_lite.manage import cells
from nova_lite.manage import command
from nova_lite.manage import hosts
from tests.sim import kernel

# Seconds after which a program is killed that did not get as far as it should be killed.
LIMIT_S = 60
ARCHIVE = {
    'max_rows': 1000,
    'before': None,
    'all_cells': True,
    'until_complete': True,
    'purge': True,
    'task_log': True,
    'verbose': False,
    'json': False,
    'sleep': 0,
}


def _say(text=''):
    """Print a text of a program to the log of the history."""
    kernel.current().log('manage', text)


def archive(cloud, commits=None):
    """Archive and purge all deleted servers. commits: after how many the program is killed"""
    _run(cloud, archive_module.archive_deleted_rows, ARCHIVE, commits)


def unmap_host(cloud, cell, host):
    """Delete the mapping of a host of a cell. Return the code of the program; None: it hung."""
    arguments = {'cell_uuid': _cells(cloud)[cell], 'host': host}
    return _run(cloud, hosts.delete_host, arguments)


def unmap_cell(cloud, cell):
    """Delete the mapping of a cell without servers. Return the code of the program."""
    arguments = {'cell_uuid': _cells(cloud)[cell], 'force': True}
    return _run(cloud, cells.delete_cell, arguments)


def map_cell(cloud, cell, *, respelled=False):
    """Map a cell, and its hosts. respelled: whether its database gets another URL"""
    arguments = {'name': cell, 'disabled': False, 'verbose': False, **cloud.places.cell_urls(cell)}
    if respelled:
        name = 'database_connection'
        arguments[name] = arguments[name].replace('/cloud/db/', '/cloud/./db/')
    _run(cloud, cells.create_cell, arguments)
    discover_hosts(cloud)


def discover_hosts(cloud):
    """Map the hosts of all cells that are not mapped."""
    everything = {'cell_uuid': None, 'verbose': False, 'strict': False, 'by_service': False}
    _run(cloud, hosts.discover_hosts, everything)


def enable_cell(cloud, cell, enable):
    """Allow or forbid the scheduler to choose hosts of a cell."""
    arguments = {'cell_uuid': _cells(cloud)[cell], 'name': cell}
    arguments |= {'enable': enable, 'disable': not enable, **cloud.places.cell_urls(cell)}
    _run(cloud, cells.update_cell, arguments)


def _cells(cloud):
    """Return {name: uuid} of the cells."""
    found = {}

    def read(deployment, _arguments):
        found.update({cell.name: cell.uuid for cell in deployment.cells.every()})

    _run(cloud, read, {})
    return found


def _run(cloud, verb, arguments, commits=None):
    """Run a verb of `nova-lite-manage`. Return its code; None: it did not end.

    arguments: {name: value}; commits: after how many the program is killed
    """
    now = kernel.current()
    # What these print would be among the lines of a history.
    cells.print = hosts.print = _say
    program, codes, ended = now.process('manage'), [], []

    def run():
        path = cloud.places.path('etc', 'scheduler.conf')
        with command.Deployment(conf_module.make_conf(files=[path])) as deployment:
            codes.append(verb(deployment, argparse.Namespace(**arguments)))
        ended.append(True)

    def kill(_number, what, _detail):
        nonlocal commits
        if now.running.home is program and what == 'db: committed':
            commits -= 1
            if commits == 0:
                program.kill()
                ended.append(True)

    cancel = now.at_points(kill) if commits else lambda: None
    program.spawn(run, name='manage')
    now.block_until(lambda: bool(ended), 'manage', LIMIT_S)
    cancel()
    program.kill()
    return codes[0] if codes else None

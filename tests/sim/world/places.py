"""The files of a simulated cloud.

Each history has a directory of its own as its working directory, so that the paths in
configurations and cell mappings are the same wherever that lies.
"""

import dataclasses
import functools
import os
import shutil

from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import setup
from tests.sim.world import databases as databases_module

ROOT = '/proc/self/cwd/cloud'
PROFILE = 'cloud/profile.yaml'
URLS = {'placement': 'http://placement.sim', 'simcloud': 'http://simcloud.sim'}
OPTIONS = {
    'DEFAULT': {'rpc_response_timeout': 20},
    'quota': {'instances': 40, 'cores': 40, 'ram': -1},
}


@dataclasses.dataclass(frozen=True)
class Size:
    """The numbers of a cloud's parts. hosts, conductors, computes (processes): of each cell"""

    cells: int
    hosts: int
    supers: tuple
    apis: tuple
    conductors: int = 1
    computes: int = 1

    def conductors_of(self, cell):
        """The names of the conductors of a cell."""
        return _numbered(f'conductor-{cell}', self.conductors)

    def computes_of(self, cell, hosts):
        """{name of a compute process: its part of the hosts} of a cell."""
        names = _numbered(f'compute-{cell}', self.computes)
        return {name: hosts[number :: self.computes] for number, name in enumerate(names)}


def _numbered(name, number):
    return [name, *(f'{name}-{each}' for each in range(2, number + 1))]


SMALL = Size(1, 3, ('super-1',), ('api-1',))
PAIRED = Size(1, 4, ('super-1',), ('api-1', 'api-2'), conductors=2)
SPLIT = Size(1, 3, ('super-1',), ('api-1',), computes=2)
CELLS = Size(2, 2, ('super-1',), ('api-1',))
# Two cells with two processes of each daemon that serves one of them or all.
CROSSED = Size(2, 2, ('super-1', 'super-2'), ('api-1', 'api-2'), conductors=2)
LARGE = Size(2, 4, ('super-1', 'super-2'), ('api-1', 'api-2'))


def enter(path, source=None):
    """Make a directory the working directory, with a copy of the files of a cloud elsewhere."""
    # A history may be lived through again.
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    if source:
        shutil.copytree(os.path.join(source, 'cloud'), os.path.join(path, 'cloud'))
    os.chdir(path)


class OnServer(layout.Layout):
    """Databases of nova_lite are on a server; those of the neighbours are files.

    databases: a databases.Databases
    """

    def __init__(self, settings, databases):
        super().__init__(settings)
        self._databases = databases

    def database_url(self, name):
        if name in databases_module.NAMES:
            return self._databases.url(name)
        return super().database_url(name)


def made(size, options=None, databases=None):
    """The Layout of a cloud below the working directory.

    databases: a databases.Databases if they are on a server
    """
    kind = layout.Layout
    if databases is not None:
        kind = functools.partial(OnServer, databases=databases)
    return kind(
        layout.Settings(
            state_dir=ROOT,
            cells=size.cells,
            hosts=size.hosts,
            auth='noauth',
            options=merged(OPTIONS, options or {}),
        )
    )


def merged(first, second):
    """{group: {option: value}} with the second's values where both have one."""
    return {key: {**first.get(key, {}), **second.get(key, {})} for key in {**first, **second}}


def create(places, size):
    """Make databases and configurations, as in an empty working directory."""
    os.makedirs('cloud/db', exist_ok=True)
    places.prepare(fresh=True)
    places.release()
    setup.databases(places, fresh=True)
    write_configs(places, size)


def write_profile(text):
    """Write the profile of hosts for the next start or reload of their daemons."""
    with open(PROFILE, 'w') as file:
        file.write(text)


def write_configs(places, size):
    """Write a configuration file for each process."""
    sections = {}
    for name in ('scheduler', *size.supers, *size.apis):
        sections[name] = daemon_config.control(places, URLS)
        sections[name]['DEFAULT']['host'] = name
    for cell in places.cell_names:
        for name in size.conductors_of(cell):
            sections[name] = daemon_config.cell_conductor(places, URLS, cell)
            sections[name]['DEFAULT']['host'] = name
        for name, hosts in size.computes_of(cell, places.hosts(cell)).items():
            sections[name] = daemon_config.compute(places, URLS, cell)
            sections[name]['DEFAULT']['host'] = name
            sections[name]['compute']['hosts'] = hosts
    for name, values in sections.items():
        places.write_config(name, values)

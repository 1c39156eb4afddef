"""Replacements of the machine: network, disk and buses, with their faults."""

import os

from oslo_messaging._drivers import amqpdriver
from oslo_messaging._drivers import impl_rabbit

from nova_lite.daemons import local_endpoint
from nova_lite.lab.launcher import layout
from nova_lite.rpc import transport
from tests.sim import kernel
from tests.sim.world import broker
from tests.sim.world import databases
from tests.sim.world import faults as faults_module
from tests.sim.world import network as network_module
from tests.sim.world import places as places_module
from tests.sim.world import shortcuts
from tests.sim.world import sqlite

# Seconds after which who waits for messages looks whether it is to stop.
POLL_S = 60


class Stage:
    """Made and installed once in a process.

    backend, prefix: of databases on a server, see databases.Databases; None for files alone
    """

    def __init__(self, backend=None, prefix=''):
        self.faults = faults_module.Faults()
        self.network = network_module.Network(self.faults)
        self.disk = sqlite.Disk(self.faults)
        self.buses = self._places = self.databases = None
        if backend is not None:
            self.databases = databases.Databases(backend, prefix, self.faults)

    def install_machine(self):
        """Replace the network and the disk of this process."""
        network_module.install(self.network)
        sqlite.install(self.disk)
        if self.databases is not None:
            self.databases.install()

    def install(self, places):
        """Replace all parts of the machine in this process."""
        self._places = places
        self.install_machine()
        shortcuts.install()
        names = [places.bus_url(name) for name in (layout.TOP, *places.cell_names)]
        names = [name.removeprefix(transport.EMBEDDED) for name in names]
        self.buses = broker.install(names, self.faults)
        local_endpoint.server.InProcess = Closed
        # Who waits for messages is woken by them: looking around meanwhile only costs time.
        impl_rabbit.Connection._poll_timeout = property(
            lambda _self: POLL_S, lambda *_ignored: None
        )
        for name in ('ACK_REQUEUE_EVERY_SECONDS_MIN', 'ACK_REQUEUE_EVERY_SECONDS_MAX'):
            shortcuts.replace(amqpdriver, name, lambda _former: POLL_S)

    def reader(self, name):
        """Return a connection that reads what is committed to a database of the cloud."""
        if self.databases is not None:
            return self.databases.reader(name)
        return sqlite.plain_connect(self._places.database_url(name).removeprefix('sqlite:///'))

    def locked_by(self, process):
        """Return the names of databases that a process has locked, or may have on a server."""
        if self.databases is not None:
            return tuple(self._places.cell_names)
        paths = self.disk.locked_by(process)
        return tuple(os.path.basename(path).partition('.')[0] for path in paths)

    def branch(self, branch, path_of):
        """Call `branch()` while no file is open; continue with a copy of the files.

        path_of(seed): the directory for that
        """
        source = os.getcwd()
        connections = self._close_all()
        branch()
        places_module.enter(path_of(kernel.current().seed), source)
        for connection in connections:
            connection.reopen()
        if self.databases is not None:
            self.databases.continue_as(f'h{kernel.current().seed}_')

    def _close_all(self):
        """Close all files and connections; return who is to open files again."""
        if self.databases is None:
            return self.disk.close_all()
        kernel.current().block_until(
            lambda: self.disk.is_idle() and self.databases.is_idle(), 'db: transactions'
        )
        with kernel.current().masked():
            self.databases.close_all()
            return self.disk.close_all()


class Closed:
    """A server that gets no requests."""

    url = 'http://closed.sim'

    def __init__(self, *_args, **_options):
        pass

    def start(self):
        """Do nothing."""

    def stop(self):
        """Do nothing."""

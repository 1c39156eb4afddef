"""The HTTP servers of an embedded cloud, on ports of the simulated network."""

import itertools

from nova_lite.daemons.wsgi import server
from nova_lite.lab.launcher import serial_consoles
from tests.fixtures import ports
from tests.sim import kernel

FIRST_PORT = 40_000


class Servers:
    """Stands in for what `nova_lite.daemons.wsgi.server` opens. network: a network.Network"""

    def __init__(self, network):
        self._network = network
        self._ports = itertools.count(FIRST_PORT)

    def install(self):
        """Replace the listeners of this process."""
        server.InProcess = self._made
        server.free_port = self._free_port
        serial_consoles.SerialConsoles.start = lambda _consoles: self._free_port()
        ports.Port._setUp = lambda port: setattr(port, 'number', self._free_port())

    def _free_port(self, _host=None, *, count=1):
        first = next(self._ports)
        for _ in range(count - 1):
            next(self._ports)
        return first

    def _made(self, application, *, host='127.0.0.1', port=0, threads=0):
        return Listening(self._network, f'{host}:{port or self._free_port()}', application)


class Listening:
    """As nova_lite.daemons.wsgi.server.InProcess; there are as many threads as requests."""

    def __init__(self, network, address, application):
        self._network, self._address, self._application = network, address, application

    @property
    def url(self):
        return f'http://{self._address}'

    def start(self):
        """Answer from now on, by the process of the calling thread."""
        self._network.serve(self._address, kernel.current().here, self._application)

    def stop(self):
        """Answer no more."""
        self._network.servers.pop(self._address, None)

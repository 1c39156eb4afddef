"""Buses by the documented names of oslo.messaging alone.

For releases with which the tests have not run. There is an RPC server with a connection and threads
for each host, and a message takes more time. Callers and servers may go either way: the queues have
the same names.
"""

from collections.abc import Callable
from collections.abc import Sequence
import contextlib
import typing

import kombu
from oslo_config import cfg
import oslo_messaging
from oslo_utils import netutils

from nova_lite.rpc import buses

# Seconds that a broker may take to accept a connection.
CONNECT_S = 5
CONFIGURED = {
    'keyfile': 'ssl_key_file',
    'certfile': 'ssl_cert_file',
    'ca_certs': 'ssl_ca_file',
}


class Servers:
    """RPC servers of many hosts, as one.

    make: returns the server of a target
    """

    def __init__(
        self,
        targets: Sequence[oslo_messaging.Target],
        make: Callable[[oslo_messaging.Target], typing.Any],
    ) -> None:
        self._servers = [make(target) for target in targets]

    def start(self, override_pool_size: int | None = None) -> None:
        """Start all servers. override_pool_size: number of threads of each"""
        for server in self._servers:
            server.start(override_pool_size=override_pool_size)

    def stop(self) -> None:
        for server in self._servers:
            server.stop()

    def wait(self) -> None:
        """Wait until all messages that were taken are processed."""
        for server in self._servers:
            server.wait()


class Notifying:
    """A configuration whose messages go to an exchange of their own."""

    def __init__(self, conf: cfg.ConfigOpts, exchange: str) -> None:
        self._conf, self.control_exchange = conf, exchange

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._conf, name)

    def __getitem__(self, name: str) -> typing.Any:
        return self._conf[name]


@contextlib.contextmanager
def connected(bus: oslo_messaging.Transport) -> typing.Iterator[kombu.Connection]:
    """Connect to the broker of a bus. The connection ends with the block."""
    options = bus.conf.oslo_messaging_rabbit
    url = oslo_messaging.TransportURL.parse(bus.conf, buses.of(bus).url)
    tls = {name: options[option] for name, option in CONFIGURED.items() if options[option]}
    hosts = [
        kombu.Connection(
            hostname=netutils.escape_ipv6(host.hostname),
            port=host.port,
            userid=host.username,
            password=host.password,
            virtual_host=url.virtual_host or '/',
        ).as_uri(include_password=True)
        for host in url.hosts
    ]
    connection = kombu.Connection(
        hosts,
        ssl=tls or True if options.ssl else False,
        connect_timeout=CONNECT_S,
        login_method=options.rabbit_login_method,
    )
    connection.ensure_connection(max_retries=buses.TRIES, interval_start=0, interval_step=0)
    with connection:
        yield connection

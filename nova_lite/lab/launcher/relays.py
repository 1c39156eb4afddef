"""The relays of a cloud: to its brokers, and to the databases of its cells."""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_config import cfg
from oslo_utils import strutils
import sqlalchemy as sa

from nova_lite.lab.control import faults
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import preflight
from nova_lite.lab.launcher import relay

DATABASE_PORTS = {'mysql': 3306, 'mariadb': 3306, 'postgresql': 5432}
TLS = '--drills: connections with TLS cannot pass through this process. Omit --drills'


class Relays:
    """Relays between the daemons of a cloud and servers.

    found: {'bus' or 'database': {name of the top or of a cell: relays}}, after `open`
    """

    def __init__(self, places: layout.Layout) -> None:
        self._places = places
        self.found: dict[str, dict[str, Sequence[relay.Relay]]] = {
            faults.BUS: {},
            faults.DATABASE: {},
        }

    def open(self, conf: cfg.ConfigOpts) -> None:
        """Make the URLs of buses and cells lead through relays. Raise ValueError for TLS."""
        settings = self._places.settings
        options = settings.options.get('oslo_messaging_rabbit', {})
        for name in (layout.TOP, *self._places.cell_names):
            self._open_bus(name, conf, options)
        if settings.database is not None:
            for name in self._places.cell_names:
                self._open_database(name)

    def _open_bus(self, name: str, conf: cfg.ConfigOpts, options: Mapping[str, typing.Any]) -> None:
        url = preflight.brokers(self._places.bus_url(name), conf)
        if strutils.bool_from_string({**options, **url.query}.get('ssl', False)):
            raise ValueError(TLS)
        opened = []
        for host in url.hosts:
            target = str(host.hostname), int(host.port or preflight.AMQP_PORT)
            opened.append(self._started(target))
            host.hostname, host.port = relay.LOOPBACK, opened[-1].port
        self.found[faults.BUS][name] = opened
        self._places.relayed[faults.BUS, name] = str(url)

    def _open_database(self, name: str) -> None:
        url = sa.make_url(self._places.database_url(name))
        if any(key.startswith('ssl') for key in url.query):
            raise ValueError(TLS)
        port = url.port or DATABASE_PORTS[url.get_backend_name()]
        opened = self._started((str(url.host), port))
        self.found[faults.DATABASE][name] = [opened]
        through = url.set(host=relay.LOOPBACK, port=opened.port)
        self._places.relayed[faults.DATABASE, name] = through.render_as_string(hide_password=False)

    @staticmethod
    def _started(target: tuple[str, int]) -> relay.Relay:
        made = relay.Relay(target)
        made.start()
        return made

    def close(self) -> None:
        """Close the relays. The URLs of the cloud are those of the servers again."""
        self._places.relayed.clear()
        for opened in self.found.values():
            for relays in opened.values():
                for each in relays:
                    each.stop()
            opened.clear()

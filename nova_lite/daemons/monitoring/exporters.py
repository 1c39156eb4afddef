"""The pages of a simulated host: each stands for an exporter that would run on it."""

from collections.abc import Mapping
import types
import typing

from nova_lite.daemons.monitoring import ceilometer
from nova_lite.daemons.monitoring import libvirt
from nova_lite.daemons.monitoring import node_exporter
from nova_lite.virt import driver as drivers

# {page: class of its collector of prometheus_client}
PAGES: Mapping[str, typing.Any] = types.MappingProxyType(
    {
        '/libvirt': libvirt.Guests,
        '/ceilometer': ceilometer.Guests,
        '/node': node_exporter.Host,
    }
)


class Exporters:
    """The exporters of a node of a driver. collectors: {page: collector}"""

    __slots__ = ('_driver', '_node', 'collectors')

    def __init__(self, driver: drivers.Driver, node: str) -> None:
        self._driver, self._node = driver, node
        self.collectors = {page: collector(driver, node) for page, collector in PAGES.items()}

    def is_up(self) -> bool:
        """Return whether the node has power, which an exporter on it would need to answer."""
        return self._node in self._driver.up_nodes()

"""Monitors: the metrics of the nodes, if [DEFAULT]compute_monitors asks for them.

The names of metrics are those of nova. Source: reference/nova/cells-and-rpc 6.
"""

from collections.abc import Iterable

from oslo_config import cfg
from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

LOG = log.getLogger(__name__)

# The driver whose diagnostics simulated guests have.
SOURCE = 'libvirt.LibvirtDriver'
STATES = ('user', 'kernel', 'idle', 'iowait')
BOOT = model.CpuStats(0, 0, 0, 0, 0)


class Monitors:
    """The monitors of the nodes of a driver. It has the last measures, for shares of time."""

    def __init__(self, conf: cfg.ConfigOpts, driver: protocol.Driver) -> None:
        self._conf, self._driver = conf, driver
        self._last: dict[str, model.CpuStats] = {}

    def metrics(self, nodes: Iterable[str]) -> dict[str, list[model.Json]]:
        """Return {node: [{name, value, timestamp, source}, ...]} of the nodes that are up.

        A node that cannot be measured is left out.

        Times are nanoseconds since the boot of the node, of all CPUs together. Names that end with
        `.percent` have shares from 0 to 1 of the time since the last call, or since the boot.
        """
        if not self._conf.compute_monitors:
            return {}
        up, found = self._driver.up_nodes(), {}
        for node in nodes:
            if node in up:
                try:
                    found[node] = self._of_node(node)
                except exception.NovaLiteError as error:
                    LOG.warning('Cannot measure node %s: %s. Reporting it without.', node, error)
        return found

    def _of_node(self, node: str) -> list[model.Json]:
        found = self._driver.get_host_cpu_stats(node)
        at = runtime.naive_now().isoformat()
        values = {
            'cpu.frequency': found.frequency_mhz,
            **{f'cpu.{state}.time': getattr(found, f'{state}_ns') for state in STATES},
            **_shares(found, self._last.get(node, BOOT)),
        }
        self._last[node] = found
        return [
            {'name': name, 'value': value, 'timestamp': at, 'source': SOURCE}
            for name, value in values.items()
        ]


def _shares(found: model.CpuStats, last: model.CpuStats) -> dict[str, float]:
    """Return the share of each state in the time between two measures, in whole percents."""
    passed = [_passed(found, last, state) for state in STATES]
    if min(passed) < 0:
        # The node was booted after the last measure.
        passed = [_passed(found, BOOT, state) for state in STATES]
    total = sum(passed) or 1
    shares = {
        f'cpu.{state}.percent': round(part / total, 2)
        for state, part in zip(STATES, passed, strict=True)
    }
    return {**shares, 'cpu.percent': round(1 - passed[STATES.index('idle')] / total, 2)}


def _passed(found: model.CpuStats, last: model.CpuStats, state: str) -> int:
    passed: int = getattr(found, f'{state}_ns') - getattr(last, f'{state}_ns')
    return passed

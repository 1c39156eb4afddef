"""Heartbeats of the hosts of a compute process, and the cell's replies to them.

A service is added only when its host starts: the process or the hypervisor. As with nova, the
heartbeat of a daemon whose service an administrator has deleted does not bring it back. The
host then has no node and no resource provider either, until it starts again.
"""

from collections.abc import Callable
from collections.abc import Iterable

from oslo_log import log

from nova_lite import context
from nova_lite import runtime
from nova_lite import versions
from nova_lite.compute import evacuated
from nova_lite.compute import guest_work
from nova_lite.compute import inventory
from nova_lite.compute import site

LOG = log.getLogger(__name__)

REPORT = ('the process', 'report')


class Heartbeat:
    """The heartbeats of a site. is_coming_up: whether the first report is still to come"""

    def __init__(
        self, site: site.Site, inventory: inventory.Inventory, is_coming_up: Callable[[], bool]
    ) -> None:
        self._site, self._inventory, self._is_coming_up = site, inventory, is_coming_up
        self._evacuated = evacuated.Evacuated(site, self.send)
        # {host: time} of the hosts to whose start the cell has replied; those without a service.
        self._started: dict[str, float] = {}
        self._gone: set[str] = set()

    def send(self) -> None:
        """Send one heartbeat for all hosts that are up."""
        hosts, began, now = self._evacuated.hosts(), runtime.boottime(), runtime.timestamp()
        starting = [host for host in hosts if host not in self._started]
        found = self._site.conductor.beat(
            context.admin(), hosts=hosts, version=versions.SERVICE_VERSION, starting=starting
        )
        self._evacuated.heard(began)
        self._evacuated.take_back(host for host, each in found.items() if each.get('returned'))
        forced_down = [host for host, service in found.items() if service['forced_down']]
        if forced_down:
            self._evacuated.look_after(forced_down)
        started = {host for host in starting if not found.get(host, {}).get('returned')}
        self._started.update(dict.fromkeys(started, now))
        self._note_gone(host for host, each in found.items() if each.get('gone'))
        disabled = [host for host, service in found.items() if service['disabled']]
        changed = self._inventory.note_disabled(disabled)
        if started and not self._is_coming_up():
            # The host may have another node now, or a provider that the report does not know.
            self._inventory.forget(started)
            changed = True
        if changed:
            self._site.jobs.run(REPORT, self._report(), here=False)

    def _note_gone(self, hosts: Iterable[str]) -> None:
        gone = {host for host in hosts if not self._has_booted(host)}
        new, self._gone = gone - self._gone, gone
        for host in sorted(new):
            LOG.error(
                'The compute service of host %s was deleted. Its providers are removed. Stop this '
                'process if the host is to go, or restart it to bring the host back.',
                host,
            )
        if new:
            self._site.jobs.run(REPORT, self._withdraw(new), here=False)

    def _has_booted(self, host: str) -> bool:
        """Return whether the hypervisor has started again: the next heartbeat adds the service."""
        nodes = self._site.nodes[host]
        booted_at = max(self._site.driver.get_facts(node).booted_at for node in nodes)
        if booted_at > self._started[host]:
            del self._started[host]
            return True
        return False

    def _report(self) -> guest_work.Work[None]:
        yield from guest_work.insist(self._inventory.report)

    def _withdraw(self, hosts: set[str]) -> guest_work.Work[None]:
        yield from guest_work.insist(self._inventory.withdraw, hosts)

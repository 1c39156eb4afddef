"""Comparison: find registered nodes whose providers in placement were lost or changed.

Administrators delete providers, change inventories and traits, and restore placement from
backups. Generations of providers show that; new allocations raise them as well. So the
providers that have a new generation are read and compared, a share of them with each report.
"""

from collections.abc import Collection

from oslo_config import cfg
from oslo_log import log

from nova_lite import runtime
from nova_lite.clients import registration
from nova_lite.clients import session

LOG = log.getLogger(__name__)

# Nodes that one report compares in any case.
AT_ONCE = 100


class Comparison:
    """Chooses the nodes to compare at each report. options: conf.compute"""

    def __init__(self, options: cfg.ConfigOpts, registration: registration.Registration) -> None:
        self._options, self._registration = options, registration
        # Processes that start together compare at different times.
        refresh_s = options.resource_provider_association_refresh
        self._at = runtime.boottime() + runtime.random().uniform(0, refresh_s)
        self._changed: list[str] = []
        self._share = AT_ONCE

    def due(self, ctxt: session.Ctxt, registered: Collection[str]) -> set[str]:
        """Return the nodes to register again. registered: uuids of nodes"""
        refresh_s = self._options.resource_provider_association_refresh
        now, missing = runtime.boottime(), set[str]()
        if refresh_s and now >= self._at:
            missing, changed = self._registration.compare(ctxt, registered)
            self._at, self._changed = now + refresh_s, sorted(changed)
            reports = max(1, refresh_s // self._options.resource_update_interval)
            self._share = max(AT_ONCE, -(-len(changed) // reports))
        for uuid in sorted(missing):
            LOG.warning(
                'Resource provider %s of a compute node is missing in placement. It is registered '
                'again, without the allocations of its servers, which "nova-lite-manage placement '
                'heal_allocations" restores.',
                uuid,
            )
        some, self._changed = self._changed[: self._share], self._changed[self._share :]
        return missing.union(some).intersection(registered)

"""Turns of builds: a host builds max_concurrent_builds servers at a time, in their order.

The turns are lost in a restart, as the builds are: `resume` starts them again.
"""

from collections.abc import Callable
import itertools

from oslo_config import cfg
from oslo_log import log

from nova_lite import runtime
from nova_lite.compute import guest_work

LOG = log.getLogger(__name__)


class BuildTurns:
    """The builds of a process. wake: continues the work of a key"""

    def __init__(self, conf: cfg.ConfigOpts, wake: Callable[[guest_work.Key], None]) -> None:
        self._conf, self._wake = conf, wake
        self._lock = runtime.Lock()
        # {host: {uuid: None}}, in the order of arrival: the first have their turn.
        self._builds: dict[str, dict[str, None]] = {}

    def take(self, key: guest_work.Key) -> guest_work.Work[None]:
        """Wait for the turn of a build; work for `guest_work`. key: (host, uuid) of the build"""
        host, uuid = key
        with self._lock:
            self._builds.setdefault(host, {})[uuid] = None
        if uuid not in self._current(host):
            LOG.info('The build of server %s waits for its turn on host %s', uuid, host)
        while uuid not in self._current(host):
            yield guest_work.PauseForEvent(guest_work.IDLE_S)

    def leave(self, key: guest_work.Key) -> None:
        """End the turn of a build, or its wait."""
        host, uuid = key
        before = self._current(host)
        with self._lock:
            builds = self._builds.get(host, {})
            builds.pop(uuid, None)
            if not builds:
                self._builds.pop(host, None)
        for following in self._current(host) - before:
            self._wake((host, following))

    def _current(self, host: str) -> set[str]:
        """Return the servers of a host that have their turn."""
        with self._lock:
            limit = self._conf.max_concurrent_builds or None
            return set(itertools.islice(self._builds.get(host, {}), limit))

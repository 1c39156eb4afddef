"""Pins: the versions that a process uses with the far side of an interface.

This module alone decides: `[upgrade_levels]` names a release or a version, or `auto`, which
means the release of the oldest service. `versions` has the versions of each release.
"""

import typing

from oslo_config import cfg
from oslo_versionedobjects import base

from nova_lite import versions
from nova_lite.conf import upgrade_levels

# A function that returns the oldest version among services, or None.
Oldest: typing.TypeAlias = typing.Callable[[], int | None]


def check(conf: cfg.ConfigOpts) -> None:
    """Raise ValueError if a level of `[upgrade_levels]` is unknown."""
    for option in upgrade_levels.OPTS:
        level = conf.upgrade_levels[option.name]
        if level and not level == option.default == upgrade_levels.AUTO:
            try:
                versions.pin(option.name.replace('_', '-'), level)
            except ValueError as error:
                raise ValueError(f'[upgrade_levels]{option.name}: {error}') from None


class Pins:
    """The methods and versions that may be used with one interface.

    oldest: function that returns the oldest version among the services at the far side, or
        None if there is none; only `auto` needs it
    """

    def __init__(self, conf: cfg.ConfigOpts, topic: str, oldest: Oldest | None = None) -> None:
        self._topic, self._oldest = topic, oldest
        # Without an option, the interface is not used between daemons of a deployment.
        level = getattr(conf.upgrade_levels, topic.replace('-', '_'), None)
        self._auto = level == upgrade_levels.AUTO
        self._fixed = None if self._auto or not level else versions.pin(topic, level)

    def now(self) -> versions.Pin | None:
        """Return the current Pin, or None if the newest versions may be sent."""
        # With one release the result is known.
        if not self._auto or self._oldest is None or len(versions.RELEASES) == 1:
            return self._fixed
        oldest = self._oldest()
        return None if oldest is None else versions.pin_of_service(self._topic, oldest)

    def manifest(self) -> dict[str, str] | None:
        """Return {object: version in which to send it}, or None for the newest versions."""
        pin = self.now()
        if pin is None:
            return None
        known = base.VersionedObjectRegistry.obj_classes()
        return {name: pin.objects.get(name, known[name][0].VERSION) for name in known}

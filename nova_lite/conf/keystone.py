"""[keystone]: access to the identity service, for checks of projects."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'keystone'
OPTS = [*service_user.neighbour('identity')]


def register(conf: cfg.ConfigOpts) -> None:
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]

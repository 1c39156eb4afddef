"""nova-lite-simcloud: stand-ins for Keystone, Glance, Neutron, Cinder and Manila."""

from collections.abc import Sequence

from nova_lite.daemons import exposure
from nova_lite.daemons import process
from nova_lite.daemons import simcloud


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM."""
    conf = process.configure(argv, 'nova-lite-simcloud')
    exposure.serve(lambda: simcloud.application(conf), conf.simcloud)


if __name__ == '__main__':
    main()

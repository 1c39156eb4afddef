"""nova-lite-placement: the real placement service."""

from collections.abc import Sequence

from nova_lite.conf import placement_server
from nova_lite.daemons import exposure
from nova_lite.daemons import placement
from nova_lite.daemons import process


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM."""
    conf = process.configure(argv, 'nova-lite-placement')
    exposure.serve(
        lambda: placement.application(conf),
        conf.placement_server,
        workers=placement_server.workers(conf),
    )


if __name__ == '__main__':
    main()

"""nova-lite-api: the compute API, and the services of [api]proxies on its port."""

from collections.abc import Sequence

from nova_lite.conf import keystone_authtoken
from nova_lite.daemons import api
from nova_lite.daemons import exposure
from nova_lite.daemons import process


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM."""
    conf = process.configure(argv, 'nova-lite-api', keystone_authtoken.check)
    # Connections must not be shared with the parent: each worker builds its own.
    exposure.serve(lambda: api.application(process.configure(argv, 'nova-lite-api')), conf.api)


if __name__ == '__main__':
    main()

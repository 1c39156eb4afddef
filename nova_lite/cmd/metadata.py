"""nova-lite-metadata: the metadata service, for the metadata proxy of the network service."""

from collections.abc import Sequence

from nova_lite.daemons import metadata
from nova_lite.daemons import process
from nova_lite.daemons.wsgi import server


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM."""
    options = process.configure(argv, 'nova-lite-metadata', metadata.check).metadata
    # Connections must not be shared with the parent: each worker builds its own.
    server.serve(
        lambda: metadata.application(process.configure(argv, 'nova-lite-metadata')),
        host=options.listen,
        port=options.port,
        workers=options.workers,
        threads=options.threads,
    )


if __name__ == '__main__':
    main()

"""nova-lite-scheduler: the scheduler daemon in a process of its own."""

from collections.abc import Sequence

from nova_lite.daemons import process
from nova_lite.daemons import scheduler


def main(argv: Sequence[str] | None = None) -> None:
    """Run until SIGTERM."""
    process.run(argv, 'nova-lite-scheduler', scheduler.make)


if __name__ == '__main__':
    main()

"""Run a command that ends, with all that it starts, when the process that asked for it has ended.

python -m nova_lite.lab.launcher.horizon.leashed COMMAND [ARGUMENT...]

It leads a group of processes, see `supervisor.spawn`, and exits with the code of the command.
"""

import os
import signal
import subprocess
import sys

from nova_lite.daemons import leash


def _end(_number: int, _frame: object) -> None:
    """Kill all processes of the group, this one too."""
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the command of the arguments."""
    signal.signal(signal.SIGTERM, _end)
    leash.put_on()
    command = sys.argv[1:]
    try:
        # The command inherits the lock of the installation.
        code = subprocess.call(command, close_fds=False)
    except OSError as error:
        sys.exit(f'{command[0]}: {error.strerror}')
    sys.exit(code)


if __name__ == '__main__':
    main()

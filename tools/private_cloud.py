"""Run a command beside a cloud over a private RabbitMQ and MariaDB; then stop all three.

  python -m tools.private_cloud --cells 1 --hosts 1000 -- nova-lite bench idle

starts the two servers on free ports (durable: flush at every commit), `nova-lite up` with the
options before `--`, and the command. In the environment of the command, NOVA_LITE_STATE is the
state directory, COMPUTE_URL the URL of the API, and RUN_DIR the directory with the pid files of the
daemons and the servers. Prints how long the cloud took to be ready, and the number of queues,
connections and channels of the broker. The programs of the servers must be installed (bindep.txt);
running servers are left alone.
"""

import argparse
import collections
from collections.abc import Sequence
import os
import pathlib
import re
import signal
import subprocess
import sys

import fixtures

from nova_lite import runtime
from tests.fixtures import mariadb
from tests.fixtures import ports
from tests.fixtures import processes
from tests.fixtures import rabbit
from tests.fixtures import servers

READY = re.compile(r'^Ready after ([0-9.]+) s: (\S+)$', re.MULTILINE)
READY_S, STOP_S = 3600, 300


class Durable(mariadb.MariaDB):
    """A MariaDB that loses no transaction, as in production."""

    def command(self) -> list[str]:
        return [*super().command(), '--innodb-flush-log-at-trx-commit=1']


class Private(fixtures.Fixture):
    """The servers and the cloud. up: further arguments of `nova-lite up`."""

    def __init__(self, up: Sequence[str]) -> None:
        super().__init__()
        self.up = up

    def _setUp(self) -> None:
        names = ('top', *(f'cell{number + 1}' for number in range(self._cells())))
        self.broker, self.database = rabbit.Rabbit(*names), Durable()
        servers.use_all(self, self.broker, self.database)
        self.state_dir = self.useFixture(fixtures.TempDir()).path
        bus = self.broker.vhost_url('/') + '{cell}'
        self.cloud = self.useFixture(
            processes.Daemon(
                [sys.executable, '-m', 'nova_lite.cmd.main', 'up', '--state-dir', self.state_dir,
                 '--port', self.useFixture(ports.Port()).number, '--bus', bus,
                 '--db', self.database.root_url, *self.up],
                name='nova-lite-up',
            )
        )  # fmt: skip
        self._start()
        self.addCleanup(self._stop)
        for name, daemon in (('rabbitmq', self.broker.daemon), ('mariadb', self.database.daemon)):
            path = pathlib.Path(self.state_dir, 'run', f'{name}.private.pid')
            path.write_text(f'{daemon.pid}\n')

    def restart(self) -> None:
        """Stop the cloud and start it again with its state; broker and database stay up."""
        self._stop()
        self._start()

    def _start(self) -> None:
        """Start the cloud. Set `seconds`, the time until it was ready, and `url`, its API."""
        before = len(self.cloud.log_text())
        self.cloud.start()
        found = self.cloud.wait_for(
            lambda: READY.search(self.cloud.log_text(), before), READY_S, 'says it is ready'
        )
        self.seconds, self.url = float(found[1]), found[2]

    def _cells(self) -> int:
        parser = argparse.ArgumentParser()
        parser.add_argument('--cells', type=int, default=2)
        cells: int = parser.parse_known_args(self.up)[0].cells
        return cells

    def _stop(self) -> None:
        self.cloud.signal(signal.SIGINT)
        began = runtime.monotonic()
        self.cloud.wait(STOP_S)
        print(f'Stopped after {runtime.monotonic() - began:.1f} s', flush=True)

    def held(self) -> dict[str, int]:
        """Return the numbers of queues, connections and channels of the broker."""
        counts: collections.Counter[str] = collections.Counter()
        for vhost in self.broker.vhosts:
            listed = self.broker.ctl('list_queues', '-p', vhost, 'name', '--no-table-headers')
            counts['queues'] += len(listed.split())
        for what in ('connections', 'channels'):
            listed = self.broker.ctl(f'list_{what}', 'pid', '--no-table-headers')
            counts[what] = len(listed.split())
        return dict(counts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Return its exit code."""
    given = sys.argv[1:] if argv is None else argv
    cut = given.index('--') if '--' in given else len(given)
    parser = argparse.ArgumentParser(description=__doc__, add_help='--' not in given)
    parser.parse_known_args(given[:cut])
    with Private(given[:cut]) as private:
        print(f'Ready after {private.seconds:.1f} s', flush=True)
        environment = {
            **os.environ,
            'NOVA_LITE_STATE': private.state_dir,
            'COMPUTE_URL': private.url,
            'RUN_DIR': os.path.join(private.state_dir, 'run'),
            'PATH': os.pathsep.join((os.path.dirname(sys.executable), os.environ['PATH'])),
        }
        code = 0
        if given[cut + 1 :]:
            code = subprocess.run(given[cut + 1 :], env=environment).returncode
        print(f'Broker: {private.held()}', flush=True)
    return code


if __name__ == '__main__':
    sys.exit(main())

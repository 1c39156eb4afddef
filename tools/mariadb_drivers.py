"""CPU that drivers of MariaDB take for the same work of a cell's database.

    python -m tools.mariadb_drivers pymysql mysqldb

Starts a private MariaDB. A driver is the part of a URL after `mysql+`; it must be installed.
The drivers take turns, since the speed of a machine changes; figures are those of the best turn.
"""

import argparse
from collections.abc import Sequence

from nova_lite import runtime
from nova_lite.db import schema_migration
from nova_lite.db import transactions
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import instances
from tests.fixtures import mariadb

SERVERS, LISTS, LISTED = 300, 30, 100
FLAVOR = {'name': 'm1.small', 'flavorid': '2', 'extra_specs': {'hw:cpu_policy': 'shared'}}


def boot(database: transactions.Database) -> list[str]:
    """Write and read the row of each of SERVERS servers as a boot does. Return the uuids."""
    uuids = []
    for number in range(SERVERS):
        uuid = runtime.new_uuid()
        values = {
            'uuid': uuid,
            'project_id': 'project',
            'user_id': 'user',
            'display_name': f'server-{number}',
            'vm_state': 'building',
            'task_state': 'scheduling',
            'vcpus': 1,
            'memory_mb': 2048,
            'root_gb': 20,
            'ephemeral_gb': 0,
            'flavor': FLAVOR,
        }
        database.write(instances.create, values)
        database.write(instances.update, uuid, {'task_state': 'spawning', 'host': 'host-1'})
        database.read(instances.get, uuid)
        database.write(instances.update, uuid, {'vm_state': 'active', 'task_state': None})
        uuids.append(uuid)
    return uuids


def measure(url: str, driver: str) -> tuple[float, float]:
    """Return (ms of CPU for each server, ms for each row of a list) of a driver."""
    database = transactions.Database(url.replace('pymysql', driver, 1))
    try:
        database.read(host_usage.count_on, ['host-1'])
        begun = runtime.cpu_time()
        uuids = boot(database)
        booted = runtime.cpu_time()
        for _turn in range(LISTS):
            database.read(instances.of, uuids[:LISTED])
        listed = runtime.cpu_time()
    finally:
        database.dispose()
    return 1000 * (booted - begun) / SERVERS, 1000 * (listed - booted) / LISTS / LISTED


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('drivers', nargs='+', metavar='DRIVER')
    parser.add_argument('--turns', type=int, default=3)
    args = parser.parse_args(argv)
    best: dict[str, tuple[float, float]] = {}
    with mariadb.MariaDB() as server:
        url = server.create_database('cell')
        schema_migration.upgrade(url, 'cell')
        for _turn in range(args.turns):
            for driver in args.drivers:
                found = measure(url, driver)
                former = best.get(driver, found)
                best[driver] = min(found[0], former[0]), min(found[1], former[1])
    for driver, (boot_ms, row_ms) in best.items():
        print(f'{driver}: {boot_ms:.2f} ms of CPU a server, {row_ms:.3f} ms a row of a list')


if __name__ == '__main__':
    main()

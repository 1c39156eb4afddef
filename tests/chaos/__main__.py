"""Race clients against a cloud while a nemesis breaks its parts; print what went wrong.

    python -m tests.chaos --seed 7 --minutes 10

The choices of the clients and of the nemesis come from the seed. What they lead to also
depends on timing, so a seed repeats the pressure and not each interleaving. Requests,
faults and logs of the daemons are kept in build/chaos when something is found.
"""

import argparse
import os
import shutil
import sys

from nova_lite import runtime
from tests.chaos import run as run_module
from tests.fixtures import mariadb
from tests.fixtures import postgresql

KEEP = os.path.join('build', 'chaos')
DATABASES = {'mariadb': mariadb.MariaDB, 'postgresql': postgresql.PostgreSQL}


def main(argv=None):
    """Run as the command line says; 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--seed', type=int, help='default: a random one, which is printed')
    parser.add_argument('--minutes', type=float, default=10.0, help='default: %(default)s')
    parser.add_argument('--database', choices=DATABASES, default='mariadb')
    parser.add_argument('--profile', default='default', help='of the simulated hosts')
    parser.add_argument(
        '--fleet', action='store_true', help='20 hosts with NUMA nodes, 4 with GPUs; fill them'
    )
    args = parser.parse_args(argv)
    seed = runtime.random().randrange(10**6) if args.seed is None else args.seed
    fleet = ' --fleet' * args.fleet
    print(f'python -m tests.chaos --seed {seed} --minutes {args.minutes:g}{fleet}', flush=True)
    os.makedirs(KEEP, exist_ok=True)
    database, path = DATABASES[args.database](), os.path.join(KEEP, 'requests.jsonl')
    make = (
        run_module.fleet_cloud(database) if args.fleet else run_module.cloud(database, args.profile)
    )
    with make as cloud:
        run = run_module.Run(cloud, seed=seed, path=path, is_fleet=args.fleet)
        if found := run.run(args.minutes * 60):
            logs = run_module.log_directory(cloud)
            shutil.copytree(logs, os.path.join(KEEP, 'log'), dirs_exist_ok=True)
    print(*run.summary(), sep='\n', flush=True)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

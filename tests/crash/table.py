"""Run the kill tables, print them, and keep what came out for the documentation.

    python -m tests.crash.table run            # everything, an hour or more
    python -m tests.crash.table run --missing  # only what was never run
    python -m tests.crash.table run --lost     # only what did not survive
    python -m tests.crash.table show           # print what is kept

The results lie in doc/source/reference/crash-table.json, and as a page beside it.
"""

import argparse
import itertools
import sys

from nova_lite import runtime
from tests.crash import actions
from tests.crash import cases
from tests.crash import cloud as cloud_module
from tests.crash import gear
from tests.crash import kept
from tests.crash import killing
from tests.crash import phases
from tests.fixtures import mariadb
from tests.fixtures import postgresql

DATABASES = {'mariadb': mariadb.MariaDB, 'postgresql': postgresql.PostgreSQL}
AT_ONCE = 8
KILLING = {
    cases.ACTIONS: actions.ActionKilling,
    cases.DEVICES: gear.DeviceKilling,
    cases.PHASES: phases.PhaseKilling,
    cases.ABORT: phases.PhaseKilling,
}


def run(args):
    """Run what is asked for; 0 if every case survived."""
    results = kept.Results()
    args.deadline = runtime.monotonic() + args.minutes * 60
    wanted = [
        case
        for case in cases.every(
            *(args.table or ()), roles=args.role or cases.EVERYONE, names=args.move
        )
        if _is_wanted(args, results.result(args.database, case))
    ]
    if args.spread:
        wanted = cases.spread(wanted, args.spread)
    lost = sum(
        _run_table(args, table, found, results)
        for table in cases.TABLES
        if (found := [case for case in wanted if case.table == table])
        and runtime.monotonic() < args.deadline
    )
    show(args)
    return 1 if lost else 0


def _is_wanted(args, result):
    if not (args.missing or args.lost):
        return True
    return args.missing if result is None else args.lost and result not in killing.SURVIVED


def _run_table(args, table, wanted, results):
    """Run cases of one table in one cloud; how many did not survive."""
    done, lost = 0, 0
    with cloud_module.of_table(table, DATABASES[args.database]()) as cloud:
        kills = KILLING.get(table, killing.Killing)(cloud, table)
        for batch in itertools.islice(cases.batches(wanted, args.at_once), args.batches):
            for outcome in kills.run(batch):
                results.add(args.database, outcome)
                lost += not outcome.survived
                print(f'{outcome.seconds:6.1f} s  {outcome.case}: {outcome.result}')
            done += len(batch)
            print(f'-- {done} of {len(wanted)} cases run, {lost} not survived', flush=True)
            results.save()
            if runtime.monotonic() > args.deadline:
                break
    return lost


def show(_args):
    """Print the sums of all tables."""
    for line in kept.Results().sums():
        print(line)
    return 0


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser('run')
    running.add_argument('--database', choices=DATABASES, default='mariadb')
    running.add_argument('--table', action='append', choices=cases.TABLES)
    running.add_argument('--role', action='append', choices=cases.EVERYONE)
    running.add_argument('--move', action='append')
    running.add_argument('--at-once', type=int, default=AT_ONCE, metavar='CASES')
    running.add_argument('--spread', type=int, metavar='CASES', help='so many of each role')
    running.add_argument('--batches', type=int, help='stop after so many')
    running.add_argument('--minutes', type=float, default=600, help='begin no batch after so many')
    running.add_argument('--missing', action='store_true', help='only what was never run')
    running.add_argument('--lost', action='store_true', help='only what did not survive')
    running.set_defaults(run=run)
    commands.add_parser('show').set_defaults(run=show)
    args = parser.parse_args(argv)
    return args.run(args)


if __name__ == '__main__':
    sys.exit(main())

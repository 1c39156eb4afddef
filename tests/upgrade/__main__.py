"""Sagas begun by a former commit and finished by this one: python -m tests.upgrade

For each scenario and step, or a sample of them, the code of `--commit` begins a move in a cloud
of its own and dies before the step is done, or undone after a later one failed. Then the code of
now starts on the same files and has to end the saga, and `verify` may find nothing.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile

from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.db.api import sagas
from nova_lite.lab.launcher import embedded
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import verification
from nova_lite.saga import journal
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.upgrade import answers
from tests.upgrade import leave as leaving

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAVE = os.path.join(TOP, 'tests', 'upgrade', 'leave.py')
END_S, SETTLE_S = 180, 60
UNREACHED = 'not reached'
SERVERS = {'mariadb': mariadb.MariaDB, 'postgresql': postgresql.PostgreSQL}


def cases(name):
    """(step, failed) of a scenario: before each step, and before it is undone."""
    plan = saga_faults.steps_of(scenarios.kind_of(name), scenarios.SCENARIOS[name].arguments)
    last = saga_faults.last_fatal(plan)
    for index, step in enumerate(plan):
        yield step.id, None
        if index <= last and step.undo is not None:
            yield step.id, plan[last].id


def leave(tree, directory, name, case, *, database):
    """Run the former code until it leaves a saga in the middle of its work.

    database: the URL of a server, or leave.FILES
    Returns (what it left, None), or (None, why not). Some steps are skipped, or not
    reached: then the move ends, and nothing is left.
    """
    words = [step for step in case if step is not None]
    done = subprocess.run(
        [sys.executable, LEAVE, database, name, *words],
        cwd=tree,
        env={**os.environ, 'PYTHONPATH': tree, 'TMPDIR': directory},
        capture_output=True,
        text=True,
        timeout=END_S,
    )
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1]), None
    return None, UNREACHED if done.returncode == leaving.NOT_REACHED else done.stderr[-2000:]


def take_up(left):
    """Start the cloud that was left, and return how the saga ended and what verify finds."""
    settings = layout.Settings(state_dir=left['state_dir'], port=left['port'], **left['settings'])
    cloud = embedded.EmbeddedCloud(settings)
    cloud.start()
    conf = state_dir.control_conf(left['state_dir'])
    database = transactions.Database(conf.api_database.connection)
    try:
        row = _ended(database, left['server'])
        verdict = verification.find(left['state_dir'], settle_s=SETTLE_S)
        return row.state, [' '.join(found) for found in (*verdict.findings, *verdict.unsettled)]
    finally:
        database.dispose()
        cloud.stop()


def _ended(database, server):
    """Wait for the newest saga of a server to end; its row, which may be set aside."""
    deadline = runtime.monotonic() + END_S
    while True:
        row = database.read(sagas.every, instance_uuid=server)[0]
        told = [event.what for event in database.read(sagas.events, row.uuid)]
        if row.state in journal.ENDED or 'unknown' in told or runtime.monotonic() > deadline:
            return row
        runtime.sleep(0.5)


def expected(case):
    """Return the expected end: a move goes on, unless a step has failed before."""
    _step, failed = case
    return journal.DONE if failed is None else journal.UNDONE


def run(tree, name, case, *, database):
    """Print one case and return how it ended, or None when it went wrong."""
    with tempfile.TemporaryDirectory(prefix='nova-lite-upgrade-') as directory:
        left, reason = leave(tree, directory, name, case, database=database)
        if left is None:
            state, found = reason, []
        else:
            taken = subprocess.run(
                [sys.executable, '-m', 'tests.upgrade', '--take-up', json.dumps(left)],
                cwd=TOP,
                capture_output=True,
                text=True,
                timeout=END_S + SETTLE_S + 60,
            )
            lines = taken.stdout.splitlines() or [json.dumps(['failed', taken.stderr[-2000:]])]
            state, found = json.loads(lines[-1])
    direction = 'do' if case[1] is None else 'undo'
    good = not found and state in (UNREACHED, expected(case))
    print(
        f'{"ok" if good else "WRONG":6} {name:24} {direction:5} {case[0]:38} {state} {found or ""}'
    )
    sys.stdout.flush()
    return state if good else None


@contextlib.contextmanager
def _server(name):
    """Start a database server, and give its URL; without a name, databases are files."""
    if name is None:
        yield leaving.FILES
        return
    with SERVERS[name]() as server:
        yield server.root_url


def main():
    """Run the cases; the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tests.upgrade', description=__doc__)
    parser.add_argument(
        '--commit', default=answers.COMMIT, help='the former one (default: %(default)s)'
    )
    parser.add_argument('--every', type=int, default=1, metavar='N', help='one case of so many')
    parser.add_argument('--first', type=int, default=0, metavar='N', help='begin with this case')
    parser.add_argument('--database', choices=SERVERS, help='a private server instead of files')
    parser.add_argument(
        '--only', choices=scenarios.SCENARIOS, metavar='SCENARIO', help='the cases of this scenario'
    )
    parser.add_argument('--take-up', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.take_up:
        print(json.dumps(take_up(json.loads(args.take_up))))
        return 0
    wanted = [(name, case) for name in scenarios.SCENARIOS for case in cases(name)]
    wanted = [each for each in wanted if args.only in (None, each[0])][args.first :: args.every]
    with answers.checked_out(args.commit) as tree, _server(args.database) as url:
        results = [run(tree, name, case, database=url) for name, case in wanted]
    failed, unreached = results.count(None), results.count(UNREACHED)
    print(f'{len(results) - failed} passed, {unreached} of them not reached, {failed} failed')
    # Where no step is reached, nothing was tried.
    return 0 if not failed and unreached < len(results) else 1


if __name__ == '__main__':
    sys.exit(main())

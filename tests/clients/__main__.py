"""Run the clients' own functional tests against a cloud: python -m tests.clients

Each result is compared with doc/source/reference/clients.yaml. The exit code is 1 if a test
did not come out as expected or `nova-lite verify` has findings. The results, the output and
the cloud of each suite are in build/clients, the request logs in build/requests.
"""

import argparse
import os
import pathlib
import re
import sys

from nova_lite import runtime
from nova_lite.lab.launcher import verification
from tests.clients import expected as expected_module
from tests.clients import programs
from tests.clients import rally
from tests.clients import resources
from tests.clients import runs
from tests.clients import suites
from tests.fixtures import forking
from tests.tempest import clouds
from tests.tempest import expected as comparison
from tools.proof import proven

DIRECTORY = pathlib.Path('build', 'clients')
SETTLE_S = 60
# Suites, each with a cloud of its own: they wait more than they compute.
AT_ONCE = 2
# What runs a suite that is no package of tests.
RUNNERS = {'rally': rally.Rally}


def parser():
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog='python -m tests.clients', description=__doc__)
    made.add_argument(
        '--programs',
        default=os.environ.get(runs.PROGRAMS),
        metavar='DIR',
        help=f'directory of the programs of the suites (default: the variable {runs.PROGRAMS})',
    )
    made.add_argument(
        '--suite',
        action='append',
        choices=[suite.name for suite in suites.SUITES],
        help='run only this suite; may be repeated',
    )
    made.add_argument(
        '--regex', type=re.compile, help='run only those tests of the suites that match'
    )
    made.add_argument(
        '--directory', type=pathlib.Path, default=DIRECTORY, help='default: %(default)s'
    )
    return made


def main(argv=None):
    """Run the tests; return the exit code."""
    args = parser().parse_args(argv)
    if not args.programs:
        parser().error(f'--programs or {runs.PROGRAMS} must name the programs of the suites')
    chosen = [each for each in suites.SUITES if not args.suite or each.name in args.suite]
    known = expected_module.load(expected_module.PATH.read_text())
    forking.parent(forking.CLIENTS)  # before there are threads
    with runtime.executor(AT_ONCE) as pool:
        started = [pool.submit(_run, each, known[each.name], args) for each in chosen]
        lines = [line for each in started for line in each.result()]
    print('Not as expected' if lines else 'All is as expected', flush=True)
    return 1 if lines else 0


def _run(suite, expected, args):
    """Run one suite in a cloud of its own; return the lines of what is not as expected."""
    directory = args.directory.absolute() / suite.name
    directory.mkdir(parents=True, exist_ok=True)
    log = proven.log(f'clients-{suite.name}')
    profile = directory / 'profile.yaml'
    profile.write_text(suite.profile)
    with clouds.make(directory / 'state', log=log, profile=profile) as cloud:
        resources.make(cloud.state_dir)
        home = directory / 'home'
        path = resources.write_clouds(cloud.state_dir, home)
        with programs.Programs(path) as ours:
            variables = {'HOME': str(home), **ours.variables}
            run = RUNNERS.get(suite.name, runs.Tests)(suite, args.programs, directory, variables)
            names = run.list(args.regex)
            log.unlink(missing_ok=True)  # only the requests of the suite count
            run.run(names)
        found = run.results(names)
        verdict = verification.find(cloud.state_dir, settle_s=SETTLE_S)
    lines = run.problems(expected.version)
    lines += comparison.differences(expected, names, found, whole=args.regex is None)
    lines += [f'VERIFY {" ".join(each)}' for each in (*verdict.findings, *verdict.unsettled)]
    summary = f'{suite.name}: {comparison.summary(found)}; {len(lines)} not as expected'
    print('\n'.join([*lines, summary]), flush=True)
    return lines


if __name__ == '__main__':
    sys.exit(main())

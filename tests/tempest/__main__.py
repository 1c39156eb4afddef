"""Run Tempest's compute tests against a cloud of its own: python -m tests.tempest

Each result is compared with doc/source/reference/tempest.yaml. The exit code is 1 if a test
did not come out as expected or `nova-lite verify` has findings. The memory and the threads of
the cloud after the tests are printed as by `nova-lite bench idle`. tempest.conf, the results
and the logs are in build/tempest, the request log in build/requests.
"""

import argparse
import os
import pathlib
import sys

from nova_lite.lab.bench import idle
from nova_lite.lab.launcher import verification
from tests.tempest import clouds
from tests.tempest import expected as expected_module
from tests.tempest import resources
from tests.tempest import runs
from tests.tempest import settings
from tools.proof import proven

DIRECTORY = pathlib.Path('build', 'tempest')
SETTLE_S = 60
# What the cloud holds after the tests is watched for so long.
WATCHED_S = 2


def parser():
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog='python -m tests.tempest', description=__doc__)
    made.add_argument(
        '--programs',
        default=os.environ.get(runs.PROGRAMS),
        metavar='DIR',
        help=f'directory of the programs of Tempest (default: the variable {runs.PROGRAMS})',
    )
    made.add_argument('--regex', help='run only those tests of compute that match')
    made.add_argument(
        '--servers',
        action='store_true',
        help='start a process for each daemon over a private RabbitMQ and MariaDB, instead of '
        'one process on SQLite',
    )
    made.add_argument('--concurrency', type=int, default=2, help='default: %(default)s')
    made.add_argument(
        '--directory', type=pathlib.Path, default=DIRECTORY, help='default: %(default)s'
    )
    return made


def main(argv=None):
    """Run the tests; return the exit code."""
    args = parser().parse_args(argv)
    if not args.programs:
        parser().error(f'--programs or {runs.PROGRAMS} must name the programs of Tempest')
    directory = args.directory.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    expected = expected_module.load(expected_module.PATH.read_text())
    tempest = runs.Tempest(args.programs, directory)
    if (version := tempest.version()) != expected.version:
        print(f'Tempest {version} is installed, {expected_module.PATH} is for {expected.version}')
        return 1
    log = proven.log('tempest')
    with clouds.make(directory / 'state', servers=args.servers, log=log) as cloud:
        conf = settings.text(resources.make(cloud.state_dir), directory)
        (directory / 'tempest.conf').write_text(conf)
        regex = f'{runs.COMPUTE}.*({args.regex})' if args.regex else runs.COMPUTE
        names = tempest.list(regex)
        tempest.run(regex, concurrency=args.concurrency)
        held = idle.measure(cloud.state_dir, (), WATCHED_S)
        found = tempest.results(names)
        verdict = verification.find(cloud.state_dir, settle_s=SETTLE_S)
    lines = expected_module.differences(expected, names, found, whole=args.regex is None)
    lines += [f'VERIFY {" ".join(each)}' for each in (*verdict.findings, *verdict.unsettled)]
    print(*lines, sep='\n')
    idle.show(held, as_json=False)
    print(f'{expected_module.summary(found)}; {len(lines)} not as expected', flush=True)
    return 1 if lines else 0


if __name__ == '__main__':
    sys.exit(main())

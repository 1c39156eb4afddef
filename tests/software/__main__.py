"""Run other people's programs against a cloud each: python -m tests.software [PROGRAM ...]

Each program is installed from its registry into a directory of its own. Each result is compared
with doc/source/reference/software.yaml. The exit code is 1 if a case did not come out as
expected or `nova-lite verify` has findings. The installed programs, their output and the clouds
are in build/software, the request logs in build/requests.
"""

import argparse
import os
import pathlib
import sys

from nova_lite.lab.launcher import verification
from tests.clients import expected as expected_module
from tests.software import programs
from tests.software import runs
from tests.software import settings
from tests.tempest import clouds
from tests.tempest import expected as comparison
from tools.proof import proven

DIRECTORY = pathlib.Path('build', 'software')
PATH = expected_module.PATH.with_name('software.yaml')
SETTLE_S = 60


def parser():
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog='python -m tests.software', description=__doc__)
    made.add_argument('programs', nargs='*', metavar='PROGRAM', help=', '.join(programs.PROGRAMS))
    made.add_argument(
        '--directory',
        type=pathlib.Path,
        default=os.environ.get('NOVA_LITE_TEST_SOFTWARE', DIRECTORY),
        help='of what is installed (default: %(default)s)',
    )
    return made


def main(argv=None):
    """Run the programs one after another; return the exit code."""
    args = parser().parse_args(argv)
    chosen = args.programs or list(programs.PROGRAMS)
    if unknown := sorted(set(chosen) - set(programs.PROGRAMS)):
        parser().error(f'no such program: {", ".join(unknown)}')
    known = expected_module.load(PATH.read_text())
    lines = [line for name in chosen for line in _run(name, known[name], args.directory)]
    print('Not as expected' if lines else 'All is as expected', flush=True)
    return 1 if lines else 0


def _run(name, expected, directory):
    """Run one program in a cloud of its own; return the lines of what is not as expected."""
    installed = programs.Installed(programs.PROGRAMS[name], directory.absolute() / name)
    log = proven.log(f'software-{name}')
    up = ('--cells', '1', '--hosts', str(settings.HOSTS), '--set', f'api.request_log={log}')
    with runs.before_cloud(name) as (more, bus):
        with clouds.Embedded(installed.directory / 'state', (*up, *more)) as cloud:
            found = runs.run(installed, cloud.state_dir, bus)
            verdict = verification.find(cloud.state_dir, settle_s=SETTLE_S)
    lines = []
    if (version := installed.version()) != expected.version:
        lines.append(f'VERSION {name}: {version}, expected {expected.version}')
    lines += comparison.differences(expected, list(found), found, whole=True)
    lines += [f'VERIFY {" ".join(each)}' for each in (*verdict.findings, *verdict.unsettled)]
    summary = f'{name}: {comparison.summary(found)}; {len(lines)} not as expected'
    print('\n'.join([*lines, summary]), flush=True)
    return lines


if __name__ == '__main__':
    sys.exit(main())

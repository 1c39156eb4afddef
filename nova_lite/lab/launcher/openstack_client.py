"""The program openstack with the variables of a cloud."""

import os
import shutil
import sys
import typing

from nova_lite import exception
from nova_lite.lab.launcher import openrc
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud

PROGRAM = 'openstack'
WITHOUT_CLOUD = ('--version', '--help', '-h', 'help', 'complete')


class NotInstalled(exception.Invalid):
    msg = (
        'The program openstack is not installed. Install it with `pip install python-openstackclient`; '
        "the extra `cli` of nova_lite, as in `pip install '.[cli]'`, installs it as well."
    )


class NotRunning(exception.Invalid):
    msg = 'The cloud in %(directory)s does not run. Start it with `%(up)s`.'


def run(cloud: which_cloud.Cloud, user: str, arguments: list[str]) -> typing.NoReturn:
    """Replace this process by the program. user: name of a cloud in clouds.yaml

    Raise Invalid, NotInstalled, or NotRunning for a cloud of `nova-lite up` that is stopped. The
    version and the help need no cloud.
    """
    if arguments and arguments[0] in WITHOUT_CLOUD:
        _execute(arguments, {})
    variables = openrc.selection(openrc.clouds_yaml(cloud), user)
    if not cloud.deployed and cloud.state() != which_cloud.RUNNING:
        up = state_dir.command('up', cloud.directory)
        raise NotRunning(directory=cloud.directory, up=up)
    _execute(arguments, {state_dir.VARIABLE: cloud.directory, **variables})


def _execute(arguments: list[str], variables: dict[str, str]) -> typing.NoReturn:
    program = _find()
    environ = {name: value for name, value in os.environ.items() if name not in openrc.UNSET}
    environ |= variables
    sys.stdout.flush()
    os.execve(program, [PROGRAM, *arguments], environ)


def _find() -> str:
    """Return the path of the program: of this environment, else of PATH. Raise NotInstalled."""
    beside = os.path.join(os.path.dirname(sys.executable), PROGRAM)
    found = beside if os.access(beside, os.X_OK) else shutil.which(PROGRAM)
    if found is None:
        raise NotInstalled()
    return found

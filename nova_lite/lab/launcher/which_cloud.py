"""The cloud that a command means, by the same rules for all commands.

The first of these names the cloud: --state-dir, --name or --config-dir; NOVA_LITE_STATE; the
directory of the file that OS_CLIENT_CONFIG_FILE names, if a cloud is there; the default state
directory. Without an option, a command refuses to run if the variables OS_* name another cloud,
with which the clients of its user work.
"""

import argparse
from collections.abc import Mapping
import dataclasses
import os
import shlex
import socket

from oslo_config import cfg

from nova_lite import exception
from nova_lite.lab.launcher import deployment
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import os_variables
from nova_lite.lab.launcher import state_dir

ABSENT, STOPPED, STARTING, RUNNING = 'none there yet', 'stopped', 'starting or stopping', 'running'
ANSWER_S = 1.0
OPTION = 'an option'
# Options of commands that delete the cloud.
DELETING = ('delete', 'fresh')
# Defaults of arguments, for commands that need no cloud, for commands whose cloud may differ from
# the cloud of the variables OS_*, and for commands whose cloud these variables name.
UNUSED = {'uses_cloud': False}
NOT_COMPARED = {'compares_cloud': False}
BY_CLIENTS = {'cloud_of_clients': True}


class TwoClouds(exception.Conflict):
    msg = (
        '%(source)s the cloud in %(ours)s, but %(text)s another: %(theirs)s. Choose one with '
        '--state-dir, --name or --config-dir, unset one of the variables, or set all of them with '
        '%(env)s.'
    )


class NotThere(exception.Invalid):
    msg = '%(directory)s %(reason)s'


class NotNamed(exception.Invalid):
    msg = (
        'This would delete the cloud in %(directory)s, which only %(variable)s names. Name the '
        'cloud to delete with --state-dir, --name or NOVA_LITE_STATE.'
    )


@dataclasses.dataclass(frozen=True)
class Cloud:
    """A cloud, identified by its directory.

    source: the variable that names the cloud, OPTION, or '' for the default state directory
    deployed: whether the directory has the configuration of a deployment
    """

    directory: str
    source: str
    deployed: bool = False

    def conf(self) -> cfg.ConfigOpts:
        """Return the configuration of the control daemons. Raise Invalid if there is no cloud."""
        if self.deployed:
            return deployment.Deployment(self.directory).conf
        return state_dir.control_conf(self.directory)

    def state(self) -> str:
        """Return whether the cloud runs; for a deployment, whether its API accepts connections."""
        if self.deployed:
            return _state_of_api(self.conf())
        if lock.ready(self.directory) is not None:
            return RUNNING
        if lock.holder(self.directory) is not None:
            return STARTING
        return STOPPED if state_dir.is_cloud(self.directory) else ABSENT

    def __str__(self) -> str:
        kind = 'Deployment of' if self.deployed else 'Cloud in'
        named = f' (named by {self.source})' if self.source not in (OPTION, '') else ''
        return f'{kind} {self.directory}, {self.state()}{named}'


def _state_of_api(conf: cfg.ConfigOpts) -> str:
    host = conf.api.listen
    try:
        with socket.create_connection((host, conf.api.port), ANSWER_S):
            return RUNNING
    except OSError:
        return f'no compute API at {host}:{conf.api.port}'


def of(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> Cloud | None:
    """Return the cloud that a command means.

    None: the command needs no cloud, an option or the variables OS_* name the cloud of another
        program
    Raise TwoClouds, NotThere, or NotNamed if the command deletes a cloud that only clients name.
    """
    if not hasattr(args, 'state_dir') or not getattr(args, 'uses_cloud', True):
        return None
    if args.state_dir is not None:
        return by_option(args.state_dir, deployed=False)
    if args.config_dir is not None:
        return by_option(args.config_dir, deployed=True)
    if getattr(args, 'os_cloud', None) or getattr(args, 'nova', None) is not None:
        return None
    found = implied(environ)
    directory, source = found.directory, found.source
    if source == os_variables.FILE and any(getattr(args, name, False) for name in DELETING):
        raise NotNamed(directory=directory, variable=source)
    if getattr(args, 'cloud_of_clients', False) and not source and os_variables.are_set(environ):
        return None
    if getattr(args, 'compares_cloud', True):
        compare(found, environ)
    return found


def implied(environ: Mapping[str, str]) -> Cloud:
    """Return the cloud that a command means if no option names one."""
    directory, source = state_dir.implied(environ)
    return Cloud(directory, source, deployed=deployment.is_one(directory))


def by_option(path: str, *, deployed: bool) -> Cloud:
    """Return the cloud that an option names. Raise NotThere.

    path: of the directory; deployed: whether it is said to have the configuration of a deployment
    """
    directory = os.path.abspath(path)
    if os.path.exists(directory) and not os.path.isdir(directory):
        reason = 'is a file. Name a directory, such as one that `nova-lite list` shows'
        raise NotThere(directory=directory, reason=reason)
    if not deployed and deployment.is_one(directory):
        reason = 'has the configuration of a deployment. Name it with --config-dir'
        raise NotThere(directory=directory, reason=reason)
    if deployed:
        for made in (directory, os.path.dirname(directory)):
            if state_dir.is_cloud(made):
                reason = (
                    f'belongs to a cloud of `nova-lite up`. Use --state-dir {shlex.quote(made)}'
                )
                raise NotThere(directory=directory, reason=reason)
        if not os.path.isdir(directory):
            reason = (
                'is no directory. --config-dir names that of control.conf, such as /etc/nova-lite'
            )
            raise NotThere(directory=directory, reason=reason)
    return Cloud(directory, OPTION, deployed=deployed)


def compare(found: Cloud, environ: Mapping[str, str]) -> None:
    """Raise TwoClouds if the variables of clients name another cloud than the one found."""
    path = environ.get(os_variables.FILE)
    if path:
        place = os.path.dirname(os.path.abspath(path))
        if _is_same(place, found.directory):
            return
        if state_dir.has_cloud(place):
            raise _two(found, f'{os_variables.FILE} names', place)
    ours = os_variables.auth_urls(os.path.join(found.directory, 'clouds.yaml'))
    theirs = os_variables.named(environ)
    if ours and theirs is not None and not os_variables.is_same(ours, theirs.auth_urls):
        raise _two(found, f'{theirs.text} names', ', '.join(theirs.auth_urls))


def _two(found: Cloud, text: str, theirs: str) -> TwoClouds:
    source = f'{found.source} names' if found.source else 'The default is'
    env = f'`eval "$({state_dir.command("env", found.directory)})"`'
    if found.deployed:
        env = f'`eval "$(nova-lite env --config-dir {shlex.quote(found.directory)})"`'
    return TwoClouds(source=source, ours=found.directory, text=text, theirs=theirs, env=env)


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)

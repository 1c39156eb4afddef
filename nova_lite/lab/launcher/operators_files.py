"""The configuration that nova-lite-manage and nova-lite-status read, and the cloud that has it.

The first of these counts: --state-dir, or --config-file and --config-dir; NOVA_LITE_STATE; the
directory of the file that OS_CLIENT_CONFIG_FILE names, if a cloud is there; the files in the usual
directories, such as /etc/nova-lite; the default state directory. These are the rules of the other
commands (`which_cloud`), with the files that an operator has installed before the default cloud.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import os
import typing

from oslo_config import cfg

from nova_lite import exception
from nova_lite.lab.launcher import deployment
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud

PROJECT = 'nova-lite'


class NoConfiguration(exception.Invalid):
    msg = (
        'No configuration was found: no option, no variable %(variable)s, no file in the usual '
        'directories and no cloud in %(directory)s names an API database. Use --state-dir for a '
        'cloud of `nova-lite up`, or --config-file for the configuration of a control daemon.'
    )


class Both(exception.Invalid):
    msg = (
        '--state-dir names the configuration of a cloud of `nova-lite up`, and %(option)s names '
        'another one. Omit one of the two'
    )


class Found(typing.NamedTuple):
    """text: names the cloud, for standard error; files: to read, None for those of oslo.config"""

    text: str
    files: list[str] | None


def find(
    prog: str,
    *,
    directory: str | None,
    files: Sequence[str],
    dirs: Sequence[str],
    environ: Mapping[str, str] = os.environ,
) -> Found:
    """Return the configuration that a command means.

    Raise Both, NoConfiguration, or as `which_cloud`.

    directory: value of --state-dir; files, dirs: values of --config-file and --config-dir
    """
    if directory is not None:
        if files or dirs:
            raise Both(option='--config-file' if files else '--config-dir')
        return _of(which_cloud.by_option(directory, deployed=False))
    if not files and len(dirs) == 1 and deployment.is_one(dirs[0]):
        return _of(which_cloud.by_option(dirs[0], deployed=True))
    if files or dirs:
        return Found(_text([*files, *dirs]), None)
    cloud = which_cloud.implied(environ)
    usual = [
        *cfg.find_config_files(PROJECT, prog),
        *cfg.find_config_dirs(PROJECT, prog),
    ]
    if not cloud.source and usual:
        return Found(_text(usual), None)
    if not cloud.source and not state_dir.is_cloud(cloud.directory):
        raise NoConfiguration(variable=state_dir.VARIABLE, directory=cloud.directory)
    which_cloud.compare(cloud, environ)
    return _of(cloud)


def _of(cloud: which_cloud.Cloud) -> Found:
    if cloud.deployed:
        files = deployment.Deployment(cloud.directory).files()
    else:
        # It is read here to report a file that cannot be read as the other commands do.
        state_dir.control_conf(cloud.directory)
        files = [state_dir.existing(cloud.directory, state_dir.CONTROL_CONF)]
    return Found(str(cloud), files)


def _text(paths: Sequence[str]) -> str:
    return f'Configuration in {", ".join(paths)}'

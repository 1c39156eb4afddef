"""A deployment: daemons that a service manager starts, identified by their configuration.

A deployment has no state directory of `nova-lite up`. Commands read what the control daemons read:
common.conf, control.conf and api.conf, as in doc/source/admin/deploy.rst. A directory without
control.conf is read whole, as oslo.config reads a --config-dir.
"""

import functools
import glob
import os

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite import exception

COMMON, CONTROL = 'common.conf', 'control.conf'
FILES = (COMMON, CONTROL, 'api.conf')


class Unreadable(exception.Invalid):
    msg = (
        'The configuration in %(directory)s cannot be used: %(reason)s. Correct it, or choose another '
        '--config-dir.'
    )


def is_one(directory: str) -> bool:
    """Return whether a directory has the configuration of a deployment."""
    return os.path.isfile(os.path.join(directory, CONTROL))


def one_line(error: Exception) -> str:
    """Return the text of an error of the configuration as part of a sentence."""
    return ' '.join(str(error).split()).rstrip('.')


def read(directory: str, files: list[str]) -> cfg.ConfigOpts:
    """Return the configuration in files of a directory. Raise Unreadable."""
    try:
        return conf_module.make_conf(files=files)
    except (cfg.Error, UnicodeError) as error:
        text = one_line(error)
        if any(not os.access(path, os.R_OK) for path in files):
            text += '. Run the command as a user who may read it, such as root'
        raise Unreadable(directory=directory, reason=text) from error


class Deployment:
    """The configuration of a deployment. directory: the directory with its files"""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    @functools.cached_property
    def conf(self) -> cfg.ConfigOpts:
        """Return the configuration of the control daemons. Raise Unreadable."""
        found = read(self.directory, self.files())
        if not found.api_database.connection:
            reason = (
                'it has no [api_database]connection. Name the directory that has control.conf, '
                'on a machine of the control daemons'
            )
            raise Unreadable(directory=self.directory, reason=reason)
        return found

    def files(self) -> list[str]:
        """Return the paths of the files, in the order of reading. Raise Unreadable."""
        if is_one(self.directory):
            paths = [os.path.join(self.directory, name) for name in FILES]
            return [path for path in paths if os.path.exists(path)]
        found = sorted(glob.glob(os.path.join(glob.escape(self.directory), '*.conf')))
        if not found:
            raise Unreadable(directory=self.directory, reason='it has no *.conf files')
        return found

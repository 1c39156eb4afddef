"""Clouds that `nova-lite list` finds: that of the default state directory, and named ones."""

import os

from nova_lite.lab.launcher import cloud_state
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import state_dir

DEFAULT = '(default)'


def find():
    """Return [{'name', 'state', 'compute_url', 'state_dir'}, ...], the default one first.

    compute_url: None unless the cloud runs
    """
    return [
        {
            'name': name,
            'state': cloud_state.state_of(directory),
            'compute_url': getattr(running.read(directory), 'compute_url', None),
            'state_dir': directory,
        }
        for name, directory in [(DEFAULT, os.path.abspath(state_dir.default())), *_named()]
        if os.path.exists(os.path.join(directory, layout.SECRETS))
    ]


def _named():
    """Yield (name, state directory) of each directory for a cloud with a name."""
    parent = os.path.abspath(state_dir.parent())
    names = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    for name in names:
        if state_dir.NAME.fullmatch(name):
            yield name, os.path.join(parent, name)

"""All clouds of this user: the default cloud, clouds with names, and others that were started.

`nova-lite up` records each state directory of another cloud in a file, beside the directory of the
clouds with names.
"""

import contextlib
import hashlib
import os
import re
import typing

from nova_lite.lab.launcher import cloud_state
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import state_dir

DEFAULT = '(default)'
PORT = re.compile(r'^port = (\d+)$', re.MULTILINE)


def find() -> list[dict[str, typing.Any]]:
    """Return a dict for each cloud: the default cloud, clouds with names, and other clouds.

    current: whether commands without an option use the cloud
    port: the port of its services, at the last start; compute_url: None unless the cloud runs
    """
    current = os.path.realpath(state_dir.default())
    default = os.path.abspath(state_dir.unnamed())
    places = {default: DEFAULT, **_named()}
    for directory in (os.path.abspath(state_dir.default()), *_recorded()):
        places.setdefault(directory, '')
    return [
        {
            'name': name,
            'current': os.path.realpath(directory) == current,
            'state': cloud_state.state_of(directory),
            'port': _port(directory),
            'compute_url': getattr(running.read(directory), 'compute_url', None),
            'state_dir': directory,
        }
        for directory, name in places.items()
        if os.path.exists(os.path.join(directory, layout.SECRETS))
    ]


def _named() -> dict[str, str]:
    """Return {state directory: name} of the clouds with names."""
    parent = os.path.abspath(state_dir.parent())
    names = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    return {os.path.join(parent, name): name for name in names if state_dir.NAME.fullmatch(name)}


def _port(directory: str) -> int | None:
    try:
        with open(os.path.join(directory, state_dir.CONTROL_CONF), encoding='utf-8') as file:
            found = PORT.search(file.read())
    except (OSError, UnicodeError):
        return None
    return int(found[1]) if found else None


def record(directory: str) -> None:
    """Record a state directory for `find`, and forget deleted directories."""
    _recorded()
    place = os.path.abspath(directory)
    if place == os.path.abspath(state_dir.unnamed()) or place in _named():
        return
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    # A cloud also starts for a user who cannot write to the directory.
    with contextlib.suppress(OSError):
        os.makedirs(_records(), mode=0o700, exist_ok=True)
        layout.write(os.path.join(_records(), name), place)


def _recorded() -> list[str]:
    """Return the recorded state directories, and forget deleted directories."""
    found = []
    with contextlib.suppress(OSError, UnicodeError):
        for name in os.listdir(_records()):
            path = os.path.join(_records(), name)
            with open(path, encoding='utf-8') as file:
                directory = file.read()
            if os.path.isdir(directory):
                found.append(directory)
            else:
                os.unlink(path)
    return sorted(found)


def _records() -> str:
    return f'{state_dir.parent()}.others'

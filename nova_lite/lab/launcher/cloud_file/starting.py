"""The start of a cloud that a file describes: before the cloud runs, and when it runs."""

import functools
import os
import typing

from nova_lite import runtime
from nova_lite.lab.console import durations
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import filling
from nova_lite.lab.launcher.cloud_file import identity
from nova_lite.lab.launcher.cloud_file import kept
from nova_lite.lab.launcher.cloud_file import settings

# {key of faults: (request to the control endpoint, its arguments)}
SWITCHES: dict[str, tuple[str, dict[str, typing.Any]]] = {
    'hosts_off': ('host', {'power': 'off'}),
    'databases_down': ('cell', {'state': 'down', 'parts': ['database']}),
    'buses_cut': ('bus', {'state': 'cut'}),
    'buses_frozen': ('bus', {'state': 'frozen'}),
}


def prepare(places: layout.Layout, described: settings.Described | None) -> None:
    """Write the files of a state directory that a start reads. places: held and prepared"""
    # The users are read again when the cloud runs. A damaged file of users is refused now.
    client_config.users(places.root)
    is_new = not os.path.exists(places.clouds_path)
    if described is None:
        kept.write(places.settings, None, done=True)
        return
    if described.profile is not None:
        layout.write(places.path(cloud_snapshots.PROFILE), described.profile)
    # The first start may have been killed after it created the objects.
    is_filled = not is_new or _is_filled(places)
    kept.write(places.settings, described.document, done=is_filled)
    ahead = described.document.value.get('clock', {}).get('ahead')
    if is_new and ahead:
        seconds = durations.seconds_of(ahead) if isinstance(ahead, str) else ahead
        clocks.set_to(places.root, runtime.timestamp() + seconds)


def _is_filled(places: layout.Layout) -> bool:
    recorded = kept.read(places.root)
    return recorded is not None and bool(recorded['done'])


def fill(places: layout.Layout, described: settings.Described) -> None:
    """Create the objects of a file in a new cloud that runs, unless it has them. Raise Wrong."""
    if _is_filled(places):
        return
    document = described.document
    users = identity.with_passwords(document.value.get('users', []))
    client_config.keep_users(places.root, users)
    user = filling.ADMIN
    credentials = client_config.credentials_of(places, user, user)
    filling.fill(document, functools.partial(apis.connect, credentials), users)
    kept.write(places.settings, document, done=True)


def apply(places: layout.Layout, described: settings.Described) -> None:
    """Inject the faults of a file into a cloud that runs, and change the rate of its clock."""
    value = described.document.value
    client = control_client.Client(places.root)
    clock = value.get('clock', {})
    if 'rate' in clock:
        client.post('clock', action='rate', rate=clock['rate'])
    if clock.get('frozen'):
        client.post('clock', action='freeze')
    faults = value.get('faults', {})
    for entry in faults.get('failures', ()):
        client.post('faults/add', **entry)
    for key, (request, arguments) in SWITCHES.items():
        for name in faults.get(key, ()):
            client.post(request, name=name, **arguments)

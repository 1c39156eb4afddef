"""The clouds.yaml of a cloud, for clients: its administrator, the user demo, and those of a file.

The passwords of the latter are in a file of the state directory; the cloud knows their hashes.
"""

import json
import os
import typing

import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir

Json: typing.TypeAlias = dict[str, typing.Any]
FILE, USERS = 'clouds.yaml', 'users.json'


def path(directory: str) -> str:
    """Return the path of the clouds.yaml of the cloud in a state directory."""
    return os.path.join(directory, FILE)


def write(places: layout.Layout) -> str:
    """Write clouds.yaml; return its path."""
    clouds = {
        client_connections.ADMIN: credentials_of(places, 'admin', 'admin'),
        client_connections.DEMO: credentials_of(places, 'demo', 'demo'),
    }
    for name, user in users(places.root).items():
        auth = credentials_of(places, name, user['project'], user['password'])
        clouds[f'{client_connections.ADMIN}-{name}'] = auth
    shown = {
        name: {'auth': auth, 'region_name': 'RegionOne', 'identity_api_version': '3'}
        for name, auth in clouds.items()
    }
    layout.write(path(places.root), yaml.safe_dump({'clouds': shown}))
    return path(places.root)


def credentials_of(
    places: layout.Layout, user: str, project: str, password: str | None = None
) -> Json:
    """Return the credentials of a user. password: None for that of a user of every cloud"""
    return {
        'auth_url': f'{places.public_url}/identity/v3',
        'username': user,
        'password': places.secrets[f'{user}_password'] if password is None else password,
        'project_name': project,
        'user_domain_id': 'default',
        'project_domain_id': 'default',
    }


def credentials(directory: str, cloud: str) -> Json:
    """Return the credentials in the clouds.yaml of a state directory. Raise NoCloud."""
    with open(state_dir.existing(directory, FILE), encoding='utf-8') as file:
        return typing.cast(Json, yaml.safe_load(file)['clouds'][cloud]['auth'])


def keep_users(directory: str, entries: list[Json]) -> None:
    """Keep the passwords of users. entries: of a file, each with a password"""
    kept = {
        entry['name']: {'password': entry['password'], 'project': next(iter(entry['projects']))}
        for entry in entries
    }
    layout.write(os.path.join(directory, USERS), json.dumps(kept))


def users(directory: str) -> dict[str, dict[str, str]]:
    """Return {name: {password, project}} of the users that are kept. Raise Spoiled."""
    place = os.path.join(directory, USERS)
    if not os.path.exists(place):
        return {}
    found = kept_files.values(directory, place, ())
    for name, user in found.items():
        if not (isinstance(user, dict) and {'password', 'project'} <= set(user)):
            raise kept_files.spoiled(directory, place, f'it has no password for {name}')
    return typing.cast(dict[str, dict[str, str]], found)


def passwords(directory: str) -> dict[str, str]:
    """Return {name: password} of the users that are kept."""
    return {name: user['password'] for name, user in users(directory).items()}

"""The cloud that the environment names for clients.

OS_AUTH_URL names it, or OS_ENDPOINT for clients without a Keystone, else OS_CLIENT_CONFIG_FILE and
OS_CLOUD.

This module imports no client, because each command compares that cloud with its own.
"""

from collections.abc import Mapping
import os
import typing
import urllib.parse

import yaml

from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import state_dir

FILE, CLOUD = state_dir.CLIENTS_FILE, 'OS_CLOUD'
# URLs of a cloud. Clients with OS_AUTH_TYPE none or admin_token read OS_ENDPOINT.
URLS = ('OS_AUTH_URL', 'OS_ENDPOINT')
VARIABLES = (FILE, CLOUD, *URLS)
# The directories in which clients look for clouds.yaml without OS_CLIENT_CONFIG_FILE.
PLACES = ('.', '~/.config/openstack', '/etc/openstack')
NAMES = ('clouds.yaml', 'clouds.yml')


class Named(typing.NamedTuple):
    """A cloud that variables name. text: the variables and their values, for messages"""

    text: str
    auth_urls: tuple[str, ...]


def are_set(environ: Mapping[str, str]) -> bool:
    """Return whether clients find a cloud in the environment."""
    return any(environ.get(name) for name in VARIABLES)


def named(environ: Mapping[str, str]) -> Named | None:
    """Return the cloud that variables name, None if they name none or it is not found."""
    for url in URLS:
        if environ.get(url):
            return Named(f'{url}={environ[url]}', (environ[url],))
    name, path = environ.get(CLOUD), environ.get(FILE)
    if path:
        text = f'{FILE}={path}' + (f' with {CLOUD}={name}' if name else '')
        return _named(text, auth_urls(path, name))
    if name:
        for place in PLACES:
            for file in NAMES:
                found = auth_urls(os.path.join(os.path.expanduser(place), file), name)
                if found:
                    return _named(f'{CLOUD}={name}', found)
    return None


def _named(text: str, found: tuple[str, ...]) -> Named | None:
    return Named(text, found) if found else None


def auth_urls(path: str, name: str | None = None) -> tuple[str, ...]:
    """Return the URLs of the identity services in a clouds.yaml. name: of one cloud, None for all

    Return () if the file cannot be read: the client that needs the file reports that.
    """
    try:
        with open(path, encoding='utf-8') as file:
            clouds = yaml.safe_load(file)['clouds']
        chosen = clouds.values() if name is None else [clouds[name]]
        return tuple(each['auth']['auth_url'] for each in chosen)
    except (OSError, UnicodeError, yaml.YAMLError, KeyError, TypeError, AttributeError):
        return ()


def is_same(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return whether two lists of URLs have one identity service in common."""
    return bool({_place(url) for url in ours} & {_place(url) for url in theirs})


def _place(url: str) -> tuple[str | None, int | None]:
    try:
        found = urllib.parse.urlsplit(url)
        host, port = found.hostname, found.port
    except ValueError:
        return (url, None)
    return ('localhost' if host in proxies.LOOPBACK else host, port)

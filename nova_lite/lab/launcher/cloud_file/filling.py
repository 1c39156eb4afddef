"""Creation of the objects of a file in a new cloud, by requests to its APIs."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute
from nova_lite.lab.launcher.cloud_file import defaults
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import hosts
from nova_lite.lab.launcher.cloud_file import identity
from nova_lite.lab.launcher.cloud_file import images
from nova_lite.lab.launcher.cloud_file import networks
from nova_lite.lab.launcher.cloud_file import servers
from nova_lite.lab.launcher.cloud_file import volumes

ADMIN = 'admin'
Connect: typing.TypeAlias = Callable[[str | None], apis.Api]
Create: typing.TypeAlias = Callable[[apis.Api, documents.Json], None]


def fill(document: documents.Document, connect: Connect, users: list[documents.Json]) -> None:
    """Create all objects. users: entries with passwords. Raise Wrong with the line of an object.

    connect: returns the Api of the administrator, in the project whose name it gets
    """
    api = connect(None)
    if not document.value.get('defaults', True):
        with _at(document, ('defaults',)):
            _delete_defaults(api)
    known = hosts.names(document.value)

    def aggregate(api: apis.Api, entry: documents.Json) -> None:
        compute.create_aggregate(api, entry, known, None)

    def zone(api: apis.Api, entry: documents.Json) -> None:
        compute.create_aggregate(api, entry, known, entry['name'])

    creating: dict[str, Create] = {
        'projects': identity.create_project,
        'users': identity.create_user,
        'flavors': compute.create_flavor,
        'images': images.create,
        'networks': networks.create,
        'volume_types': volumes.create_type,
        'aggregates': aggregate,
        'zones': zone,
    }
    for section, create in creating.items():
        entries = users if section == 'users' else document.value.get(section, [])
        for index, entry in enumerate(entries):
            with _at(document, (section, index)):
                create(api, entry)
    _boot(document, api, connect)
    changing: dict[str, Callable[[apis.Api, documents.Json, list[str]], None]] = {
        'disabled_hosts': compute.disable_hosts,
        'down_hosts': compute.force_hosts_down,
    }
    for section, change in changing.items():
        for index, entry in enumerate(document.value.get(section, [])):
            with _at(document, (section, index)):
                change(api, entry, known)


@contextlib.contextmanager
def _at(document: documents.Document, place: documents.Place) -> Iterator[None]:
    """Add the line of an object to an error about it."""
    try:
        yield
    except (apis.Refused, servers.Failed) as error:
        raise document.wrong(place, str(error)) from error


def _delete_defaults(api: apis.Api) -> None:
    for name in sorted(defaults.NAMES['flavors']):
        compute.delete_flavor(api, name)
    for name in sorted(defaults.NAMES['images']):
        images.delete(api, name)
    networks.delete_defaults(api)


def _boot(document: documents.Document, api: apis.Api, connect: Connect) -> None:
    """Start the servers and wait for their statuses."""
    entries = document.value.get('servers', [])
    # Builds use the token of their request, which becomes invalid when the role is removed.
    groups = document.value.get('server_groups', [])
    with _granted(api, {_project(entry) for entry in (*groups, *entries)}):
        made: dict[int, list[str]] = {}
        create = _creation(document, connect)
        for indexes in _turns(entries):
            for index in indexes:
                made[index] = create(index)
            for index in indexes:
                with _at(document, ('servers', index)):
                    servers.wait(api, dict.fromkeys(made[index], servers.ACTIVE))
        for index in [index for index in made if _is_unpinned(entries[index])]:
            with _at(document, ('servers', index)):
                servers.unpin(api, made[index])
        off = [index for index in made if entries[index].get('status') == servers.SHUTOFF]
        for index in off:
            with _at(document, ('servers', index)):
                servers.stop(api, made[index])


def _is_unpinned(entry: documents.Json) -> bool:
    """Return whether a server may leave the zone of its host."""
    return bool(entry.get('forced')) and 'zone' not in entry


def _turns(entries: list[documents.Json]) -> list[list[int]]:
    """Return the indexes of the entries of servers, a list for each turn."""
    found: dict[int, list[int]] = {}
    for index, entry in enumerate(entries):
        found.setdefault(entry.get('turn', 0), []).append(index)
    return [found[turn] for turn in sorted(found)]


def _creation(document: documents.Document, connect: Connect) -> Callable[[int], list[str]]:
    """Create the server groups. Return a function that creates the servers of an entry.

    The function gets the index of the entry, and returns the ids of the servers.
    """
    within = functools.cache(connect)
    groups = {}
    for index, entry in enumerate(document.value.get('server_groups', [])):
        with _at(document, ('server_groups', index)):
            groups[entry['name']] = servers.create_group(within(_project(entry)), entry)

    def create(index: int) -> list[str]:
        entry = document.value['servers'][index]
        with _at(document, ('servers', index)):
            return servers.create(within(_project(entry)), entry, groups)

    return create


def _project(entry: documents.Json) -> str:
    return str(entry.get('project', 'demo'))


@contextlib.contextmanager
def _granted(api: apis.Api, projects: set[str]) -> Iterator[None]:
    """Give the administrator a role in projects during the block."""
    user_id = api.id_of('identity', '/v3/users', 'users', ADMIN)
    given = sorted(projects - {ADMIN})
    for project in given:
        identity.grant(api, project, user_id, ADMIN)
    # A cloud whose first start fails is not used.
    yield
    for project in given:
        identity.grant(api, project, user_id, ADMIN, method='DELETE')

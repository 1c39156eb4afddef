"""The shape of a cloud: settings that its next start must keep, in a file of its state directory.

With fewer cells or hosts, servers would have no host. With databases in another place, the cloud
would be empty, while its guests and placement would not.
"""

from collections.abc import Mapping
import json
import os
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir

FILE = 'shape.json'
COUNTED = ('cells', 'hosts')
FILES = 'files of the state directory'


class OtherShape(exception.Conflict):
    msg = (
        'The cloud in %(directory)s has %(found)s (%(file)s), not %(given)s. %(instead)s, choose '
        'another --state-dir or --name, or delete the cloud and start an empty one with `%(fresh)s`.'
    )


def recorded(directory: str) -> dict[str, typing.Any]:
    """Return the shape of the cloud in a state directory, {} without a cloud. Raise Spoiled."""
    path = _path(directory)
    if not os.path.exists(path):
        return {}
    found = kept_files.values(directory, path, ('databases',))
    if isinstance(found.get('hosts'), list):
        found['hosts'] = tuple(found['hosts'])
    for name in COUNTED:
        if not _is_count(found.get(name)):
            raise kept_files.spoiled(directory, path, f'it has no number of {name}')
    return found


def completed(
    directory: str,
    chosen: dict[str, typing.Any],
    database: str | None,
    begun: Mapping[str, typing.Any] | None = None,
) -> dict[str, typing.Any]:
    """Return chosen settings, completed with the shape of an existing cloud.

    chosen: values of layout.Settings, without the database
    begun: values of layout.Settings of a cloud that is about to replace the recorded one
    Raise OtherShape, Spoiled.
    """
    found = recorded(directory) if begun is None else _of(begun)
    if not found:
        return chosen
    cells, hosts = (chosen.get(name, found[name]) for name in COUNTED)
    if cells < found['cells']:
        raise _other(directory, f'cells={found["cells"]}', str(cells), 'Omit --cells')
    before = host_names.counts(found['hosts'], found['cells'])
    now = host_names.counts(hosts, cells)
    if any(one < other for one, other in zip(now, before, strict=False)):
        raise _other(directory, f'hosts={_text(found["hosts"])}', _text(hosts), 'Omit --hosts')
    databases = _databases(database)
    if databases != found['databases']:
        before = found['databases']
        instead = 'Omit --db' if before == FILES else f'Use --db or --db-file with {before}'
        raise _other(directory, f'its databases in {found["databases"]}', databases, instead)
    return {**{name: found[name] for name in COUNTED}, **chosen}


def _is_count(value: typing.Any) -> bool:
    counts = value if isinstance(value, tuple) else (value,)
    return all(isinstance(each, int) and each >= 1 for each in counts)


def _text(hosts: typing.Any) -> str:
    return ','.join(map(str, hosts)) if isinstance(hosts, tuple) else str(hosts)


def _other(directory: str, found: str, given: str, instead: str) -> OtherShape:
    return OtherShape(
        directory=directory,
        found=found,
        given=given,
        file=_path(directory),
        instead=instead,
        fresh=state_dir.command('up', directory) + ' --fresh',
    )


def write(places: layout.Layout) -> None:
    """Record the shape of a cloud at its start."""
    record(places.root, vars(places.settings))


def record(directory: str, settings: Mapping[str, typing.Any]) -> str:
    """Record the shape of a cloud with values of layout.Settings. Return the path of the file."""
    layout.write(_path(directory), json.dumps(_of(settings)) + '\n')
    return _path(directory)


def require_files(directory: str) -> None:
    """Raise Spoiled if a file that the next start would create again is missing or empty.

    The new file would not belong to the others: an API database without servers, for example, lets
    the hosts destroy their guests. A cloud whose first start has not ended is not checked.
    """
    if not os.path.exists(os.path.join(directory, 'clouds.yaml')):
        return
    found = recorded(directory)
    if not found:
        raise kept_files.spoiled(directory, _path(directory), 'it is missing')
    before = layout.Settings(state_dir=directory, cells=found['cells'], hosts=found['hosts'])
    places = layout.Layout(before)
    paths = [os.path.join(directory, layout.SECRETS)]
    if found['databases'] == FILES:
        names = (layout.API, layout.CELL0, layout.PLACEMENT, *places.cell_names)
        paths += [os.path.join(directory, 'db', f'{name}.sqlite') for name in names]
    paths.append(os.path.join(directory, 'db', f'{layout.SIMCLOUD}.sqlite'))
    paths += map(places.guests_path, places.cell_names)
    for path in paths:
        if not os.path.exists(path):
            raise kept_files.spoiled(directory, path, 'it is missing')
        if os.path.isfile(path) and not os.path.getsize(path):
            raise kept_files.spoiled(directory, path, 'it is empty')


def _of(settings: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    shape = {'databases': _databases(settings.get('database'))}
    return {**shape, **{name: settings[name] for name in COUNTED}}


def _databases(url: str | None) -> str:
    """Return a text about the place of the databases, without the password."""
    if url is None:
        return FILES
    found = sa.make_url(url)
    return f'{found.get_backend_name()}://{found.host}:{found.port or "default port"}'


def _path(directory: str) -> str:
    return os.path.join(directory, FILE)
